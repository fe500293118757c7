/** A plugin of Vite: it makes Vite load the widget's files as they are. */
export function evidenceChat() {
  return {
    name: "evidence-chat",
    config: () => ({
      // The optimizer of Vite 7 and older would separate the widget from its worker and model.
      optimizeDeps: { exclude: ["@evidence-chat/vitepress", "@evidence-chat/widget"] },
      // The theme imports `vitepress`, which only Vite resolves.
      ssr: { noExternal: ["@evidence-chat/vitepress"] },
    }),
  };
}
