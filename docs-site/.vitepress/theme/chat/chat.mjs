// Widgets of the site: connected to a chat server if the site has one, otherwise to the stand-in in the page.
import { withBase } from "vitepress";
import { STAND_IN_PATH } from "./stand-in-path.mjs";

/**
 * What `chat.json` says: an empty object means that the site has no chat server.
 * @typedef {object} ChatServer
 * @property {string} [endpoint] URL of POST /api/chat
 * @property {string} [supabaseUrl]
 * @property {string} [publishableKey]
 * @property {{ email: string, password: string }} [login] of the local stack's test user; without it, visitors are signed in
 *   anonymously
 */

/** @type {Promise<ChatServer> | undefined} */
let reading;
let loading;

/**
 * A new widget, not yet in the page.
 * @param {Readonly<Record<string, string>>} attributes
 * @param {{ isStandIn?: boolean }} [options] `isStandIn`: never asks a server
 */
export async function createChat(attributes, { isStandIn = false } = {}) {
  const [server] = await Promise.all([chatServer(), loadWidget()]);
  const chat = document.createElement("evidence-chat");
  if (server.endpoint && !isStandIn) {
    chat.endpoint = server.endpoint;
    if (server.login) {
      const { tokenProviderFor } = await import("./sign-in.mjs");
      chat.tokenProvider = tokenProviderFor(server);
    } else if (server.supabaseUrl) {
      // Visitors need no account.
      chat.setAttribute("supabase-url", server.supabaseUrl);
      chat.setAttribute("supabase-key", server.publishableKey ?? "");
    }
  } else {
    const { standIn } = await import("./stand-in.mjs");
    Object.assign(chat, standIn(new URL(withBase("/"), location.href)));
  }
  for (const [name, value] of Object.entries(attributes)) chat.setAttribute(name, value);
  return chat;
}

/** Whether the widget asks the stand-in instead of a server. */
export function isStandIn(/** @type {{ endpoint: string }} */ chat) {
  return chat.endpoint === new URL(STAND_IN_PATH, new URL(withBase("/"), location.href)).href;
}

function chatServer() {
  reading ??= fetch(withBase("/chat.json")).then((response) => response.json());
  return reading;
}

/** The launcher is loaded as a site loads it: a file next to its chunks. */
function loadWidget() {
  const address = new URL(withBase("/widget/evidence-chat.js"), location.href).href;
  loading ??= import(/* @vite-ignore */ address);
  return loading;
}
