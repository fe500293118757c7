// The page of the tests of citations: a panel's skeleton with answers.
import { adoptStyles } from "../../../../src/dom/styles.ts";
import { element } from "../../../../src/dom/element.ts";
import { Translator } from "../../../../src/dom/translator.ts";
import controlStyles from "../../../../src/element/controls.css";
import frameStyles from "../../../../src/element/frame.css";
import { AnswerView, citationStyles } from "../../../../src/panel/citations/answer-view.ts";
import panelStyles from "../../../../src/panel/panel.css";
import { launcher, panel as panelTexts } from "../../../../src/texts/en.ts";

const shadow = document.getElementById("host").attachShadow({ mode: "open" });
for (const styles of [frameStyles, controlStyles, panelStyles, citationStyles]) adoptStyles(shadow, styles);
const log = element("div", { class: "log", role: "log", tabindex: 0, "data-role": "log" });
const panel = element("section", { class: "panel", part: "panel" }, element("div", { class: "body" }, log));
const root = element("div", { class: "root" }, panel);
shadow.append(root);

const translator = new Translator();
const useEnglish = () => translator.use("en", { ...launcher, ...panelTexts });
useEnglish();

const answers = [];

globalThis.widget = {
  shadow,
  root,
  translator,
  useEnglish,
  answers,
  opened: [],
  downloads: [],
  /** Adds an empty answer. */
  add() {
    const actions = {
      opened: (citation) => this.opened.push(citation.chunk_id),
      download: (citation) => new Promise((resolve, reject) => this.downloads.push({ citation, resolve, reject })),
      exportReferences: (citations) => element("p", { "data-role": "references" }, `${citations.length} references`),
    };
    const answer = new AnswerView(translator, actions);
    answers.push(answer);
    log.append(element("article", { class: "message reply", "data-state": "streaming" }, answer.root));
    return answer;
  },
  /** Adds a finished answer. */
  answer(text, citations, mode = "extractive") {
    const answer = this.add();
    if (mode === "generated") answer.markGenerated();
    answer.append(text);
    answer.showSources(citations);
    answer.root.parentElement.dataset.state = "done";
  },
  clear() {
    answers.length = 0;
    this.opened.length = 0;
    this.downloads.length = 0;
    log.replaceChildren();
  },
};
// Says that the page can be used: the policy forbids a condition that is evaluated as text.
document.documentElement.dataset.ready = "";
