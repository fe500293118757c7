import { isCached } from "@evidence-chat/embedder";

interface Device extends Navigator {
  /** https://wicg.github.io/netinfo/ (Chromium) */
  readonly connection?: { readonly saveData?: boolean; readonly effectiveType?: string };
  /** GiB, rounded to a power of two (Chromium). */
  readonly deviceMemory?: number;
}

/** Below this the model, 23 MB and some working memory, is a burden. In GiB. */
const LITTLE_MEMORY = 2;

/**
 * Whether the visitor should be asked before the model is downloaded: on a connection that saves data or is very slow,
 * and on a device with little memory. Not if the model is in the browser's cache.
 */
export async function mustAskBeforeDownload(device: Device = navigator): Promise<boolean> {
  const { connection, deviceMemory = LITTLE_MEMORY } = device;
  const isSlow = connection?.effectiveType?.endsWith("2g") ?? false;
  const isLimited = connection?.saveData === true || isSlow || deviceMemory < LITTLE_MEMORY;
  return isLimited && !(await isCached());
}
