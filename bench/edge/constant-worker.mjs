// A Worker that makes the same calls as the real one, with the same JavaScript objects, and answers with a constant, to measure
// what the runtime alone needs for them. It has the bindings of the real Worker.
import { DurableObject, WorkerEntrypoint } from "cloudflare:workers";

const EVENTS =
  'event: answer_end\ndata: {"type":"answer_end","message_id":"9b2d6f4e-5d2c-4f0a-8a57-2f0c4a1f1c55","persisted":true}\n\n';
/** About the size of an outcome. */
const OUTCOME = JSON.stringify("x".repeat(4000));

export class UserGate extends DurableObject {
  constructor(context, env) {
    super(context, env);
    this.sql = context.storage.sql;
    this.sql.exec(
      "CREATE TABLE IF NOT EXISTS questions (message_id TEXT PRIMARY KEY, started_ms INTEGER, outcome TEXT)",
    );
  }

  async fetch(request) {
    const { message_id: id, outcome } = await request.json();
    if (outcome) this.sql.exec("UPDATE questions SET outcome = ? WHERE message_id = ?", outcome, id);
    else this.sql.exec("INSERT INTO questions (message_id, started_ms) VALUES (?, ?)", id, Date.now());
    return Response.json({});
  }
}

export default class extends WorkerEntrypoint {
  /** @override */
  async fetch(request) {
    const token = request.headers.get("authorization");
    const { message_id: id, message, embedding } = await request.json();
    const { sub: user } = JSON.parse(atob(token.split(".")[1].replaceAll("-", "+").replaceAll("_", "/")));
    await this.env.REQUEST_LIMIT.limit({ key: user });
    const gate = this.env.USER_GATE.getByName(user);
    const callGate = async (body) => {
      const reply = await gate.fetch(new Request("http://user-gate/", { method: "POST", body: JSON.stringify(body) }));
      await reply.text();
    };
    await callGate({ message_id: id });
    await this.#call("match_chunks", token, { query_text: message, query_embedding: JSON.stringify(embedding) });
    await this.#call("chat_record_turn", token, { turn: { question: message, citations: OUTCOME } });
    await callGate({ message_id: id, outcome: OUTCOME });
    return new Response(EVENTS, { headers: { "content-type": "text/event-stream; charset=utf-8" } });
  }

  async #call(name, token, parameters) {
    const controller = new AbortController();
    const request = new Request(`${this.env.SUPABASE_URL}/rest/v1/rpc/${name}`, {
      method: "POST",
      headers: { authorization: token, "content-type": "application/json" },
      body: JSON.stringify(parameters),
      redirect: "manual",
    });
    const response = await fetch(request, { signal: controller.signal });
    return response.text();
  }
}
