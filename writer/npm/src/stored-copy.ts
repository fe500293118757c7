import { within } from "@evidence-chat/model-loading/within";

/** How many bytes may wait for the disk. */
const MAX_WAITING_BYTES = 1024 * 1024;
/**
 * In milliseconds. A disk that others keep busy may stop for seconds, and giving up would cost the next visit the whole model again.
 * With the 5 s of a part that is stored, it stays below the 20 s of silence after which another tab takes the download over.
 */
const MAX_STALL_MS = 12_000;

/** A copy of a file that is written while the file arrives. It exists only once it is complete. */
export class StoredCopy {
  /** Settles when the copy is stored, or given up, which is false. Never rejects. */
  readonly stored: Promise<boolean>;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  #hasFailed = false;

  /** `put` stores the response, which has `byteLength` bytes. */
  constructor(put: (response: Response) => Promise<void>, byteLength: number) {
    const queue = new ByteLengthQueuingStrategy({ highWaterMark: MAX_WAITING_BYTES });
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array<ArrayBuffer>>(undefined, queue);
    this.#writer = writable.getWriter();
    const giveUp = () => {
      this.#hasFailed = true;
    };
    this.#writer.closed.catch(giveUp);
    const response = new Response(readable, { headers: { "content-length": String(byteLength) } });
    this.stored = put(response).then(
      () => true,
      (reason: unknown) => {
        // Storage is full or blocked, or the file was not the expected one.
        giveUp();
        void this.#writer.abort(reason).catch(giveUp);
        return false;
      },
    );
  }

  /** Copies the chunk; resolves when there is space for the next one. Never rejects. */
  async append(chunk: Uint8Array): Promise<void> {
    if (this.#hasFailed) return;
    try {
      void this.#writer.write(chunk.slice()).catch(() => undefined);
      await within(this.#writer.ready, MAX_STALL_MS);
    } catch {
      void this.discard();
    }
  }

  /** The file is complete. */
  async close(): Promise<void> {
    await this.#writer.close().catch(() => undefined);
  }

  /** Discards the copy. */
  async discard(): Promise<void> {
    this.#hasFailed = true;
    await this.#writer.abort(new DOMException("The file is not complete.", "AbortError")).catch(() => undefined);
  }
}
