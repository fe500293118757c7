import { basename } from "node:path";
import { UserError } from "../user-error.mjs";

/**
 * @typedef {object} Question
 * @property {string} option its name on the command line
 * @property {string} text
 * @property {(context: { folder: string }) => string | undefined} [initial] the answer of a user who only presses Enter
 * @property {(answer: string) => string} parse returns the answer in its normal form; throws a UserError
 */

/** @type {readonly Question[]} */
export const QUESTIONS = [
  {
    option: "supabase-url",
    text: "URL of your Supabase project (https://YOUR-REF.supabase.co)",
    parse: parseProjectUrl,
  },
  {
    option: "supabase-key",
    text: "Its publishable key (sb_publishable_…, under Project Settings → API Keys)",
    parse: parseKey,
  },
  {
    option: "origin",
    text: "Pages that may use the chat, comma-separated (https://www.example.com)",
    parse: parseOrigins,
  },
  {
    option: "name",
    text: "Name of the Worker",
    initial: ({ folder }) => slug(basename(folder)),
    parse: parseName,
  },
  {
    option: "visitors",
    text: 'Who may ask: "accounts" (users who sign in on your site) or "anonymous" (everyone)',
    initial: () => "accounts",
    parse: parseVisitors,
  },
  { option: "documents", text: "Folder of documents", initial: () => "documents", parse: parseDocuments },
];

function parseProjectUrl(text) {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isLocal = url?.protocol === "http:" && ["127.0.0.1", "localhost"].includes(url.hostname);
  if (!url || !(url.protocol === "https:" || isLocal) || url.username || url.search || url.hash) {
    throw new UserError("the URL must be like https://YOUR-REF.supabase.co");
  }
  if (!/^\/*$/.test(url.pathname)) throw new UserError("the URL must have no path: https://YOUR-REF.supabase.co");
  return url.origin;
}

/** Messages never repeat the key: it may be the secret one. */
function parseKey(text) {
  if (text.startsWith("sb_secret_")) {
    throw new UserError(
      "this is the secret key: never put it into a page or a command line; the publishable key is needed",
    );
  }
  if (/^sb_publishable_[\w-]{8,200}$/.test(text)) return text;
  const role = roleOf(text);
  if (role === "anon") return text;
  if (role !== undefined)
    throw new UserError(`this is the key of the role ${role}: the publishable or "anon" key is needed`);
  throw new UserError("this is not a publishable key: it starts with sb_publishable_");
}

/** The role in a key of the old kind, a JSON Web Token. */
function roleOf(text) {
  const [, claims] = /^[\w-]+\.([\w-]+)\.[\w-]+$/.exec(text) ?? [];
  try {
    const { role } = JSON.parse(Buffer.from(claims ?? "", "base64url").toString());
    return /^\w{1,40}$/.test(role) ? role : undefined;
  } catch {
    return undefined;
  }
}

function parseOrigins(text) {
  const origins = text.split(",").map((origin) => origin.trim().replace(/\/+$/, ""));
  for (const origin of origins) {
    if (!/^https?:\/\/(\*\.)?[a-z0-9.-]+(:\d{1,5})?$/i.test(origin)) {
      throw new UserError(`"${origin}" must be an origin such as https://www.example.com or https://*.example.com`);
    }
  }
  return origins.join(",");
}

function parseName(text) {
  if (/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(text)) return text;
  throw new UserError("the name must have 1 to 63 lower-case letters, digits and hyphens, and no hyphen at its ends");
}

function slug(text) {
  const name = text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 63)
    .replace(/-+$/, "");
  return name || "evidence-chat";
}

function parseVisitors(text) {
  if (text === "accounts" || text === "anonymous") return text;
  throw new UserError('the answer must be "accounts" or "anonymous"');
}

/** Folders of the project that have no documents. */
const OWN_FOLDERS = ["node_modules", "supabase", ".evidence-chat", ".git"];

function parseDocuments(text) {
  // The separator of Windows, which package.json and other systems do not understand.
  const path = text.replaceAll("\\", "/");
  const [first = ""] = path.replace(/^(\.\/+)+/, "").split("/");
  if (OWN_FOLDERS.includes(first) || (/^[./]+$/.test(path) && !path.includes(".."))) {
    throw new UserError("the folder must not be one of the project's own: choose another one in it, or ../FOLDER");
  }
  // It becomes part of a script of package.json.
  if (/^[\p{L}\p{N}_.][\p{L}\p{M}\p{N}_./ -]*$/u.test(path)) return path;
  throw new UserError("the folder must be a relative path of letters, digits, spaces and ./_-");
}
