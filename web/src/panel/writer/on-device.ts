/** The part of the panel that loads only on sites whose answers may be written on the visitor's device. */
import type { Citation, GenerationReport } from "../../client/wire.js";
import { aborting } from "../../client/request.js";
import type { Announcer } from "../chat/announcer.js";
import type { ReplyView } from "../chat/reply-view.js";
import type { AnswerView } from "../citations/answer-view.js";
import type { PanelHost } from "../host.js";
import { WriterBox } from "./writer-box.js";
import { WriterSource, type Written } from "./writer-source.js";
import css from "./writer.css";

/** Style sheet of the written answers, for the panel to adopt. */
export const styles: string = css;

/** Reason why a text is stopped: the visitor cancelled it, asked for another one, or left the conversation. */
const STOPPED = new DOMException("The text is not wanted any more.", "AbortError");

/** A text that is being written. */
interface Run {
  readonly box: WriterBox;
  readonly stop: AbortController;
}

/** A device that may prefer to save data (https://wicg.github.io/netinfo/, Chromium). */
interface Device extends Navigator {
  readonly connection?: { readonly saveData?: boolean };
}

/** Writes answers on this device, one at a time, when the visitor asks for it. */
export class OnDevice {
  readonly #host: PanelHost;
  readonly #announcer: Announcer;
  readonly #copyButtons: (answer: AnswerView) => HTMLElement;
  readonly #source: WriterSource;
  #running: Run | undefined;
  /** Whether the visitor allowed a download on this page. */
  #mayDownload = false;
  /** Whether the visitor has let an answer be written on this page. */
  #hasWritten = false;

  constructor(host: PanelHost, announcer: Announcer, copyButtons: (answer: AnswerView) => HTMLElement) {
    this.#host = host;
    this.#announcer = announcer;
    this.#copyButtons = copyButtons;
    this.#source = new WriterSource(host.element, () => host.translator.language);
  }

  /** Offers to write an answer. It is written at once if the visitor has wanted that before and the model is loaded. */
  async offer(reply: ReplyView, question: string): Promise<void> {
    // The conversation may be left meanwhile.
    if (!(await this.#source.isAvailable().catch(() => false)) || !reply.root.isConnected) return;
    const { translator, frame } = this.#host;
    const box: WriterBox = new WriterBox(translator, {
      write: () => void this.#write(box, reply, question),
      // The last control of the box is removed, so the focus moves first.
      leave: () => frame.composer.focus(),
    });
    reply.root.prepend(box.root);
    const savesData = (navigator as Device).connection?.saveData === true;
    if (this.#hasWritten && this.#source.isReady && !savesData) void this.#write(box, reply, question);
    else box.offer();
  }

  stop(): void {
    this.#running?.stop.abort(STOPPED);
  }

  dispose(): void {
    this.stop();
    this.#source.dispose();
  }

  async #write(box: WriterBox, reply: ReplyView, question: string): Promise<void> {
    this.stop();
    const stop = new AbortController();
    const run = { box, stop };
    this.#running = run;
    const { signal } = stop;
    try {
      const written = await this.#generate(box, reply, question, stop);
      signal.throwIfAborted();
      if (written) this.#show(box, reply, written);
      else box.offer();
    } catch (error) {
      if (signal.aborted) box.offer();
      else this.#fail(box, error);
    } finally {
      if (this.#running === run) this.#running = undefined;
    }
  }

  /** `undefined` if the visitor does not allow the download. */
  async #generate(
    box: WriterBox,
    { answer: { citations, isHedged: hedged } }: ReplyView,
    question: string,
    stop: AbortController,
  ): Promise<Written | undefined> {
    const { signal } = stop;
    const cancel = () => stop.abort(STOPPED);
    if (!this.#source.isReady) {
      box.loading(undefined, cancel);
      if (!(await this.#allows(box, signal))) return undefined;
      box.loading(undefined, cancel);
      this.#say("writeLoading");
    }
    const onProgress = (progress: { loadedBytes: number; totalBytes: number }) =>
      signal.aborted || box.loading(progress, cancel);
    const writer = await aborting(this.#source.writer({ onProgress, signal }), signal);
    box.writing(cancel);
    this.#say("writing");
    const { writeAnswer } = await this.#source.module();
    return writeAnswer(writer as never, { question, citations, hedged }, { signal });
  }

  /** Asks before a download, once on this page. */
  async #allows(box: WriterBox, signal: AbortSignal): Promise<boolean> {
    const download = await aborting(this.#source.download(), signal);
    if (!download || this.#mayDownload) return true;
    this.#announcer.say(box.consentText(download).toString());
    this.#mayDownload = await aborting(box.askForConsent(download), signal);
    return this.#mayDownload;
  }

  #show(box: WriterBox, reply: ReplyView, { answer, generation, error }: Written): void {
    this.#hasWritten = true;
    if (!answer && (generation.fallback === "error" || generation.fallback === "timeout"))
      return this.#fail(box, error ?? generation.fallback);
    const report = generation as GenerationReport;
    if (!answer) {
      box.nothing(report);
      return this.#say("writeNothing");
    }
    const view = reply.newWritten();
    if (reply.answer.isHedged) view.hedge();
    view.markGenerated("generatedOnDevice");
    for (const delta of answer.deltas) view.append(delta);
    view.cite(answer.citations as readonly Citation[], reply.answer);
    view.report(report);
    box.show(view.root, this.#copyButtons(view));
    this.#announcer.say(this.#host.translator.format("writtenReady", { text: view.plainText() }));
  }

  #fail(box: WriterBox, error: unknown): void {
    const { translator, dispatch } = this.#host;
    const { code } = (typeof error === "object" ? (error ?? {}) : {}) as { readonly code?: string };
    // A model that ran out of memory or crashed is of no use.
    if (code !== undefined && code !== "context_too_long") this.#source.dispose();
    const text =
      code === "out_of_memory" ? "writeMemory" : code === "unsupported" ? "writeUnsupported" : ("writeFailed" as const);
    box.fail(text, code !== "unsupported");
    dispatch("error", { code: `writer_${code ?? "failed"}`, message: translator.format(text), error });
  }

  #say(text: "writeLoading" | "writing" | "writeNothing"): void {
    this.#announcer.say(this.#host.translator.format(text));
  }
}
