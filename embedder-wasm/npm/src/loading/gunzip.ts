import { LoadingError, messageOf } from "./errors.js";
import type { ByteSink, Decompressor } from "./model-download.js";

/** The first two bytes of every gzip file. */
const MAGIC = [0x1f, 0x8b];
/** Deflate expands a piece at most about a thousand times, so this bounds what is in memory before the length is checked. */
const PIECE_BYTES = 16 * 1024;

/** Whether a file that begins with these bytes is compressed with gzip. `chunk` is not empty. */
export function isGzip(chunk: Uint8Array): boolean {
  return MAGIC.every((byte, index) => index >= chunk.length || chunk[index] === byte);
}

/** Decompresses a gzip file into a sink with the browser's code, which leaves its whole output to the garbage collector. */
export class Gunzip implements Decompressor {
  readonly #sink: ByteSink;
  readonly #maxBytes: number;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array<ArrayBuffer>>;
  readonly #drained: Promise<void>;
  #isAborted = false;

  /** More than `maxBytes` decompressed bytes are an `integrity` error: a small file can expand to any size. */
  constructor(sink: ByteSink, maxBytes: number) {
    this.#sink = sink;
    this.#maxBytes = maxBytes;
    const { readable, writable } = new DecompressionStream("gzip");
    this.#writer = writable.getWriter();
    this.#writer.closed.catch(() => undefined);
    this.#drained = this.#drain(readable.getReader());
    this.#drained.catch(() => undefined);
  }

  /** Throws `integrity` if the file is damaged, or what the sink throws. */
  async append(chunk: Uint8Array): Promise<void> {
    for (let start = 0; start < chunk.length; start += PIECE_BYTES) {
      // A copy, because Node.js reads it after the promise is resolved.
      await this.#settled(this.#writer.write(chunk.slice(start, start + PIECE_BYTES)));
    }
  }

  /** Resolves when the sink has all bytes. Throws like `append`, also if the file is incomplete. */
  async finish(): Promise<void> {
    await this.#settled(this.#writer.close());
    await this.#drained;
  }

  /** Ends it without a result; the sink gets nothing more. */
  abort(): void {
    this.#isAborted = true;
    this.#writer.abort().catch(() => undefined);
  }

  /** If reading fails too, that is the cause, because a failure of the sink stops the stream. */
  async #settled(written: Promise<void>): Promise<void> {
    try {
      await written;
    } catch (cause) {
      await this.#drained;
      throw damaged(cause);
    }
  }

  async #drain(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
    try {
      for (let chunk = await read(reader); chunk && !this.#isAborted; chunk = await read(reader)) {
        if (this.#sink.received + chunk.length > this.#maxBytes) {
          throw new LoadingError("integrity", `it has more than ${this.#maxBytes} bytes when decompressed`);
        }
        await this.#sink.append(chunk);
      }
    } catch (failure) {
      reader.cancel(failure).catch(() => undefined);
      throw failure;
    }
  }
}

async function read(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<Uint8Array | undefined> {
  try {
    return (await reader.read()).value;
  } catch (cause) {
    throw damaged(cause);
  }
}

function damaged(cause: unknown): LoadingError {
  return new LoadingError("integrity", `its compression is damaged or incomplete: ${messageOf(cause)}`, { cause });
}
