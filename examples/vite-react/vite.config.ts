import { defineConfig } from "vite";

export default defineConfig({
  // Vite 7 and older: its optimizer would separate the widget from its worker and model. Not needed with Vite 8.
  optimizeDeps: { exclude: ["@evidence-chat/widget"] },
});
