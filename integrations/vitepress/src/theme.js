import { useData } from "vitepress";
import { defineComponent, h, onMounted, ref, watchEffect } from "vue";
import { attributesOf, keysOf } from "./options.js";

/** The page's only chat: the button is rendered twice, in the bar and in the menu of small screens. */
let chat;

/** @type {typeof import("./theme.js").withEvidenceChat} */
export function withEvidenceChat(theme, options) {
  const Button = openButton(options);
  const Layout = theme.Layout ?? theme.extends?.Layout;
  if (!Layout) throw new TypeError("@evidence-chat/vitepress: the theme has no Layout");
  return {
    ...theme,
    Layout: defineComponent({
      name: "EvidenceChatLayout",
      setup:
        (_, { slots }) =>
        () =>
          h(Layout, null, {
            ...slots,
            "nav-bar-content-after": () => [slots["nav-bar-content-after"]?.(), h(Button)],
            "nav-screen-content-after": () => [slots["nav-screen-content-after"]?.(), h(Button)],
          }),
    }),
  };
}

function openButton({ label = "Ask", setup, ...options }) {
  return defineComponent({
    name: "EvidenceChatButton",
    setup() {
      const { isDark, lang } = useData();
      const keys = ref("");
      onMounted(() => {
        keys.value = keysOf(options.shortcut, navigator.platform);
        chat ??= makeChat(attributesOf(options), setup);
        watchEffect(() => {
          chat.setAttribute("theme", isDark.value ? "dark" : "light");
          chat.setAttribute("lang", lang.value);
        });
      });
      const open = () => void customElements.whenDefined("evidence-chat").then(() => chat?.open());
      // The class is that of the theme's own entries of the bar.
      return () =>
        h("button", { type: "button", class: "evidence-chat-open VPNavBarMenuLink", style: BUTTON, onClick: open }, [
          label,
          keys.value && h("kbd", { style: KEYS }, keys.value),
        ]);
    },
  });
}

const BUTTON =
  "padding: 0 12px; line-height: var(--vp-nav-height, 64px); font-size: 14px; font-weight: 500; white-space: nowrap";
const KEYS = "margin-inline-start: 6px; font: 500 12px var(--vp-font-family-base); color: var(--vp-c-text-2)";

/** Makes the chat. It is outside of the pages, so that it stays open while the visitor goes to another one. */
function makeChat(attributes, setup) {
  const made = document.createElement("evidence-chat");
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.style.setProperty("--evidence-chat-accent", "var(--vp-c-brand-3)");
  made.style.setProperty("--evidence-chat-font", "var(--vp-font-family-base)");
  setup?.(made);
  document.body.append(made);
  void import("@evidence-chat/widget/define");
  return made;
}
