import { defineConfig } from "astro/config";

export default defineConfig({
  // Vite 7 and older: its optimizer would separate the widget from its worker and model. Not needed with Vite 8.
  vite: { optimizeDeps: { exclude: ["@evidence-chat/widget"] } },
});
