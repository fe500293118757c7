// Writes the HTML that a site copies, from what was chosen in the playground.

/**
 * @typedef {object} Choices every field may be empty: then the default applies and nothing is written
 * @property {string} server address of the chat's Worker: https://chat.example.com
 * @property {"server" | "site"} files who serves the widget's files
 * @property {"inline" | "floating"} mode
 * @property {"start" | "end"} position
 * @property {boolean} hasShortcut whether ⌘K, Ctrl+K and the slash open it
 * @property {"auto" | "light" | "dark"} theme
 * @property {string} lang
 * @property {string} heading
 * @property {string} greeting
 * @property {string} supportUrl
 * @property {string} assistant
 * @property {"token" | "anonymous"} signIn
 * @property {string} supabaseUrl
 * @property {string} supabaseKey
 * @property {string} turnstileSiteKey
 * @property {string} accent a colour as #rrggbb
 * @property {string} radius pixels
 */

/** @type {Choices} */
export const DEFAULTS = {
  server: "https://chat.example.com",
  files: "server",
  mode: "floating",
  position: "end",
  hasShortcut: true,
  theme: "auto",
  lang: "",
  heading: "",
  greeting: "",
  supportUrl: "",
  assistant: "",
  signIn: "anonymous",
  supabaseUrl: "",
  supabaseKey: "",
  turnstileSiteKey: "",
  accent: "",
  radius: "",
};

const OWN_FILES = "/evidence-chat/evidence-chat.js";

/** The attributes of the element, those with default values left out. */
export function attributesOf(/** @type {Choices} */ choices) {
  const { mode, position, theme, lang, heading, greeting, supportUrl, assistant } = choices;
  const isAnonymous = choices.signIn === "anonymous";
  const attributes = {
    mode: mode === "floating" ? mode : "",
    position: mode === "floating" && position === "start" ? position : "",
    shortcut: choices.hasShortcut ? "" : "off",
    endpoint: choices.files === "site" ? `${withoutSlash(choices.server)}/api/chat` : "",
    assistant: assistant.trim(),
    "supabase-url": isAnonymous ? choices.supabaseUrl.trim() : "",
    "supabase-key": isAnonymous ? choices.supabaseKey.trim() : "",
    "turnstile-site-key": isAnonymous ? choices.turnstileSiteKey.trim() : "",
    lang,
    theme: theme === "auto" ? "" : theme,
    heading,
    greeting,
    "support-url": supportUrl.trim(),
  };
  return Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== ""));
}

/** The custom properties of the element that were chosen. */
export function propertiesOf(/** @type {Choices} */ { accent, radius }) {
  const properties = {};
  if (/^#[\da-f]{6}$/i.test(accent)) properties["--evidence-chat-accent"] = accent;
  if (/^\d{1,2}$/.test(radius)) properties["--evidence-chat-radius"] = `${Number(radius)}px`;
  return properties;
}

/** The HTML for a page. */
export function writeTag(/** @type {Choices} */ choices) {
  const source = choices.files === "site" ? OWN_FILES : `${withoutSlash(choices.server)}/evidence-chat.js`;
  const lines = [`<script type="module" src="${escaped(source)}"></script>`, element(attributesOf(choices))];
  const properties = Object.entries(propertiesOf(choices)).map(([name, value]) => `  ${name}: ${value};`);
  if (properties.length > 0) lines.push("<style>", "evidence-chat {", ...properties, "}", "</style>");
  if (choices.signIn === "token") lines.push(...TOKEN_PROVIDER);
  return lines.join("\n");
}

/** On one line if it is short. */
function element(attributes) {
  const written = Object.entries(attributes).map(([name, value]) => `${name}="${escaped(value)}"`);
  const line = `<evidence-chat${written.map((text) => ` ${text}`).join("")}></evidence-chat>`;
  return line.length <= 90 ? line : `<evidence-chat\n${written.map((text) => `  ${text}\n`).join("")}></evidence-chat>`;
}

const TOKEN_PROVIDER = [
  `<script type="module">`,
  `  const chat = document.querySelector("evidence-chat");`,
  `  // The access token of your signed-in user, or null; supabase is the client of your site`,
  `  chat.tokenProvider = async () => (await supabase.auth.getSession()).data.session?.access_token ?? null;`,
  `</script>`,
];

/** For an attribute in double quotes, and for text. */
const escaped = (/** @type {string} */ text) =>
  text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

const withoutSlash = (/** @type {string} */ address) => address.trim().replace(/\/+$/, "");

/** The contrast of white text on a colour: 4.5 and more is readable (WCAG 2, relative luminance). */
export function contrastWithWhite(/** @type {string} */ accent) {
  const channels = [1, 3, 5].map((at) => Number.parseInt(accent.slice(at, at + 2), 16) / 255);
  const [red, green, blue] = channels.map((value) =>
    value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4,
  );
  return 1.05 / (0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05);
}
