import { isCached } from "@evidence-chat/embedder";

interface Device extends Navigator {
  /** https://wicg.github.io/netinfo/ (Chromium) */
  readonly connection?: { readonly saveData?: boolean; readonly effectiveType?: string };
  /** GiB, rounded to a power of two (Chromium). */
  readonly deviceMemory?: number;
}

/** The model takes 23 MB and some working memory, too much for a device with less. */
const MIN_DEVICE_MEMORY_GIB = 2;

/**
 * Whether to ask the visitor before the model is downloaded: on a connection in data-saver mode or of 2G speed, and on
 * a device with little memory. Never if the model is cached.
 */
export async function mustAskBeforeDownload(device: Device = navigator): Promise<boolean> {
  const { connection, deviceMemory = MIN_DEVICE_MEMORY_GIB } = device;
  const isSlow = connection?.effectiveType?.endsWith("2g") ?? false;
  const isLimited = connection?.saveData === true || isSlow || deviceMemory < MIN_DEVICE_MEMORY_GIB;
  return isLimited && !(await isCached());
}
