import { stepList } from "./templates.mjs";

/**
 * What the user does next.
 * @param {string} folder relative to the current one
 * @param {Record<string, string>} answers
 */
export function steps(folder, answers) {
  const list = stepList(answers).replaceAll("`", "");
  return `Nothing has been sent anywhere yet. Next, in ${folder} (also in its README.md):\n\n${list}`;
}
