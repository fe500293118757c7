import { lazyImport } from "../../dom/lazy-import.js";
import { adoptStyles } from "../../dom/styles.js";
import type { Announcer } from "../chat/announcer.js";
import { copyButtons, type ReplyView } from "../chat/reply-view.js";
import type { PanelHost } from "../host.js";
import type { OnDevice } from "./on-device.js";

const loadOnDevice = lazyImport(() => import("./on-device.js"));

/** Answers that are written on this device. The code is loaded with the first answer that can be written. */
export class LazyWriter {
  readonly #host: PanelHost;
  readonly #announcer: Announcer;
  #loading: Promise<OnDevice> | undefined;
  #loaded: OnDevice | undefined;

  constructor(host: PanelHost, announcer: Announcer) {
    this.#host = host;
    this.#announcer = announcer;
  }

  /** Offers to write an answer, above its quotes. Without the code, the quotes are the answer. */
  offer(reply: ReplyView, question: string): void {
    if (reply.answer.mode === "generated" || reply.answer.citations.length === 0) return;
    this.#loading ??= this.#load();
    this.#loading.then(
      (onDevice) => onDevice.offer(reply, question),
      () => {
        this.#loading = undefined;
      },
    );
  }

  /** Stops writing: the conversation is left. */
  stop(): void {
    this.#loaded?.stop();
  }

  /** Stops writing and frees the memory of the model. */
  dispose(): void {
    this.#loaded?.dispose();
  }

  async #load(): Promise<OnDevice> {
    const { OnDevice, styles } = await loadOnDevice();
    const { t } = this.#host.translator;
    adoptStyles(this.#host.shadow, styles);
    this.#loaded = new OnDevice(this.#host, this.#announcer, (answer) => copyButtons(t, answer));
    return this.#loaded;
  }
}
