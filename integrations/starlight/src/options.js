const DEFAULT_SHORTCUT = "mod+k";

/**
 * The attributes of the element for options in camel case.
 * @param {Record<string, any>} options
 * @returns {Record<string, string>}
 */
export function attributesOf({ shortcut = DEFAULT_SHORTCUT, ...options }) {
  const attributes = Object.entries({ ...options, shortcut: shortcut || "off", mode: "floating" }).flatMap(
    ([name, value]) => {
      if (value === undefined || value === false) return [];
      return [[name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`), value === true ? "" : String(value)]];
    },
  );
  return Object.fromEntries(attributes);
}

/**
 * The shortcut as visitors know it, such as "⌘K"; "" if there is none.
 * @param {string | false | undefined} shortcut
 * @param {string} platform as in `navigator.platform`
 */
export function keysOf(shortcut = DEFAULT_SHORTCUT, platform) {
  const key = /^mod\+(.+)$/.exec(shortcut || "")?.[1];
  return key === undefined ? "" : `${/Mac|iP/.test(platform) ? "⌘" : "Ctrl "}${key.toUpperCase()}`;
}
