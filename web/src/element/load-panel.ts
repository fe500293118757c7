import { importAgain } from "../dom/import-again.js";

export type { Panel } from "../panel/index.js";

/** Loads the code of the panel. */
export const loadPanel = () => importAgain(() => import("../panel/index.js"));
