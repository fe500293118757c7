import { EmbedderError } from "@evidence-chat/embedder";
import { ChatError } from "@evidence-chat/widget/client";
import { UserError } from "./user-error.mjs";

/** @import { CallToolResult } from "@modelcontextprotocol/sdk/types.js" */

/**
 * Advice for the agent, or its user, by error code. The message of the API says what happened.
 * @type {Readonly<Record<string, string>>}
 */
const ADVICE = {
  unauthorized:
    "Get a new access token. The file of EVIDENCE_CHAT_TOKEN_FILE is read again for each request; for a new EVIDENCE_CHAT_TOKEN restart this MCP server.",
  forbidden: "Tell the owner of the site if the user of the access token should have access.",
  unknown_assistant: "Check EVIDENCE_CHAT_ASSISTANT, and that the user of the access token may use this assistant.",
  not_found: "Call the tool again without session_id.",
  model_mismatch: "Install the version of @evidence-chat/mcp that the site was set up with.",
  connection_lost: "Check EVIDENCE_CHAT_URL and the network, then call the tool again.",
  invalid_response: "Check that EVIDENCE_CHAT_URL is the address of a Worker of Evidence Chat.",
  internal: "Call the tool again later.",
  upstream_unavailable: "Call the tool again later.",
  upstream_timeout: "Call the tool again later.",
};

/** Name of the error's fields in `_meta` of a result. */
const ERROR_META = "evidence-chat/error";

/**
 * The result of a call that failed. Its text begins with the code; `_meta` has the fields for programs.
 * @param {unknown} error
 * @returns {CallToolResult}
 */
export function errorResult(error) {
  const { code, message, retryable, retryAfterSeconds, requestId } = describe(error);
  const wait = retryAfterSeconds === undefined ? [] : [`Wait ${retryAfterSeconds} seconds before the next call.`];
  const advice = error instanceof ChatError && !isOurs(error) ? (ADVICE[code] ?? []) : [];
  const id = requestId === undefined ? [] : [`Request id for support: ${requestId}`];
  return {
    isError: true,
    content: [{ type: "text", text: [`${code}: ${message}`, ...wait, ...[advice].flat(), ...id].join("\n") }],
    _meta: {
      [ERROR_META]: {
        code,
        message,
        retryable,
        ...(retryAfterSeconds !== undefined && { retry_after_seconds: retryAfterSeconds }),
        ...(requestId !== undefined && { request_id: requestId }),
      },
    },
  };
}

/**
 * @param {unknown} error
 * @returns {{ code: string, message: string, retryable: boolean, retryAfterSeconds?: number, requestId?: string }}
 */
function describe(error) {
  if (error instanceof EmbedderError) {
    const { code, message } = error;
    return { code: `embedder_${code}`, message, retryable: code === "network" || code === "timeout" };
  }
  if (!(error instanceof ChatError)) {
    const message = error instanceof UserError ? error.message : "The MCP server failed; its log has the reason.";
    return { code: error instanceof UserError ? "configuration" : "internal", message, retryable: false };
  }
  // The client knows only that there is no token; our own error says why.
  if (isOurs(error)) return describe(error.cause);
  const { code, message, retryable, retryAfterSeconds, requestId } = error;
  return { code, message: MESSAGES[error.reason ?? ""] ?? message, retryable, retryAfterSeconds, requestId };
}

/** Errors of the client that speak to visitors of a page. */
const MESSAGES = {
  expired: "The access token was rejected: it has expired, or it is of another project.",
};

/** Whether the error comes from the settings of this program. */
export function isOurs(/** @type {unknown} */ error) {
  return error instanceof ChatError && error.cause instanceof UserError;
}
