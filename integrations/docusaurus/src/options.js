/** The options that are not attributes of the element. */
const OWN = ["label", "setup", "shortcut"];

/**
 * Checks the options of the plugin and gives them their defaults.
 * @param {Record<string, any>} options
 */
export function readOptions({ id: _, ...given }) {
  const { label = "Ask", setup, shortcut = "mod+k", ...rest } = given;
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined) continue;
    const isRight = name === "shortcut" ? value === false || typeof value === "string" : typeof value === "string";
    if (!isRight && (OWN.includes(name) || typeof value !== "boolean"))
      throw new TypeError(`@evidence-chat/docusaurus: ${name} must be a text, not ${JSON.stringify(value)}`);
  }
  const attributes = Object.entries({ ...rest, shortcut: shortcut || "off" }).flatMap(([name, value]) => {
    if (value === undefined || value === false) return [];
    return [[name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`), value === true ? "" : value]];
  });
  return { label, setup, shortcut, attributes: Object.fromEntries(attributes) };
}
