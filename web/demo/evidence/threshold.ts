/** The server's default threshold of cosine similarity (`CHAT_EVIDENCE_THRESHOLD`). */
export const THRESHOLD = 0.35;
