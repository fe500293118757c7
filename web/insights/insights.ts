import { button, element } from "../src/dom/element.js";
import { type Assistant, type CallDatabase, readInsights, type Scope } from "./data.js";
import { onOneLine, shorten } from "./others-text.js";
import { announce, notice, reasonOf } from "./page.js";
import { readFeedback, showFeedback } from "./feedback.js";
import { showCharts, showTotals } from "./figures.js";
import { showCitedDocuments, showHealth, showUncitedDocuments } from "./documents.js";
import { showGaps } from "./gaps.js";

const WINDOWS = [7, 30, 90];
/** The longest title of an assistant in the list. */
const MAX_OPTION_CHARACTERS = 60;

/** Shows one part of the page, and returns what releases it. */
export type Part<Data> = (place: HTMLElement, data: Data, scope: Scope) => (() => void) | void;

/** Shows the insights in `content` until the returned function is called. */
export function showInsights(content: HTMLElement, call: CallDatabase, assistants: readonly Assistant[]): () => void {
  let scope: Scope = { days: 30, assistant: null };
  const sections = element("div", { class: "sections" });
  /** Stops what the present scope shows, including answers that are still on their way. */
  let stop = () => {};

  const read = () => {
    stop();
    stop = showSections(sections, call, scope);
  };
  const choose = (change: Partial<Scope>) => {
    scope = { ...scope, ...change };
    read();
  };

  const days = element(
    "fieldset",
    { class: "windows" },
    element("legend", {}, "Period"),
    ...WINDOWS.map((window) => {
      const radio = element("input", { type: "radio", name: "days", value: window, id: `days-${window}` });
      radio.checked = window === scope.days;
      radio.addEventListener("change", () => choose({ days: window }));
      return element("span", {}, radio, element("label", { for: `days-${window}` }, `${window} days`));
    }),
  );
  const picker = element("select", { id: "assistant" }, element("option", { value: "" }, "All assistants"));
  for (const { name, title, enabled } of assistants) {
    const label = `${shorten(onOneLine(title ?? name), MAX_OPTION_CHARACTERS)}${enabled ? "" : " (disabled)"}`;
    picker.append(element("option", { value: name }, label));
  }
  picker.addEventListener("change", () => choose({ assistant: picker.value || null }));

  content.replaceChildren(
    element(
      "div",
      { class: "head" },
      element("h1", {}, "Insights"),
      element(
        "form",
        { class: "scope", "aria-label": "What is shown" },
        days,
        element("div", { class: "field" }, element("label", { for: "assistant" }, "Assistant"), picker),
      ),
    ),
    sections,
  );
  read();
  return () => stop();
}

function showSections(place: HTMLElement, call: CallDatabase, scope: Scope): () => void {
  const read =
    <Name extends Parameters<typeof readInsights>[1]>(name: Name) =>
    () =>
      readInsights<Name>(call, name, scope);
  const shown = [
    section("Overview", read("chat_insights"), showTotals, scope),
    section("Over time", read("chat_insights_days"), showCharts, scope),
    section("Feedback", () => readFeedback(call, scope), showFeedback, scope),
    section("Questions without a good answer", read("chat_insights_gaps"), showGaps, scope),
    section("Documents that are cited most", read("chat_insights_documents"), showCitedDocuments, scope),
    section("Documents that are not cited", read("chat_insights_uncited"), showUncitedDocuments, scope),
    section("Health of citations", read("chat_insights_health"), showHealth, scope),
  ];
  place.replaceChildren(...shown.map(({ node }) => node));
  place.ariaBusy = "true";
  void Promise.all(shown.map(({ done }) => done)).then((results) => {
    if (results.includes("stopped")) return;
    place.ariaBusy = null;
    const failed = results.filter((result) => result === "failed").length;
    announce(failed > 0 ? `${failed} parts could not be read.` : `Insights of the last ${scope.days} days.`);
  });
  return () => shown.forEach(({ stop }) => stop());
}

/** A part that reads its figures itself: the others stay usable if it fails. */
function section<Data>(title: string, read: () => Promise<Data>, show: Part<Data>, scope: Scope) {
  const place = element("div", { class: "part" });
  const node = element("section", {}, element("h2", {}, title), place);
  let isStopped = false;
  let release: (() => void) | void;

  const load = async (): Promise<"shown" | "failed" | "stopped"> => {
    node.dataset.state = "loading";
    place.replaceChildren(notice("Loading…"));
    try {
      const data = await read();
      if (isStopped) return "stopped";
      place.replaceChildren();
      node.dataset.state = "shown";
      release = show(place, data, scope);
      return "shown";
    } catch (error) {
      if (isStopped) return "stopped";
      node.dataset.state = "failed";
      const again = button({}, () => void load().then(() => node.querySelector("h2")?.focus()), "Try again");
      again.setAttribute("aria-label", `Try again: ${title}`);
      place.replaceChildren(
        element("p", { class: "notice error" }, `This could not be read: ${reasonOf(error)} `, again),
      );
      return "failed";
    }
  };
  const stop = () => {
    isStopped = true;
    release?.();
  };
  node.querySelector("h2")?.setAttribute("tabindex", "-1");
  return { node, done: load(), stop };
}
