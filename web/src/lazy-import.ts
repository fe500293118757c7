/**
 * Gives a function that imports a module, and tries once more if that fails. Firefox remembers that a module could not be loaded until
 * the page is left: a second `import` of its URL fails without a request, so the module is imported under another fragment, also later,
 * because each URL has a module of its own. The error's message has the URL; not in WebKit, which does not remember. Pages with an
 * import map import the same URL again: the map may name the module's hash, which does not count for the URL with the fragment.
 */
export function lazyImport<Module>(load: () => Promise<Module>): () => Promise<Module> {
  return () =>
    load().catch((error: unknown) => {
      const url = /module: ([^\s#]+)/.exec(String(error))?.[1];
      if (url && !document.querySelector("[type=importmap]")) {
        const fragment = Date.now();
        // A template, because the bundle is without these comments, and webpack warns about the import of a variable.
        load = () => import(/* @vite-ignore */ /* webpackIgnore: true */ `${url}#${fragment}`) as Promise<Module>;
      }
      return load();
    });
}
