/**
 * The path of the program `kb` for this computer: the value of `KB_BINARY`, or the file in the package of this platform.
 *
 * @param system the computer, if it is not this one
 * @throws Error with a sentence for the user if there is no program for this platform, or its package is not installed
 */
export function locateKb(system?: { platform?: string; arch?: string; isMusl?: boolean }): string;

/**
 * The folder with the embedding model: the value of `EVIDENCE_MODEL_DIR`, or that of the package `@evidence-chat/embedder`.
 *
 * @throws Error with a sentence for the user if that package is not installed
 */
export function locateModel(): string;
