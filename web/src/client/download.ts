import { apiUrl, type ChatClientOptions, idleTimeout, readAll, send, withAbortReason } from "./request.js";
import { safeUrl } from "./safe-url.js";

/** A downloaded file. */
export interface DownloadedFile {
  /** Its type is application/octet-stream, so a `blob:` URL of it never opens as a page of this origin. */
  readonly blob: Blob;
  /** File name without folders. */
  readonly name: string;
}

/**
 * Downloads a document's original file, by the document's id or by the `download_url` of a citation. The user's token
 * is sent only to the API, never to a signed URL on another server. Throws as `streamChat` does.
 */
export function downloadDocument(
  idOrUrl: string,
  options: ChatClientOptions,
  signal?: AbortSignal,
): Promise<DownloadedFile> {
  return withAbortReason(signal, async () => {
    const documents = apiUrl(options.endpoint, "documents/");
    const url = /^[\w-]+$/.test(idOrUrl) ? `${documents}${idOrUrl}/download` : safeUrl(idOrUrl);
    if (url === undefined) throw new TypeError(`Neither a document id nor an http(s) URL: ${idOrUrl}`);
    const response = await send({ url, accept: "*/*", anonymous: !url.startsWith(documents) }, options, signal);
    const content = await readAll(response, idleTimeout(options));
    return { blob: content, name: fileName(response, nameInUrl(url)) };
  });
}

/** The file name from the response's Content-Disposition header, or else `otherwise`. */
export function fileName(response: Response, otherwise: string | undefined): string {
  const disposition = response.headers.get("content-disposition") ?? "";
  const encoded = /filename\*\s*=\s*UTF-8'[^']*'([^;\s]+)/i.exec(disposition)?.[1];
  const plain = /filename\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;\s]+))/i.exec(disposition);
  const name = decoded(encoded) ?? plain?.[1]?.replace(/\\(.)/g, "$1") ?? plain?.[2] ?? otherwise;
  return safeName(name ?? "") || "document";
}

function nameInUrl(url: string): string | undefined {
  return decoded(new URL(url).pathname.split("/").at(-1));
}

function decoded(text: string | undefined): string | undefined {
  try {
    return text && decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** Without folders, and without invisible characters that would make the name look different. */
function safeName(name: string): string {
  return (name.split(/[/\\]/).at(-1) ?? "")
    .replace(/[\p{Cc}\p{Cf}]/gu, "")
    .replace(/^\.+/, "")
    .trim();
}
