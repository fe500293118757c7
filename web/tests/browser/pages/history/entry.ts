// A page with only the history. Tests reach it through `window`.
import type { Session } from "../../../../src/client/wire.js";
import { element } from "../../../../src/dom/element.js";
import { adoptStyles } from "../../../../src/dom/styles.js";
import { Translator } from "../../../../src/dom/translator.js";
import { HistoryView } from "../../../../src/panel/history/history-view.js";
import { LAUNCHER_TEXTS, languageOf, loadPanelTexts } from "../../../../src/texts/index.js";
import controlsCss from "../../../../src/element/controls.css";
import frameCss from "../../../../src/element/frame.css";
import historyCss from "../../../../src/panel/history/history.css";
import panelCss from "../../../../src/panel/panel.css";

const calls: unknown[] = [];
const state = { token: "ann", current: "" };

const translator = new Translator();
const history = new HistoryView({
  translator,
  client: () => ({ endpoint: "/api/chat", tokenProvider: () => Promise.resolve(state.token), idleTimeoutMs: 600_000 }),
  isNew: () => false,
  current: () => state.current,
  open: ({ id }: Session) => calls.push(["open", id]),
  deleted: (id) => calls.push(["deleted", id]),
  deletingAll: () => calls.push(["deletingAll"]),
  deletedAll: () => calls.push(["deletedAll"]),
  back: () => calls.push(["back"]),
});

const root = element("div", { class: "root" }, element("section", { class: "panel" }, history.root));
const host = document.body.appendChild(document.createElement("main"));
const shadow = host.attachShadow({ mode: "open" });
for (const css of [frameCss, controlsCss, panelCss, historyCss]) adoptStyles(shadow, css);
shadow.append(root);

async function speak(tag: string): Promise<void> {
  const language = languageOf(tag);
  translator.use(tag, { ...LAUNCHER_TEXTS[language], ...(await loadPanelTexts(language)) });
  root.dir = translator.direction;
}

await speak("en");
Object.assign(window, { calls, state, view: history, speak, root, isReady: true });
