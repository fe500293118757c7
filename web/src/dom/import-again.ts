/**
 * Imports a module. Firefox remembers that a module could not be loaded until the page is left, so a second `import` of the same URL
 * fails without a request; another fragment makes it load again. The error's message ends with the URL. Not on pages with an import
 * map: it may name the module's hash, which does not count for the URL with the fragment.
 */
export function importAgain<Module>(load: () => Promise<Module>): Promise<Module> {
  return load().catch((error: unknown) => {
    const url = /module: (\S+)$/.exec(String(error))?.[1];
    if (!url || document.querySelector("[type=importmap]")) throw error;
    return import(/* @vite-ignore */ /* webpackIgnore: true */ `${url}#${Date.now()}`) as Promise<Module>;
  });
}
