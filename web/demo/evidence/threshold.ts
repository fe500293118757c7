/** The cosine that a passage must reach, unless the server is told otherwise (`CHAT_EVIDENCE_THRESHOLD`). */
export const THRESHOLD = 0.35;
