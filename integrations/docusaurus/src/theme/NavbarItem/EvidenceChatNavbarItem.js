import { useColorMode } from "@docusaurus/theme-common";
import useDocusaurusContext from "@docusaurus/useDocusaurusContext";
import { usePluginData } from "@docusaurus/useGlobalData";
import setup from "@evidence-chat-setup";
import { createElement, useEffect, useState } from "react";

/** The page's only chat: the item is rendered twice, in the bar and in the menu of small screens. */
let chat;

/** Makes the chat. It is outside of React's tree, so that it stays open while the visitor goes to another page. */
function makeChat(attributes) {
  if (chat) return chat;
  chat = document.createElement("evidence-chat");
  chat.className = "evidence-chat-docusaurus";
  for (const [name, value] of Object.entries({ ...attributes, mode: "floating" })) chat.setAttribute(name, value);
  setup(chat);
  document.body.append(chat);
  void import("@evidence-chat/widget/define");
  return chat;
}

export default function EvidenceChatNavbarItem({ mobile = false, className = "" }) {
  const { label, shortcut, attributes } = usePluginData("evidence-chat");
  const { colorMode } = useColorMode();
  const { i18n } = useDocusaurusContext();
  const [keys, setKeys] = useState();

  useEffect(() => {
    const { documentElement } = document;
    const element = makeChat(attributes);
    element.setAttribute("theme", documentElement.dataset.theme === "dark" ? "dark" : "light");
    element.setAttribute("lang", i18n.currentLocale);
  }, [attributes, colorMode, i18n.currentLocale]);
  useEffect(() => {
    const [modifier, key] = shortcut ? shortcut.split("+") : [];
    if (modifier === "mod" && key) setKeys(`${/Mac|iP/.test(navigator.platform) ? "⌘" : "Ctrl "}${key.toUpperCase()}`);
  }, [shortcut]);

  const button = createElement(
    "button",
    {
      type: "button",
      className: `clean-btn evidence-chat-open ${mobile ? "menu__link" : "navbar__item navbar__link"} ${className}`,
      onClick: () => void customElements.whenDefined("evidence-chat").then(() => chat?.open()),
    },
    label,
    keys && !mobile ? createElement("kbd", null, keys) : null,
  );
  return mobile ? createElement("li", { className: "menu__list-item" }, button) : button;
}
