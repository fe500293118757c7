export default defineNuxtConfig({
  compatibilityDate: "2026-11-01",
  telemetry: false,
  // Vite 7 and older: its optimizer would separate the widget from its worker and model. Not needed with Vite 8.
  vite: { optimizeDeps: { exclude: ["@evidence-chat/widget"] } },
});
