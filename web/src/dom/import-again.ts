/** What Firefox says when a module could not be loaded. */
const FAILED = /dynamically imported module: (\S+)$/;
let attempts = 0;

/**
 * Imports a module. Firefox remembers that a module could not be loaded until the page is left, so a second `import` of the same URL
 * fails without a request; another fragment makes it load again. Not on pages with an import map: it may name the module's hash,
 * which does not count for the URL with the fragment.
 */
export async function importAgain<Module>(load: () => Promise<Module>): Promise<Module> {
  try {
    return await load();
  } catch (error) {
    const url = error instanceof TypeError && FAILED.exec(error.message)?.[1];
    if (!url || document.querySelector("script[type=importmap]")) throw error;
    return (await import(/* @vite-ignore */ /* webpackIgnore: true */ `${url}#${++attempts}`)) as Module;
  }
}
