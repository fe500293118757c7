/** Large enough to be quick, small enough not to count. */
const BUFFER_BYTES = 256 * 1024;

/**
 * Gives the pieces of a response's body in turn; each is valid only until the next one is asked for, because all are
 * read into the same memory where the browser can do that. The file then leaves no garbage of its own size behind.
 */
export async function* readBody({ body }: Response): AsyncGenerator<Uint8Array, void, undefined> {
  if (!body) return;
  const reader = byteReader(body);
  if (!reader) return yield* readPieces(body);
  let buffer = new ArrayBuffer(BUFFER_BYTES);
  for (;;) {
    const { done, value } = await reader.read(new Uint8Array(buffer));
    if (done) return;
    yield value;
    buffer = value.buffer;
  }
}

/** `null` where bodies are not byte streams. */
function byteReader(body: ReadableStream<Uint8Array>): ReadableStreamBYOBReader | null {
  try {
    return body.getReader({ mode: "byob" });
  } catch {
    return null;
  }
}

async function* readPieces(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = body.getReader();
  for (let piece = await reader.read(); !piece.done; piece = await reader.read()) yield piece.value;
}
