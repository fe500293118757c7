/** What `render.mjs` measures in the page. */
import type { Citation } from "../../web/src/client/wire.js";
import { adoptStyles } from "../../web/src/dom/styles.js";
import { Translator } from "../../web/src/dom/translator.js";
import controls from "../../web/src/element/controls.css";
import frame from "../../web/src/element/frame.css";
import { AnswerView, citationStyles } from "../../web/src/panel/citations/answer-view.js";
import { launcher, panel } from "../../web/src/texts/en.js";

const translator = new Translator();
translator.use("en", { ...launcher, ...panel });

const actions = { opened: () => undefined, download: () => Promise.resolve(), exportReferences: () => undefined };

const shadow = document.createElement("div").attachShadow({ mode: "open" });
adoptStyles(shadow, frame);
adoptStyles(shadow, controls);
adoptStyles(shadow, citationStyles);
document.body.append(shadow.host);

/** Renders an answer with `count` markers and citations, each of a different document, and returns the milliseconds. */
export function renderCitations(count: number): number {
  const citations = Array.from({ length: count }, (_, index) => citation(index + 1));
  const text = citations.map(({ index }) => `This is what document ${index} says about it. [${index}]`).join(" ");
  const root = document.createElement("div");
  root.className = "root";
  shadow.replaceChildren(root);
  const start = performance.now();
  const view = new AnswerView(translator, actions);
  root.append(view.root);
  view.append(text);
  view.showSources(citations);
  root.getBoundingClientRect();
  const milliseconds = performance.now() - start;
  const drawn = view.root.querySelectorAll("[data-role=marker]:not(:disabled)").length;
  if (drawn !== count) throw new Error(`${drawn} of ${count} markers were drawn`);
  return milliseconds;
}

function citation(index: number): Citation {
  const quote = `This is what document ${index} says about it.`;
  const excerpt = `Document ${index}\n\nSome words before. ${quote} And more words after it, in a passage of usual length.\n\n${"Another sentence of the passage. ".repeat(12)}`;
  const start = excerpt.indexOf(quote);
  const [heading, second] = [excerpt.indexOf("\n\n"), excerpt.lastIndexOf("\n\n")];
  return {
    index,
    chunk_id: `chunk-${index}`,
    document_id: `document-${index}`,
    title: `Document ${index}`,
    section: "Section",
    page: index,
    score: 0.7,
    strength: "strong",
    excerpt,
    blocks: {
      blocks: [
        { kind: "heading", start: 0, end: heading },
        { kind: "paragraph", start: heading + 2, end: second },
        { kind: "paragraph", start: second + 2, end: excerpt.length },
      ],
    },
    quotes: [{ start, end: start + quote.length, text: quote, pieces: [{ text: quote }] }],
  };
}
