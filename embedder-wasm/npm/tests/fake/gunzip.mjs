// Reads a gzip file of stored blocks that arrives in pieces. The messages are those of
// `embedder-wasm/src/gunzip.rs`.

const HEADER_BYTES = 10;
/** Of a stored block: whether it is the last, its length, and the same with each bit inverted. */
const BLOCK_HEADER_BYTES = 5;
const TRAILER_BYTES = 8;

export class Gunzip {
  /** What has arrived and is not read yet. */
  #rest = new Uint8Array();
  /** @type {"header" | "blocks" | "trailer"} */
  #state = "header";

  /** Appends what the chunk contains to `output.bytes`, whose first `output.length` are filled. */
  append(chunk, output) {
    const bytes = new Uint8Array(this.#rest.length + chunk.length);
    bytes.set(this.#rest);
    bytes.set(chunk, this.#rest.length);
    this.#rest = bytes;
    if (this.#state === "header" && this.#rest.length >= HEADER_BYTES) {
      if (this.#take(HEADER_BYTES).subarray(0, 4).join() !== "31,139,8,0") throw damaged();
      this.#state = "blocks";
    }
    while (this.#state === "blocks" && this.#rest.length >= BLOCK_HEADER_BYTES) {
      const [kind, length] = [this.#rest[0], this.#number(1, 2)];
      if (kind > 1 || this.#number(3, 2) !== (length ^ 0xffff)) throw damaged();
      if (this.#rest.length < BLOCK_HEADER_BYTES + length) break;
      write(output, this.#take(BLOCK_HEADER_BYTES + length).subarray(BLOCK_HEADER_BYTES));
      if (kind === 1) this.#state = "trailer";
    }
    if (this.#state === "trailer" && this.#rest.length > TRAILER_BYTES) throw damaged();
  }

  finish(output) {
    if (this.#state !== "trailer" || this.#rest.length < TRAILER_BYTES)
      throw new Error("its compression is incomplete");
    if (this.#number(4, 4) !== output.length) throw damaged();
  }

  #number(start, length) {
    return this.#rest.subarray(start, start + length).reduce((number, byte, index) => number + byte * 256 ** index, 0);
  }

  #take(length) {
    const bytes = this.#rest.subarray(0, length);
    this.#rest = this.#rest.subarray(length);
    return bytes;
  }
}

function write(output, bytes) {
  const { length } = output.bytes;
  if (output.length + bytes.length > length) throw new Error(`it has more than ${length} bytes when decompressed`);
  output.bytes.set(bytes, output.length);
  output.length += bytes.length;
}

function damaged() {
  return new Error("its compression is damaged");
}
