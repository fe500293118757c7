import { EmbedderError } from "../errors.js";

/** The SHA-256 digests of a file's blocks, which are all equally long except the last. */
export interface BlockDigests {
  readonly blockBytes: number;
  /** Lower-case hex. */
  readonly sha256: readonly string[];
}

/**
 * Verifies a file block by block while it arrives. The browser's SHA-256 needs all of its input at
 * once and copies it, which for a whole model would double the memory.
 */
export class BlockVerifier {
  readonly #digests: BlockDigests;
  readonly #subtle: SubtleCrypto;
  #verified = 0;
  #pending: Promise<void> = Promise.resolve();

  constructor(digests: BlockDigests, subtle: SubtleCrypto) {
    this.#digests = digests;
    this.#subtle = subtle;
  }

  /**
   * Verifies the blocks that are complete. `bytes` are those of the file so far, all of it if
   * `isEnd`; they are copied before this returns its promise or waits. Throws `integrity` once a
   * block is wrong.
   */
  async check(bytes: () => Uint8Array<ArrayBuffer>, isEnd = false): Promise<void> {
    const { blockBytes, sha256 } = this.#digests;
    const { length } = bytes();
    while (isEnd ? this.#verified < sha256.length : (this.#verified + 1) * blockBytes <= length) {
      await this.#pending;
      const index = this.#verified++;
      const block = bytes().subarray(index * blockBytes, (index + 1) * blockBytes);
      this.#pending = this.#verify(index, block);
      // It is awaited before the next block.
      this.#pending.catch(() => undefined);
    }
    if (isEnd) await this.#pending;
  }

  async #verify(index: number, block: Uint8Array<ArrayBuffer>): Promise<void> {
    const digest = new Uint8Array(await this.#subtle.digest("SHA-256", block));
    const actual = Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
    const expected = this.#digests.sha256[index];
    if (actual === expected) return;
    const start = index * this.#digests.blockBytes;
    throw new EmbedderError("integrity", `its SHA-256 is ${actual} instead of ${expected} from byte ${start} on`);
  }
}
