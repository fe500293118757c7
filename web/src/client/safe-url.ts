/**
 * The URL if it is absolute http or https; anything else (`javascript:`, `data:`, relative) is no link to follow, nor is
 * one that would hand a name and password to every reader.
 */
export function safeUrl(value: unknown): string | undefined {
  if (typeof value !== "string") return undefined;
  try {
    const url = new URL(value);
    const isWeb = url.protocol === "https:" || url.protocol === "http:";
    return isWeb && url.username === "" && url.password === "" ? url.href : undefined;
  } catch {
    return undefined;
  }
}
