// Checks responses against docs/openapi.yaml.
import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { parse } from "yaml";

/** The parsed API description. Each response has the headers that every response has, too. */
export const description = parse(readFileSync(new URL("../../../docs/openapi.yaml", import.meta.url), "utf8"));
for (const response of Object.values(description.components.responses)) {
  response.headers = { ...description["x-response-headers"], ...response.headers };
}

const UUID = "[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}";

const ajv = new Ajv2020({ strict: true, strictTypes: false, strictRequired: false, allowUnionTypes: true });
addFormats.default(ajv);
// Stricter than ajv-formats, which also accepts urn:uuid:.
ajv.addFormat("uuid", new RegExp(`^${UUID}$`));
// References point into the whole document, so ajv gets it as a schema; its other keywords are declared.
ajv.addVocabulary(["discriminator", ...Object.keys(description)]);
ajv.addSchema(description, "openapi", false, false);

const validators = new Map();
const routes = Object.entries(description.paths).map(([template, { parameters, ...methods }]) => ({
  template,
  pattern: new RegExp(`^${template.replaceAll(/\{\w+\}/g, UUID)}$`),
  operations: new Map(Object.entries(methods).map(([method, operation]) => [method.toUpperCase(), operation])),
}));
const EVENT_SCHEMAS = description.components.schemas.ChatEvent.discriminator.mapping;
/** The valid orders of events: an answer, a refusal, or an error after part of an answer; while a model writes, after progress. */
const EVENT_ORDER =
  /^(progress )?(answer_start( answer_delta)+ sources answer_end|refusal|(answer_start( answer_delta)*( sources)? )?error)$/;
const RATE_LIMIT = ["RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"];

/**
 * Throws an error that names the first deviation of a response from the API description.
 * @param {object} exchange
 * @param {string} exchange.method
 * @param {string} exchange.path as sent, including the query
 * @param {number} exchange.status
 * @param {Headers | Record<string, string>} exchange.headers
 * @param {string} exchange.text the body
 */
export function assertDescribed({ method, path, status, headers, text }) {
  try {
    const response = responseFor(method, pathOf(path), status);
    const received = new Headers(headers);
    checkHeaders(response, received);
    checkBody(response, received, text, method === "HEAD");
  } catch (error) {
    throw new Error(
      `${method} ${path} → ${status} is not as docs/openapi.yaml says: ${/** @type {Error} */ (error).message}`,
      {
        cause: error,
      },
    );
  }
}

/** Throws unless the value fits the schema at a pointer such as `#/components/schemas/Question`. */
export function assertSchema(pointer, value, name = "the value") {
  const validate = validator(pointer);
  if (validate(value)) return;
  const faults = validate.errors.map(({ instancePath, message, params }) => {
    const extra = params.additionalProperty ?? params.unevaluatedProperty;
    return `${name}${instancePath} ${message}${extra === undefined ? "" : ` (${extra})`}`;
  });
  throw new Error(faults.join("; "));
}

/** Compiles a schema on first use. */
function validator(pointer) {
  if (!validators.has(pointer)) validators.set(pointer, ajv.compile({ $ref: `openapi${pointer}` }));
  return validators.get(pointer);
}

/** The path without query and with dot segments resolved. */
function pathOf(sent) {
  return URL.canParse(`http://host${sent}`) ? new URL(`http://host${sent}`).pathname : sent;
}

/** The JSON pointer of the described response. */
function responseFor(method, path, status) {
  const route = routes.find(({ pattern }) => pattern.test(path));
  if (!route) return only(404, status, "#/x-unknown-path", "the path is not described");
  const operation = route.operations.get(method);
  if (!operation) return only(405, status, "#/x-unknown-method", "the path has no such method");
  if (!operation.responses[status]) throw new Error(`described are ${Object.keys(operation.responses).join(", ")}`);
  return follow(pointer("paths", route.template, method.toLowerCase(), "responses", String(status)));
}

function only(expected, status, place, reason) {
  if (status !== expected) throw new Error(`${reason}, so the status has to be ${expected}`);
  return follow(place);
}

function checkHeaders(response, received) {
  const described = response.value.headers;
  for (const name of Object.keys(described)) {
    const header = follow(`${response.pointer}/headers/${name}`);
    if (received.has(name)) assertHeader(name, header, received);
    else if (header.value.required) throw new Error(`the header ${name} is missing`);
  }
  // Optional headers.
  for (const name of Object.keys(description.components.headers)) {
    if (described[name] || !received.has(name)) continue;
    assertHeader(name, follow(pointer("components", "headers", name)), received);
  }
  const present = RATE_LIMIT.filter((name) => received.has(name));
  if (present.length % RATE_LIMIT.length !== 0)
    throw new Error(`of ${RATE_LIMIT.join(", ")} it has only ${present.join()}`);
  if (Number(received.get("ratelimit-remaining")) > Number(received.get("ratelimit-limit"))) {
    throw new Error("RateLimit-Remaining is more than RateLimit-Limit");
  }
}

function assertHeader(name, header, received) {
  const text = received.get(name);
  const isNumber = header.value.schema.type === "integer" && /^\d+$/.test(text);
  assertSchema(`${header.pointer}/schema`, isNumber ? Number(text) : text, `the header ${name}`);
}

function checkBody(response, received, text, isHead) {
  const { content } = response.value;
  const mediaType = received.get("content-type")?.split(";")[0].trim().toLowerCase();
  if (content && !Object.hasOwn(content, mediaType)) throw new Error(`the content type ${mediaType} is not described`);
  if (isHead || !content) {
    if (text !== "") throw new Error("there is a body where none may be");
    return;
  }
  if (mediaType === "text/event-stream") return checkStream(text);
  if (mediaType !== "application/json") return;
  const body = parseJson(text, "the body");
  assertSchema(`${response.pointer}/content/application~1json/schema`, body, "body");
  if (body.request_id && body.request_id !== received.get("x-request-id")) {
    throw new Error("request_id is not the header X-Request-Id");
  }
  for (const answer of [body, ...(body.messages ?? [])]) checkCitations(answer);
}

function checkStream(text) {
  const events = parseStream(text);
  for (const { name, data } of events) {
    if (!EVENT_SCHEMAS[name]) throw new Error(`there is no event ${name}`);
    assertSchema(EVENT_SCHEMAS[name], data, name);
    checkCitations(data);
  }
  const order = events.map(({ name }) => name).join(" ");
  if (!EVENT_ORDER.test(order)) throw new Error(`the order of events is wrong: ${order || "none"}`);
}

/** The events of a stream without its comments. Throws if the framing is invalid. */
function parseStream(text) {
  if (text !== "" && !text.endsWith("\n\n")) throw new Error("the stream ends within an event");
  const blocks = text.split("\n\n").slice(0, -1);
  return blocks.flatMap((block) => {
    if (/^:[^\n]*$/.test(block)) return [];
    const match = /^event: (\w+)\ndata: ([^\n]*)$/.exec(block);
    if (!match) throw new Error(`this is no event: ${JSON.stringify(block.slice(0, 80))}`);
    const [, name, data] = match;
    return [{ name, data: parseJson(data, name) }];
  });
}

/** Checks what a schema cannot express: quotes and supports match their offsets, and markers have a citation. */
function checkCitations({ citations, referenced_indices: referenced = [] }) {
  if (!Array.isArray(citations)) return;
  for (const { excerpt, quotes, supports = [] } of citations) {
    for (const { start, end, text } of [...quotes, ...supports]) {
      if (excerpt.slice(start, end) !== text) throw new Error(`the quote from ${start} to ${end} is not ${text}`);
    }
  }
  const missing = referenced.filter((index) => !citations.some((citation) => citation.index === index));
  if (missing.length > 0) throw new Error(`referenced_indices names ${missing.join()}, which no citation has`);
}

function parseJson(text, name) {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`${name} is not JSON: ${JSON.stringify(text.slice(0, 80))}`);
  }
}

function pointer(...steps) {
  return `#/${steps.map((step) => step.replaceAll("~", "~0").replaceAll("/", "~1")).join("/")}`;
}

/** The value at a JSON pointer, with references resolved. */
function follow(place) {
  const steps = place.slice(2).split("/");
  const value = steps.reduce((node, step) => node[step.replaceAll("~1", "/").replaceAll("~0", "~")], description);
  return value.$ref ? follow(value.$ref) : { pointer: place, value };
}
