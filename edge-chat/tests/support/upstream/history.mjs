// The tables of the history in memory. As under Row Level Security, each user sees only their own rows.
import { project, query } from "./postgrest.mjs";

const EARLIEST_MICROSECONDS = Date.UTC(2026, 0, 1) * 1000;

/** The fields of a turn, which the Worker sends all. `chat_record_turn` knows no others. */
const TURN = [
  "answer",
  "answer_id",
  "assistant",
  "citations",
  "cut",
  "hedged",
  "latency_ms",
  "mode",
  "question",
  "question_id",
  "refusal",
  "searched",
  "session_id",
  "sources",
  "title",
  "truncated",
];

/** Sessions and messages of all users. */
export function createHistory() {
  const sessions = [];
  const messages = [];
  const refusals = [];
  const citationUses = [];
  /** Ids of deleted sessions, which cannot be created again. */
  const deleted = new Set();
  let clock = 0;

  /** A strictly increasing time with microseconds, in the format of Postgres. */
  const now = () => {
    clock += 1;
    const micros = EARLIEST_MICROSECONDS + clock;
    const fraction = String(micros % 1_000_000).padStart(6, "0");
    return `${new Date(Math.floor(micros / 1000)).toISOString().slice(0, 19)}.${fraction}+00:00`;
  };

  const ownSessions = (user) => sessions.filter((row) => row.user_id === user);
  const ownMessages = (user) => {
    const ids = new Set(ownSessions(user).map((row) => row.id));
    return messages.filter((row) => ids.has(row.session_id));
  };

  /** Adds a session for a test. */
  function addSession(user, fields = {}) {
    const time = now();
    const row = {
      id: crypto.randomUUID(),
      user_id: user,
      assistant: "default",
      title: "When are refunds paid?",
      created_at: time,
      updated_at: time,
      ...fields,
    };
    sessions.push(row);
    return row;
  }

  /** Adds a message for a test. */
  function addMessage(session, fields = {}) {
    const row = {
      id: crypto.randomUUID(),
      session_id: session.id,
      role: "user",
      content: "When are refunds paid?",
      citations: [],
      refusal: null,
      hedged: false,
      mode: "extractive",
      cut: false,
      searched: null,
      truncated: false,
      sources: [],
      latency_ms: null,
      feedback_rating: null,
      feedback_reason: null,
      feedback_comment: null,
      feedback_at: null,
      created_at: now(),
      ...fields,
    };
    messages.push(row);
    return row;
  }

  function recordTurn({ user, body: { turn } }) {
    if (Object.keys(turn).sort().join() !== TURN.join()) {
      return { status: 400, body: { code: "22023", message: "turn has an unknown field" } };
    }
    let session = sessions.find((row) => row.id === turn.session_id);
    if (!session && turn.title !== null && !deleted.has(turn.session_id))
      session = addSession(user, { id: turn.session_id, assistant: turn.assistant, title: turn.title });
    if (session?.user_id !== user || session.assistant !== turn.assistant) {
      return { status: 403, body: { code: "42501", message: "new row violates row-level security policy" } };
    }
    const written = [
      { id: turn.question_id, role: "user", content: turn.question, citations: [] },
      {
        id: turn.answer_id,
        role: "assistant",
        content: turn.answer,
        citations: turn.citations,
        refusal: turn.refusal,
        hedged: turn.hedged,
        mode: turn.mode,
        cut: turn.cut,
        searched: turn.searched,
        truncated: turn.truncated,
        sources: turn.sources,
        latency_ms: turn.latency_ms,
      },
    ];
    for (const message of written) {
      const known = messages.some((row) => row.session_id === session.id && row.id === message.id);
      if (!known) session.updated_at = addMessage(session, message).created_at;
    }
    return { status: 204 };
  }

  function sessionsTable(call) {
    const found = query(ownSessions(call.user), call.search);
    if (call.method === "PATCH") {
      for (const row of found) Object.assign(row, call.body, { updated_at: now() });
    }
    if (call.method === "DELETE") {
      for (const row of found) deleteSession(row);
    }
    return answerWith(call, found);
  }

  function deleteSession(row) {
    deleted.add(row.id);
    sessions.splice(sessions.indexOf(row), 1);
  }

  /** Adds a refused question for a test. */
  function addRefusal(user, fields = {}) {
    const row = {
      id: crypto.randomUUID(),
      user_id: user,
      session_id: null,
      assistant: "default",
      question: "Who are you?",
      reason: "no_match",
      best_score: 0.2,
      created_at: now(),
      ...fields,
    };
    refusals.push(row);
    return row;
  }

  function recordRefusal({ user, body: { embedding, ...fields } }) {
    if (!refusals.some(({ id }) => id === fields.id)) addRefusal(user, fields);
    return { status: 204 };
  }

  function refusalsTable({ user, search, method }) {
    if (method !== "GET" || search.has("user_id")) return { status: 403, body: { code: "42501" } };
    return { body: project(query(refusalsOf(user), search), search) };
  }

  function countCitationUse({ body }) {
    citationUses.push(body);
    return { status: 204 };
  }

  const refusalsOf = (user) => refusals.filter((row) => row.user_id === user);

  function giveFeedback({ user, body: { session_id, message_id, rating, reason, comment } }) {
    const isAnswer = (row) => row.role === "assistant" && row.refusal === null;
    const answer = ownMessages(user).find(
      (row) => row.session_id === session_id && row.id === message_id && isAnswer(row),
    );
    if (!answer) return { body: false };
    const feedback_at = rating ? now() : null;
    Object.assign(answer, { feedback_rating: rating, feedback_reason: reason, feedback_comment: comment, feedback_at });
    return { body: true };
  }

  function deleteUserData({ user }) {
    for (const row of ownSessions(user)) deleteSession(row);
    for (const row of refusalsOf(user)) refusals.splice(refusals.indexOf(row), 1);
    return { status: 204 };
  }

  const messagesTable = (call) => answerWith(call, query(ownMessages(call.user), call.search));

  return {
    addSession,
    addMessage,
    addRefusal,
    sessionsOf: ownSessions,
    messagesOf: ownMessages,
    refusalsOf,
    citationUses: () => citationUses,
    handlers: {
      "rpc/chat_record_turn": recordTurn,
      "rpc/chat_record_refusal": recordRefusal,
      "rpc/chat_count_citation_use": countCitationUse,
      "rpc/chat_give_feedback": giveFeedback,
      "rpc/chat_delete_user_data": deleteUserData,
      chat_sessions: sessionsTable,
      chat_messages: messagesTable,
      chat_refusals: refusalsTable,
    },
  };
}

function answerWith(call, rows) {
  const isWrite = call.method === "PATCH" || call.method === "DELETE";
  if (isWrite && !/return=representation/.test(call.headers.prefer ?? "")) return { status: 204 };
  return { body: project(rows, call.search) };
}
