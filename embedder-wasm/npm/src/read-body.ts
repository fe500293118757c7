import { EmbedderError } from "./errors.js";

/**
 * Reads a response body into one buffer, sized by Content-Length up front so that the bytes are copied only once.
 *
 * Fewer bytes than declared is a cut download and throws `download_failed`. More is a transparent compression, whose
 * declared length counts compressed bytes (Content-Encoding is hidden across origins, so it cannot be asked for).
 */
export async function readBody(
  response: Response,
  onProgress: (loadedBytes: number, totalBytes: number | null) => void,
): Promise<Uint8Array<ArrayBuffer>> {
  const declared = declaredLength(response);
  let buffer = new Uint8Array(declared ?? 0);
  let length = 0;
  onProgress(0, declared);

  const reader = response.body?.getReader();
  for (let chunk = await reader?.read(); chunk && !chunk.done; chunk = await reader?.read()) {
    const end = length + chunk.value.byteLength;
    if (end > buffer.byteLength) buffer = grown(buffer, end);
    buffer.set(chunk.value, length);
    length = end;
    onProgress(length, declared === null ? null : Math.max(declared, length));
  }

  if (declared !== null && length < declared) {
    throw new EmbedderError(
      "download_failed",
      `The download of ${response.url} stopped after ${length} of ${declared} bytes.`,
    );
  }
  onProgress(length, length);
  return length === buffer.byteLength ? buffer : buffer.subarray(0, length);
}

function declaredLength(response: Response): number | null {
  const length = Number(response.headers.get("content-length") ?? "");
  return Number.isSafeInteger(length) && length > 0 ? length : null;
}

/** A copy of `buffer` with room for `needed` bytes; doubling keeps the total copying linear. */
function grown(buffer: Uint8Array<ArrayBuffer>, needed: number): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(Math.max(needed, buffer.byteLength * 2, 64 * 1024));
  larger.set(buffer);
  return larger;
}
