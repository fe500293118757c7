/** A cosine similarity in words. */
export interface ScoreBand {
  readonly name: "strong" | "good" | "fair";
  readonly label: string;
}

/**
 * Bands that divide the range above 0.35, the threshold below which no passage is used. They are words for orientation;
 * the number stands beside them.
 */
export function scoreBand(score: number): ScoreBand {
  if (score >= 0.6) return { name: "strong", label: "Strong match" };
  if (score >= 0.45) return { name: "good", label: "Good match" };
  return { name: "fair", label: "Fair match" };
}
