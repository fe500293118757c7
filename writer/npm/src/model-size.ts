import { assertIsFile, send, withoutQuery } from "@evidence-chat/model-loading/http";
import { asWriterError, WriterError } from "./errors.js";
import { absolute } from "./options.js";

/**
 * The size of a model file in bytes, as its server tells: for the question whether the visitor allows the download.
 *
 * @throws {@link WriterError} `download_failed`, `invalid_input`.
 */
export async function modelSize(url: string | URL): Promise<number> {
  try {
    return await sizeOf(absolute("url", url));
  } catch (thrown) {
    throw asWriterError(thrown, "download_failed");
  }
}

/** The size of the file at an absolute URL. Throws `WriterError` or `LoadingError`. */
export async function sizeOf(url: string): Promise<number> {
  const response = await send(url, { method: "HEAD" });
  assertIsFile(response, url, "modelUrl");
  const length = Number(response.headers.get("content-length"));
  if (length > 0 && !response.headers.has("content-encoding")) return length;
  throw new WriterError("download_failed", `${withoutQuery(url)} has no Content-Length. Set model.byteLength.`);
}
