import { isCached } from "@evidence-chat/embedder";

interface Device extends Navigator {
  /** https://wicg.github.io/netinfo/ (Chromium) */
  readonly connection?: { readonly saveData?: boolean; readonly effectiveType?: string };
  /** GiB, rounded to a power of two (Chromium). */
  readonly deviceMemory?: number;
}

/** The model takes 23 MB and some working memory, too much for a device with less. */
const MIN_DEVICE_MEMORY_GIB = 2;

/** Whether to ask the visitor before the model is downloaded. Never if the model is cached. */
export async function mustAskBeforeDownload(device: Device = navigator): Promise<boolean> {
  return isLimited(device) && !(await isCached());
}

/** Whether the connection is in data-saver mode or of 2G speed, or the device has little memory. */
export function isLimited(device: Device = navigator): boolean {
  const { connection, deviceMemory = MIN_DEVICE_MEMORY_GIB } = device;
  const isSlow = connection?.effectiveType?.endsWith("2g") ?? false;
  return connection?.saveData === true || isSlow || deviceMemory < MIN_DEVICE_MEMORY_GIB;
}
