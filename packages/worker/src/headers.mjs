/** Files with a hash of their content in the name never change. */
const HASHED_NAME = /-([A-Z0-9]{8}|[0-9a-f]{8})\.[a-z.]+$/;

/**
 * The file `_headers` of the static assets: every page may load them, hashed names are cached for good, others are revalidated.
 * @param {readonly string[]} paths of all files, each with a leading slash
 */
export function headers(paths) {
  const rules = [
    [
      "/*",
      "  Access-Control-Allow-Origin: *",
      "  Cross-Origin-Resource-Policy: cross-origin",
      "  X-Content-Type-Options: nosniff",
      "  Cache-Control: public, max-age=0, must-revalidate",
    ],
    ...paths
      .filter((path) => HASHED_NAME.test(path))
      .map((path) => [path, "  ! Cache-Control", "  Cache-Control: public, max-age=31536000, immutable"]),
  ];
  return `${rules.map((lines) => lines.join("\n")).join("\n")}\n`;
}
