/** A plugin of Vite for `vite.plugins` in the configuration of VitePress: it makes Vite load the widget's files as they are. */
export function evidenceChat(): {
  name: string;
  config(): { optimizeDeps: { exclude: string[] }; ssr: { noExternal: string[] } };
};
