// The default theme, and the widget if the site has a chat server.
import { useData, withBase } from "vitepress";
import DefaultTheme from "vitepress/theme-without-fonts";
import { onMounted, watchEffect } from "vue";
import "./style.css";

/** Ctrl+K opens the search. */
const DEFAULTS = { mode: "floating", heading: "Ask these docs", shortcut: "mod+i" };

/** @type {import("vitepress").Theme} */
export default {
  extends: DefaultTheme,
  setup() {
    const { isDark } = useData();
    onMounted(async () => {
      const response = await fetch(withBase("/chat.json"));
      const { script, ...attributes } = await response.json();
      if (!script) return;
      // Outside of the pages, so that it stays open while the visitor goes to another one.
      const chat = document.createElement("evidence-chat");
      for (const [name, value] of Object.entries({ ...DEFAULTS, ...attributes })) chat.setAttribute(name, value);
      watchEffect(() => chat.setAttribute("theme", isDark.value ? "dark" : "light"));
      document.body.append(chat);
      await import(/* @vite-ignore */ script);
    });
  },
};
