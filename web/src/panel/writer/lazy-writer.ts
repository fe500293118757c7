import { lazyImport } from "../../lazy-import.js";
import { adoptStyles } from "../../dom/styles.js";
import type { Announcer } from "../chat/announcer.js";
import { copyButtons, type ReplyView } from "../chat/reply-view.js";
import type { PanelHost } from "../host.js";
import type { OnDevice } from "./on-device.js";

const loadOnDevice = lazyImport(() => import("./on-device.js"));

/** Answers that are written on this device. */
export interface LazyWriter {
  /** Offers to write an answer, above its quotes. Without the code, the quotes are the answer. */
  offer(reply: ReplyView, question: string): void;
  /** Stops writing: the conversation is left. */
  stop(): void;
  /** Stops writing and frees the memory of the model. */
  dispose(): void;
}

/** Loads the code of the writer with the first answer that can be written. */
export function lazyWriter(host: PanelHost, announcer: Announcer): LazyWriter {
  let loading: Promise<OnDevice> | undefined;
  let writer: OnDevice | undefined;
  const load = async () => {
    const { OnDevice, styles } = await loadOnDevice();
    adoptStyles(host.shadow, styles);
    return (writer = new OnDevice(host, announcer, (answer) => copyButtons(host.translator.t, answer)));
  };
  return {
    offer(reply, question) {
      if (reply.answer.mode === "generated" || reply.answer.citations.length === 0) return;
      (loading ??= load()).then(
        (loaded) => loaded.offer(reply, question),
        () => (loading = undefined),
      );
    },
    stop: () => writer?.stop(),
    dispose: () => writer?.dispose(),
  };
}
