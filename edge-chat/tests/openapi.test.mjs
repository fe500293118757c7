// docs/openapi.yaml is valid, its examples match it, and the checks of the tests find deviations.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Validator } from "@seriousme/openapi-schema-validator";
import { assertDescribed, assertSchema, description } from "./support/openapi.mjs";

const ID = "7c9e6679-7425-40de-944b-e07fc1f90ae7";
const { responses } = description.components;

const resolve = (node) =>
  node.$ref
    ? resolve(
        node.$ref
          .slice(2)
          .split("/")
          .reduce((at, step) => at[step], description),
      )
    : node;

/** The headers of a response's own example; `undefined` takes one away. */
function exampleHeaders(response, mediaType, changes = {}) {
  const described = Object.entries(response.headers).map(([name, header]) => {
    const { example, schema } = resolve(header);
    return [name, example ?? schema.const];
  });
  const all = { ...Object.fromEntries(described), ...(mediaType && { "Content-Type": mediaType }), ...changes };
  return Object.fromEntries(
    Object.entries(all)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [name, String(value)]),
  );
}

/** Every response of every operation, once for each of its example bodies. */
function examples() {
  const operations = Object.entries(description.paths).flatMap(([path, { parameters, ...methods }]) =>
    Object.entries(methods).map(([method, operation]) => ({
      path: path.replaceAll(/\{\w+\}/g, ID),
      method,
      operation,
    })),
  );
  return operations.flatMap(({ path, method, operation }) =>
    Object.entries(operation.responses).flatMap(([status, reference]) => {
      const response = resolve(reference);
      return bodies(response).map(({ mediaType, value }) => ({
        method: method.toUpperCase(),
        path,
        status: Number(status),
        headers: exampleHeaders(response, mediaType),
        text: method === "head" || value === undefined ? "" : typeof value === "string" ? value : JSON.stringify(value),
      }));
    }),
  );
}

/** @returns {{ mediaType?: string, value?: unknown }[]} */
function bodies({ content }) {
  if (!content) return [{}];
  return Object.entries(content).flatMap(([mediaType, { example, examples, schema }]) => {
    assert.ok(example || examples || !schema, `${mediaType} has an example`);
    const values = examples ? Object.values(examples).map(({ value }) => value) : [example];
    return values.map((value) => ({ mediaType, value }));
  });
}

const session = {
  id: ID,
  assistant: "default",
  title: "When?",
  created_at: "2026-11-22T09:15:27Z",
  updated_at: "2026-11-22T09:15:27Z",
};

/** A valid response of GET /api/sessions/{id}, with changes. */
function exchange(/** @type {Record<string, any>} */ { headers, body = session, ...changes } = {}) {
  return {
    method: "GET",
    path: `/api/sessions/${ID}`,
    status: 200,
    headers: exampleHeaders(responses.Session, "application/json", headers),
    text: JSON.stringify(body),
    ...changes,
  };
}

const stream = responses.Outcome.content["text/event-stream"].examples;
const events = stream.answer.value.split(/(?<=\n\n)/);
const [start, delta, sources, heartbeat, end] = events;

function chat(...blocks) {
  return {
    method: "POST",
    path: "/api/chat",
    status: 200,
    headers: exampleHeaders(responses.Outcome, "text/event-stream; charset=utf-8"),
    text: blocks.join(""),
  };
}

describe("API description", () => {
  test("the API description is valid OpenAPI 3.1", async () => {
    const validator = new Validator();
    const { valid, errors } = await validator.validate(structuredClone(description));
    assert.ok(valid, JSON.stringify(errors));
    assert.equal(validator.version, "3.1");
  });

  test("all examples match the API description", () => {
    const all = examples();
    assert.ok(all.length > 100, `${all.length} examples`);
    for (const example of all) assertDescribed(example);
  });

  test("every operation but HEAD and OPTIONS has a unique id", () => {
    const ids = Object.values(description.paths).flatMap(
      ({ parameters: _, head: _head, options: _options, ...methods }) =>
        Object.values(methods).map(({ operationId }) => operationId),
    );
    assert.ok(ids.every((id) => typeof id === "string" && id !== ""));
    assert.deepEqual(ids, [...new Set(ids)]);
  });

  test("the schema of questions accepts valid and rejects invalid ones", () => {
    const question = { embedding: Array(384).fill(0), message: "Why?", message_id: ID, model: "m" };
    const check = (changes) => assertSchema("#/components/schemas/Question", { ...question, ...changes });
    check({ session_id: null, include_citations: false, surprise: {} });
    check({ mode: "extractive" });
    check({ mode: null });
    for (const wrong of [
      { embedding: Array(383).fill(0) },
      { embedding: Array(384).fill("0") },
      { message: "" },
      { message: undefined },
      { message_id: "7" },
      { model: undefined },
      { model: null },
      { include_citations: "true" },
      { mode: "generated" },
    ]) {
      assert.throws(() => check(wrong), JSON.stringify(wrong));
    }
  });
});

describe("check of a response", () => {
  const fits = (changes) => assertDescribed(exchange(changes));
  const refused = (changes, message) => assert.throws(() => fits(changes), { message });

  test("a valid response passes", () => {
    fits();
    fits({ path: `/api/sessions/${ID}?x=1` });
    fits({ path: `/api/./sessions/x/../${ID.toUpperCase()}` });
    fits({ headers: { "Access-Control-Allow-Origin": undefined, "Access-Control-Expose-Headers": undefined } });
  });

  test("an undocumented status fails", () => {
    refused({ status: 201 }, /described are 200, 401/);
    refused({ status: 404 }, /body\/code|body must have required property 'code'/);
  });

  test("a missing or malformed header fails", () => {
    const all = Object.entries(responses.Session.headers);
    for (const [name] of all.filter(([, header]) => resolve(header).required)) {
      refused({ headers: { [name]: undefined } }, new RegExp(`header ${name} is missing`));
      refused({ headers: { [name]: "?" } }, new RegExp(`header ${name} must`));
    }
    refused({ headers: { "Cache-Control": "public, max-age=60" } }, /Cache-Control/);
    refused({ headers: { "Access-Control-Allow-Origin": "*" } }, /Access-Control-Allow-Origin/);
    refused({ headers: { "Retry-After": "soon" } }, /Retry-After/);
  });

  test("an undocumented content type fails", () => {
    refused({ headers: { "Content-Type": "text/html" } }, /text\/html/);
    refused({ headers: { "Content-Type": undefined } }, /undefined is not described/);
  });

  test("a body with a wrong field fails", () => {
    refused({ body: { ...session, user_id: ID } }, /user_id/);
    refused({ body: { ...session, title: "" } }, /title/);
    refused({ body: { ...session, created_at: "yesterday" } }, /created_at/);
    refused({ body: { ...session, id: "1" } }, /id must match format/);
    refused({ body: { ...session, title: undefined } }, /required property 'title'/);
    refused({ text: "{" }, /is not JSON/);
  });

  test("an unexpected body fails", () => {
    const deleted = { method: "DELETE", status: 204, headers: exampleHeaders(responses.Deleted), text: "" };
    fits(deleted);
    refused({ ...deleted, text: "{}" }, /a body/);
    const head = { method: "HEAD", path: "/api/health", text: "" };
    fits(head);
    refused({ ...head, text: '{"status":"ok"}' }, /a body/);
  });

  test("an unknown path must be 404 and an unknown method 405", () => {
    const error = (code, response, headers) => ({
      headers: exampleHeaders(response, "application/json", headers),
      text: JSON.stringify({ ...response.content["application/json"].example, code }),
    });
    const unknown = error("not_found", responses.UnknownPath);
    for (const path of [
      "/",
      "/api/sessions/",
      `/api/sessions/${ID}/`,
      "/api//health",
      "/api/sessions/a%2fb",
      "/api/chat%2f",
      "/api/sessions/1",
      `/api/sessions/urn:uuid:${ID}`,
      "/API/health",
      "//api/health",
    ]) {
      fits({ path, status: 404, ...unknown });
    }
    refused({ path: "/api/other" }, /has to be 404/);
    const other = error("invalid_request", responses.MethodNotAllowed);
    fits({ method: "PUT", status: 405, ...other });
    fits({ method: "PARAMETERS", status: 405, ...other });
    refused({ method: "PUT" }, /has to be 405/);
    refused(
      { method: "PUT", status: 405, ...error("invalid_request", responses.MethodNotAllowed, { Allow: undefined }) },
      /Allow/,
    );
  });

  test("an error must have the code of its status and the request id", () => {
    const response = responses.NotFound;
    const { example } = response.content["application/json"];
    const notFound = (changes) => ({
      status: 404,
      headers: exampleHeaders(response, "application/json"),
      text: JSON.stringify({ ...example, ...changes }),
    });
    fits(notFound({}));
    refused(notFound({ code: "conflict" }), /code/);
    refused(notFound({ retryable: true }), /retryable/);
    refused(notFound({ detail: "secret" }), /detail/);
    refused(notFound({ request_id: ID }), /request_id is not/);
  });

  test("a response must have all or none of the rate limit headers", () => {
    const response = responses.QuestionRateLimited;
    const limited = (changes) => ({
      method: "POST",
      path: "/api/chat",
      status: 429,
      headers: exampleHeaders(response, "application/json", changes),
      text: JSON.stringify(response.content["application/json"].example),
    });
    fits(limited({}));
    const all = { "RateLimit-Limit": "20", "RateLimit-Remaining": "0", "RateLimit-Reset": "12" };
    fits(limited(all));
    refused(limited({ ...all, "RateLimit-Reset": undefined }), /it has only/);
    refused(limited({ ...all, "RateLimit-Reset": "12.5" }), /RateLimit-Reset/);
    refused(limited({ ...all, "RateLimit-Remaining": "21" }), /more than/);
    refused(limited({ ...all, "Retry-After": undefined }), /Retry-After is missing/);
  });
});

describe("check of a stream", () => {
  const refused = (blocks, message) => assert.throws(() => assertDescribed(chat(...blocks)), { message });
  const data = (block, change) => {
    const match = /^(event: \w+\ndata: )(.*)\n\n$/.exec(block);
    const [, head, json] = /** @type {RegExpExecArray} */ (match);
    return `${head}${JSON.stringify(change(JSON.parse(json)))}\n\n`;
  };

  test("events must be in order and end with a terminal event", () => {
    assertDescribed(chat(start, delta, delta, sources, end));
    assertDescribed(chat(heartbeat, start, delta, heartbeat, sources, end));
    const [, error] = stream.fault.value.split(/(?<=\n\n)/);
    const refusal = stream.refusal.value;
    for (const opening of [[], [start], [start, delta], [start, delta, sources]]) {
      assertDescribed(chat(...opening, error));
      refused(opening, /the order of events is wrong/);
    }
    for (const blocks of [
      [start, sources, end],
      [delta, sources, end],
      [start, delta, end],
      [start, sources, delta, end],
      [start, start, delta, sources, end],
      [start, delta, sources, sources, end],
      [start, delta, sources, end, end],
      [start, delta, sources, end, error],
      [start, delta, sources, refusal],
      [refusal, error],
      [end],
    ]) {
      refused(blocks, /the order of events is wrong/);
    }
  });

  test("each frame must have two lines", () => {
    refused([start.trimEnd()], /ends within an event/);
    refused([start, delta, sources, end.slice(0, -1)], /ends within an event/);
    refused(["data: {}\n\n"], /this is no event/);
    refused(["event: answer_start\ndata: {}\ndata: {}\n\n"], /this is no event/);
    refused(["event: answer_start\nid: 1\ndata: {}\n\n"], /this is no event/);
    refused(["event: answer_start\ndata: {\n\n"], /is not JSON/);
    refused(["event: surprise\ndata: {}\n\n"], /no event surprise/);
  });

  test("an event with a wrong field fails", () => {
    const bent = (change) => [start, delta, data(sources, change), end];
    refused([data(start, (event) => ({ ...event, user_id: ID })), delta, sources, end], /user_id/);
    refused([data(start, (event) => ({ ...event, type: "answer_end" })), delta, sources, end], /type/);
    refused([start, data(delta, () => ({ type: "answer_delta" })), sources, end], /text/);
    refused(
      bent((event) => ({ ...event, citations: [{ ...event.citations[0], storage_path: "a" }] })),
      /storage_path/,
    );
    refused(
      bent((event) => ({ ...event, citations: [{ ...event.citations[0], url: "javascript:alert(1)" }] })),
      /url/,
    );
    refused(
      bent((event) => ({ ...event, citations: [{ ...event.citations[0], available: true }] })),
      /available/,
    );
  });

  test("citations must have quotes and also_found must not", () => {
    const bent = (change) => [start, delta, data(sources, change), end];
    const withCitation = (changes) => (event) => ({ ...event, citations: [{ ...event.citations[0], ...changes }] });
    const withFound = (changes) => (event) => ({ ...event, also_found: [{ ...event.also_found[0], ...changes }] });
    refused(bent(withCitation({ quotes: [] })), /quotes/);
    refused(bent(withFound({ index: 1 })), /index/);
    refused(bent(withFound({ quotes: [] })), /quotes/);
    refused(bent(withFound({ excerpt: undefined })), /excerpt/);
    refused(bent(withFound({ url: "javascript:alert(1)" })), /url/);
    refused(
      bent(({ also_found: _, ...event }) => event),
      /also_found/,
    );
    refused([data(start, ({ hedged: _, ...event }) => event), delta, sources, end], /hedged/);
    const nearest = (change) => [
      data(stream.refusal.value, (event) => ({ ...event, nearest: event.nearest.map(change) })),
    ];
    refused(
      nearest((passage) => ({ ...passage, excerpt: "All of it." })),
      /excerpt/,
    );
    refused(
      nearest(({ title }) => title),
      /nearest/,
    );
  });

  test("a generated answer has progress and supports", () => {
    const [progress, first, text, cited, last] = stream.generated.value.split(/(?<=\n\n)/);
    assertDescribed(chat(progress, first, text, text, cited, last));
    assertDescribed(chat(first, text, cited, last));
    assertDescribed(chat(progress, stream.refusal.value));
    for (const blocks of [
      [progress, progress, first, text, cited, last],
      [first, progress, text, cited, last],
      [progress],
    ]) {
      refused(blocks, /the order of events is wrong/);
    }
    const withSupport = (support) => (event) => ({
      ...event,
      citations: [{ ...event.citations[0], supports: [support] }],
    });
    const supported = (change) => [first, text, data(cited, change), last];
    const support = { start: 0, end: 31, text: "Refunds are paid within 5 days.", sentence: 0 };
    assertDescribed(chat(...supported(withSupport(support))));
    refused(supported(withSupport({ ...support, start: 12 })), /the quote from 12 to 31/);
    refused(supported(withSupport({ ...support, sentence: undefined })), /sentence/);
    refused(
      supported((event) => ({ ...event, citations: [{ ...event.citations[0], supports: undefined }] })),
      /supports/,
    );
    const reported = (change) => [
      first,
      text,
      cited,
      data(last, (event) => ({ ...event, generation: { ...event.generation, ...change } })),
    ];
    refused(reported({ fallback: "timeout" }), /sentences/);
    refused(reported({ fallback: "tired", sentences: 0 }), /fallback/);
    refused(reported({ dropped: { boredom: 1 } }), /dropped/);
  });

  test("quotes must match the passage and markers must have a citation", () => {
    const bent = (change) => [start, delta, data(sources, change), end];
    const quote = { start: 0, end: 3, text: "Fee", kind: "sentence", pieces: [{ text: "Fee" }] };
    refused(
      bent((event) => ({ ...event, citations: [{ ...event.citations[0], quotes: [quote] }] })),
      /the quote from 0 to 3/,
    );
    refused(
      bent((event) => ({ ...event, referenced_indices: [2] })),
      /which no citation has/,
    );
  });

  test("a refusal must have a session id only if persisted", () => {
    const refusal = (change) => [data(stream.refusal.value, change)];
    assertDescribed(chat(...refusal(({ session_id, ...event }) => ({ ...event, persisted: false }))));
    refused(
      refusal((event) => ({ ...event, persisted: false })),
      /session_id/,
    );
    refused(
      refusal(({ session_id, ...event }) => event),
      /session_id/,
    );
  });
});

test("a citation of an unavailable document must not have a link", () => {
  const { example } = responses.Messages.content["application/json"];
  const messages = (changes) => {
    const page = structuredClone(example);
    Object.assign(page.messages[1].citations[0], changes);
    return {
      method: "GET",
      path: `/api/sessions/${ID}/messages`,
      status: 200,
      headers: exampleHeaders(responses.Messages, "application/json"),
      text: JSON.stringify(page),
    };
  };
  const link = { download_url: `https://chat.example.com/api/documents/${ID}/download` };
  assertDescribed(messages({ available: true, ...link }));
  assert.throws(() => assertDescribed(messages({ available: false, ...link })), {
    message: /citations\/0 must NOT be valid/,
  });
  assert.throws(() => assertDescribed(messages({ available: undefined })), { message: /available/ });
});
