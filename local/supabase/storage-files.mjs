import { createHash } from "node:crypto";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";

/**
 * Keeps storage objects in a folder: `<bucket>/<hash of key>` and next to it a `.json` file with the metadata. Hashed names make
 * every key a safe file name. Supabase Lite exports no adapter for a folder.
 */
export class FileStorage {
  #folder;
  /** Required by the interface, for the client of a remote storage. */
  driver = undefined;

  /** @param {string} folder */
  constructor(folder) {
    this.#folder = folder;
  }

  async uploadObject(bucket, key, _version, body, contentType, cacheControl) {
    const bytes = Buffer.from(await new Response(body).arrayBuffer());
    const metadata = {
      mimetype: contentType,
      cacheControl: cacheControl ?? "no-cache",
      contentLength: bytes.length,
      size: bytes.length,
      lastModified: new Date().toISOString(),
      eTag: `"${sha256(bytes)}"`,
    };
    await this.#write(bucket, key, bytes, metadata);
    return withDate(metadata);
  }

  async getObject(bucket, key, _version, conditions) {
    const metadata = await this.headObject(bucket, key);
    if (conditions?.ifNoneMatch === metadata.eTag) return { httpStatusCode: 304, metadata };
    const bytes = await readFile(this.#file(bucket, key));
    return { httpStatusCode: 200, metadata, body: new Blob([bytes]).stream() };
  }

  async headObject(bucket, key) {
    return withDate(JSON.parse(await readFile(`${this.#file(bucket, key)}.json`, "utf8")));
  }

  async copyObject(bucket, key, _version, toBucket, toKey) {
    const bytes = await readFile(this.#file(bucket, key));
    const metadata = { ...(await this.headObject(bucket, key)), lastModified: new Date().toISOString() };
    await this.#write(toBucket, toKey, bytes, metadata);
    return { httpStatusCode: 200, eTag: metadata.eTag, lastModified: new Date(metadata.lastModified) };
  }

  async deleteObject(bucket, key) {
    const file = this.#file(bucket, key);
    await Promise.all([rm(file, { force: true }), rm(`${file}.json`, { force: true })]);
  }

  async deleteObjects(bucket, keys) {
    await Promise.all(keys.map((key) => this.deleteObject(bucket, key)));
  }

  /**
   * Required by the interface, for storage that browsers can reach.
   * @returns {Promise<string>}
   */
  privateAssetUrl() {
    return Promise.reject(new Error("files in a folder have no URL"));
  }

  async #write(bucket, key, bytes, metadata) {
    const file = this.#file(bucket, key);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, bytes);
    await writeFile(`${file}.json`, JSON.stringify(metadata));
  }

  #file(bucket, key) {
    return path.join(this.#folder, sha256(bucket), sha256(key));
  }
}

function sha256(data) {
  return createHash("sha256").update(data).digest("hex");
}

function withDate(metadata) {
  return { ...metadata, lastModified: new Date(metadata.lastModified) };
}
