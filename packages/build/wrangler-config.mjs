/** What the repository's configuration has, and what a project with the installed packages needs instead. */
const REPLACEMENTS = [
  [
    /^# The Worker of Evidence Chat\. .*$/m,
    "# The Worker of Evidence Chat. Set the values below, then run `npx evidence-chat deploy`.",
  ],
  [/"edge-chat\/(?=build\/|assets")/g, '".evidence-chat/'],
  [/^\[build\]\n(?:\w.*\n)*\n?/m, ""],
  // A project has no copy of the guides.
  [/\bdocs\/(?=[\w-]+\.md\b)/g, "https://github.com/evidence-chat/evidence-chat/blob/main/docs/"],
];

/**
 * The configuration of a Worker that is already built.
 * @param {string} text wrangler.toml of the repository
 */
export function workerConfig(text) {
  for (const [pattern, replacement] of REPLACEMENTS) {
    if (text.search(pattern) < 0) throw new Error(`wrangler.toml has no ${pattern}`);
    text = text.replace(pattern, /** @type {string} */ (replacement));
  }
  return text;
}
