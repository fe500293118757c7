/** The part of the panel that loads when the visitor types a question. */
import { ChatError } from "../../client/errors.js";
import type { ChatClientOptions } from "../../client/request.js";
import { search } from "../../client/search.js";
import type { Citation, SearchResult } from "../../client/wire.js";
import { element, set } from "../../dom/element.js";
import { isComposing } from "../../element/composer.js";
import type { Announcer } from "../chat/announcer.js";
import type { PanelHost } from "../host.js";
import type { QuestionEmbedder } from "../model/model-loader.js";
import { type PassageTools, ResultList } from "./result-list.js";
import css from "./search.css";

/** Style sheet of the results, for the panel to adopt. */
export const styles: string = css;

/** Debounce before the number of results is announced, so that a screen reader is not interrupted by each key. */
const ANNOUNCE_AFTER_MS = 900;
/** Pause of searches after the server failed, unless it says how long. */
const REST_AFTER_FAILURE_MS = 5000;
/** Results that are shown: as many as a floating panel has room for. */
const MAX_RESULTS = 4;
/** Queries whose results are kept, so that deleting letters costs no request. */
const MAX_KEPT = 30;

/** Dependencies of instant results. */
export interface InstantResultsOptions {
  readonly host: PanelHost;
  readonly announcer: Announcer;
  readonly tools: PassageTools;
  readonly client: () => ChatClientOptions;
  /** The model, once it is loaded. */
  readonly embedder: () => QuestionEmbedder | undefined;
}

/**
 * Shows the passages that fit a question best while it is typed. Each key starts a pause; after it, the text is embedded and searched,
 * and what was under way before is cancelled. Nothing here delays a question: sending one cancels all of it.
 */
export class InstantResults {
  readonly #options: InstantResultsOptions;
  readonly #list: ResultList;
  readonly #input: HTMLElement | null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #announcement: ReturnType<typeof setTimeout> | undefined;
  #running: AbortController | undefined;
  /** The query whose results are shown, are being searched, or were closed by the visitor. */
  #query: string | undefined;
  #results: readonly SearchResult[] = [];
  readonly #kept = new Map<string, readonly SearchResult[]>();
  #embeddingMs = 0;
  #isComposing = false;
  /** Time until which nothing is searched, as of `performance.now()`. */
  #restsUntil = 0;

  constructor(options: InstantResultsOptions) {
    this.#options = options;
    const { composer } = options.host.frame;
    this.#list = new ResultList(
      options.host.translator,
      options.tools,
      (at) => this.#open(at),
      () => this.#closePassage(),
    );
    composer.root.before(this.#list.root);
    this.#input = composer.root.querySelector("textarea");
    // Before the question box, which sends with Enter.
    composer.root.addEventListener("keydown", (event) => this.#onKey(event), { capture: true });
    composer.root.addEventListener("compositionstart", () => (this.#isComposing = true));
    composer.root.addEventListener("compositionend", () => {
      this.#isComposing = false;
      this.check(composer.value);
    });
    this.#list.root.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || event.defaultPrevented) return;
      event.preventDefault();
      this.#closePassage();
    });
    for (const root of [composer.root, this.#list.root]) {
      root.addEventListener("focusout", ({ relatedTarget }) => {
        const isInside =
          relatedTarget instanceof Node && [composer.root, this.#list.root].some((at) => at.contains(relatedTarget));
        if (!isInside) this.#stop();
      });
    }
  }

  /** The text of the question box has changed. */
  check(text: string): void {
    const query = queryOf(text);
    if (text === "") this.#kept.clear();
    if (query === undefined || !this.#isFocused) return this.#stop();
    if (query === this.#query || this.#isComposing) return;
    this.#cancel();
    this.#query = query;
    const kept = this.#kept.get(query);
    if (kept) return this.#show(kept, query);
    this.#timer = setTimeout(() => void this.#search(query), pauseAfter(this.#embeddingMs));
  }

  /** Another user has the text now: forgets what the user before has found, or was not allowed to find. */
  restart(text: string): void {
    this.#stop();
    this.#kept.clear();
    this.#restsUntil = 0;
    this.check(text);
  }

  get #isFocused(): boolean {
    return this.#input !== null && this.#input.matches(":focus");
  }

  async #search(query: string): Promise<void> {
    const { client, embedder, host } = this.#options;
    const model = embedder();
    const isOff = host.element.getAttribute("instant-results") === "off";
    if (!model || isOff || performance.now() < this.#restsUntil) return this.#hide();
    const running = (this.#running = new AbortController());
    const { signal } = running;
    try {
      const started = performance.now();
      const { vector } = await model.embed(query, { signal });
      this.#embeddingMs = performance.now() - started;
      signal.throwIfAborted();
      const request = { embedding: [...vector], query, model: model.fingerprint, limit: MAX_RESULTS };
      const results = await search(request, client(), signal);
      if (running !== this.#running) return;
      this.#keep(query, results);
      this.#show(results, query);
    } catch (thrown) {
      if (running !== this.#running) return;
      this.#rest(thrown);
      this.#hide();
    }
  }

  /** Instant results are an extra: a failure is not shown, and the server is left alone for a while. */
  #rest(thrown: unknown): void {
    const { code, reason, retryAfterSeconds } = thrown instanceof ChatError ? thrown : {};
    // Nothing was sent, and the first question may sign the visitor in at any moment.
    if (reason === "signed_out") return;
    // Not for this site, this user or this page; a new page tries again.
    const isFinal =
      code === "forbidden" || code === "not_found" || code === "unknown_assistant" || code === "model_mismatch";
    const restMs = retryAfterSeconds === undefined ? REST_AFTER_FAILURE_MS : 1000 * retryAfterSeconds;
    this.#restsUntil = isFinal ? Infinity : performance.now() + restMs;
  }

  #keep(query: string, results: readonly SearchResult[]): void {
    const [oldest] = this.#kept.keys();
    if (this.#kept.size >= MAX_KEPT && oldest !== undefined) this.#kept.delete(oldest);
    this.#kept.set(query, results);
  }

  #show(results: readonly SearchResult[], query: string): void {
    if (results.length === 0 || !this.#isFocused) return this.#hide();
    const { host, announcer } = this.#options;
    this.#results = results;
    this.#list.root.style.setProperty("--composer-height", `${host.frame.composer.root.offsetHeight}px`);
    this.#list.show(results, query);
    this.#describe();
    this.#announcement = setTimeout(
      () => announcer.say(host.translator.format("places", { count: results.length })),
      ANNOUNCE_AFTER_MS,
    );
  }

  #onKey(event: KeyboardEvent): void {
    if (!this.#list.isOpen || isComposing(event) || event.target !== this.#input) return;
    if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    if (event.key === "Escape") this.#dismiss();
    else if (event.key === "Enter" && this.#list.chosen >= 0) this.#open(this.#list.chosen);
    else if (event.key === "ArrowDown" && this.#maySelect()) this.#move(1);
    else if (event.key === "ArrowUp" && this.#maySelect()) this.#move(-1);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** In a question of several lines, the arrow keys move the caret, unless it is at the end. */
  #maySelect(): boolean {
    const input = this.#input;
    if (!(input instanceof HTMLTextAreaElement) || this.#list.chosen >= 0) return true;
    return input.selectionStart === input.value.length && input.selectionEnd === input.value.length;
  }

  #move(by: 1 | -1): void {
    // Results that came now would take away what the visitor is about to choose.
    this.#cancel();
    this.#list.move(by);
    this.#describe();
  }

  /** Opens the place of a result as an opened citation does: its page at the words, or else its passage. */
  #open(at: number): void {
    const result = this.#results[at];
    if (!result) return;
    const { frame } = this.#options.host;
    const citation: Citation = { ...result, index: 1 };
    const href = this.#options.tools.urlOfWords(result, [citation]);
    if (href === undefined) {
      // Results that came now would take away what the visitor reads.
      this.#cancel();
      this.#list.showPassage(result);
      return this.#describe();
    }
    const link = element("a", { href, target: "_blank", rel: "noopener noreferrer", hidden: true });
    frame.body.append(link);
    link.click();
    link.remove();
    this.#dismiss();
  }

  #closePassage(): void {
    this.#options.host.frame.composer.focus();
    this.#dismiss();
  }

  /** Closes the list until the text changes. */
  #dismiss(): void {
    this.#cancel();
    this.#hide();
  }

  /** Forgets the text, too: it was sent or left, or the focus was. */
  #stop(): void {
    this.#dismiss();
    this.#query = undefined;
  }

  #cancel(): void {
    clearTimeout(this.#timer);
    clearTimeout(this.#announcement);
    this.#running?.abort();
    this.#running = undefined;
  }

  #hide(): void {
    clearTimeout(this.#announcement);
    this.#results = [];
    this.#list.hide();
    this.#describe();
  }

  /**
   * Tells assistive technology what the question box controls. It stays a text box of several lines: `combobox` is not allowed as the
   * role of a `textarea`.
   */
  #describe(): void {
    const input = this.#input;
    if (!input) return;
    const isList = this.#list.isOpen && !this.#list.isPassage;
    set(input, "aria-autocomplete", isList && "list");
    set(input, "aria-haspopup", isList && "listbox");
    set(input, "aria-controls", isList && ResultList.LIST_ID);
    set(input, "aria-activedescendant", this.#list.chosenId);
  }
}

/** Debounce after a key, in milliseconds: short enough that results feel instant. */
const PAUSE_MS = 40;
/** An embedding that takes longer, in milliseconds, is work that the visitor may feel while typing. */
const SLOW_EMBEDDING_MS = 50;
/** Pauses grow by this multiple of what an embedding takes, so that it uses a fifth of the time at most. */
const SHARE_OF_PAUSE = 4;
const MAX_PAUSE_MS = 1500;

/** The pause after a key before the text is embedded, if the last embedding took `embeddingMs`. */
export function pauseAfter(embeddingMs: number): number {
  if (embeddingMs <= SLOW_EMBEDDING_MS) return PAUSE_MS;
  return Math.min(MAX_PAUSE_MS, Math.round(SHARE_OF_PAUSE * embeddingMs));
}

/** Shorter texts, in letters and digits, are searched only in scripts whose words are that short. */
const MIN_LETTERS = 3;
const SHORT_WORDS = /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}]/u;

/** The beginning of a word after others: it says nothing yet, and would only lead away from the words before it. */
const BEGUN_WORD = /(?<=\S\s)\p{Ll}{1,2}$/u;

/**
 * The text that is searched: without white space and punctuation at the ends, which cannot change the results, and without a word that has just begun. `undefined`
 * for a text that is too short to mean something.
 */
export function queryOf(text: string): string | undefined {
  const words = text.replace(/\s+/g, " ").replace(BEGUN_WORD, "");
  const query = words.replace(/^[\s\p{P}]+|[\s\p{P}]+$/gu, "");
  const letters = query.match(/[\p{L}\p{N}]/gu)?.length ?? 0;
  return letters >= MIN_LETTERS || SHORT_WORDS.test(query) ? query : undefined;
}
