import vue from "@vitejs/plugin-vue";
import { defineConfig } from "vite";

/** Otherwise Vue looks for a component with that name. */
const isCustomElement = (tag: string) => tag === "evidence-chat";

export default defineConfig({
  plugins: [vue({ template: { compilerOptions: { isCustomElement } } })],
});
