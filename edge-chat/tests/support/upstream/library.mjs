// Documents and their original files, as in the functions of the database and in Storage.
import { createHash } from "node:crypto";

const MAX_IDS = 500;

/**
 * The knowledge base of the stand-in. It starts with the document of the default passage. The link mode of the settings
 * decides who may open files, as in the database.
 */
export function createLibrary(firstDocument, settings) {
  const documents = [];
  const files = new Map();

  /**
   * `content` is the file in Storage; without `storage_path` there is none.
   * @param {{ content?: string | Buffer, type?: string, id?: string, [column: string]: unknown }} [document]
   */
  function addDocument({ content = "the original", type = "text/plain", ...fields } = {}) {
    const id = fields.id ?? crypto.randomUUID();
    const row = { name: "refunds.md", status: "ready", enabled: true, storage_path: `${id}/refunds.md`, ...fields, id };
    documents.push(row);
    if (row.storage_path) files.set(row.storage_path, fileOf(Buffer.from(content), type));
    return row;
  }

  const visible = () => documents.filter((row) => row.status === "ready" && row.enabled);

  const mayOpen = () => settings.link_mode !== "none";
  const hasDocuments = () => ({ body: visible().length > 0 });

  function lookUp({ body: { ids } }) {
    if (ids.length > MAX_IDS) return { status: 400, body: { code: "22023", message: "too many ids" } };
    const rows = visible().filter(({ id }) => ids.includes(id));
    const shown = ({ id, name, storage_path }) => ({
      id,
      name,
      storage_path: mayOpen() ? storage_path : null,
      link_mode: settings.link_mode,
    });
    return { body: rows.map(shown) };
  }

  /** The policy of Storage: no file of a hidden document, or of one that users may not open. */
  function download(call) {
    const path = decodeURIComponent(call.path);
    const file = mayOpen() && visible().some((row) => row.storage_path === path) && files.get(path);
    return file ? serve(call, file) : noObject();
  }

  function sign({ body }) {
    const signed = body.paths.map((path) =>
      settings.link_mode === "public" && visible().some((row) => row.storage_path === path)
        ? { error: null, path, signedURL: `/object/sign/kb/${encodeURI(path)}?token=signed-${body.expiresIn}` }
        : { error: "Either the object does not exist or you do not have access to it", path, signedURL: null },
    );
    return { body: signed };
  }

  addDocument(firstDocument);
  return {
    addDocument,
    removeFile: (path) => files.delete(path),
    handlers: {
      "rpc/chat_has_documents": hasDocuments,
      "rpc/chat_documents": lookUp,
      "storage/object": download,
      "storage/sign": sign,
    },
  };
}

function fileOf(bytes, type) {
  const etag = `"${createHash("sha256").update(bytes).digest("hex").slice(0, 32)}"`;
  return { bytes, headers: { "content-type": type, etag, "last-modified": "Thu, 01 Jan 2026 00:00:00 GMT" } };
}

/** Hosted Storage responds with HTTP 400 and with 404 in its JSON. */
const noObject = () => ({
  status: 400,
  body: { statusCode: "404", error: "not_found", message: "Object not found" },
});

function serve(call, { bytes, headers }) {
  const { range, "if-none-match": known, "if-range": condition } = call.headers;
  if (known === headers.etag) return { status: 304, headers, bytes: Buffer.alloc(0) };
  const all = { headers: { ...headers, "accept-ranges": "bytes" }, bytes };
  if (!range || (condition && condition !== headers.etag)) return all;
  const [, first, last] = /^bytes=(\d*)-(\d*)$/.exec(range) ?? [];
  if (first === undefined || (first === "" && last === "")) return all;
  const start = first === "" ? Math.max(bytes.length - Number(last), 0) : Number(first);
  const end = first === "" || last === "" ? bytes.length - 1 : Math.min(Number(last), bytes.length - 1);
  if (start > end) {
    return { status: 416, headers: { ...headers, "content-range": `bytes */${bytes.length}` }, bytes: Buffer.alloc(0) };
  }
  return {
    status: 206,
    headers: { ...all.headers, "content-range": `bytes ${start}-${end}/${bytes.length}` },
    bytes: bytes.subarray(start, end + 1),
  };
}
