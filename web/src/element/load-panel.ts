import { lazyImport } from "../dom/lazy-import.js";

export type { Panel } from "../panel/index.js";

/** Loads the code of the panel. */
export const loadPanel = lazyImport(() => import("../panel/index.js"));
