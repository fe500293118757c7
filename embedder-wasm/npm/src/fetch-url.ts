interface Builtins {
  getBuiltinModule?(name: "node:fs/promises"): { readFile(path: URL): Promise<Uint8Array<ArrayBuffer>> };
}

/** `fetch`, which in Node also reads `file:` URLs from disk. Rejects with whatever went wrong. */
export async function fetchUrl(url: string, init: RequestInit): Promise<Response> {
  if (!url.startsWith("file:")) return fetch(url, init);
  // Not an import: bundlers for browsers would look for the module.
  const { process } = globalThis as { process?: Builtins };
  const files = process?.getBuiltinModule?.("node:fs/promises");
  if (!files) return fetch(url, init);
  const bytes = await files.readFile(new URL(url));
  const type = url.endsWith(".wasm") ? "application/wasm" : "application/octet-stream";
  return new Response(bytes, { headers: { "content-length": String(bytes.byteLength), "content-type": type } });
}
