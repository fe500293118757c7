// The set-up of a test file about the whole widget.
import assert from "node:assert/strict";
import { beforeEach } from "node:test";
import { ARGS, BROWSER } from "../../../../../tests/lib/browser.mjs";
import { startSuite } from "../../../../../tests/lib/suite.mjs";
import { SESSION } from "../../support/answers.mjs";
import { openWidgetPage } from "./page.mjs";
import { startWidgetSite } from "./site.mjs";

/** The default question, and the API's default answer. */
export const QUESTION = "How do I get my money back?";
export const ANSWER = /Refunds are paid within 5 days\./;

/**
 * V8 does not compile the embedder a second time, optimised, which takes a seventh of the processor time of these tests. The embedder's own
 * tests and those of the whole product run it as the browsers of visitors do.
 */
const OPTIONS = BROWSER === "chromium" ? { args: [...ARGS, "--js-flags=--liftoff-only"] } : {};

/** Starts site and browser, and resets the site before each test. `open(t, options)` is `openWidgetPage`. */
export async function startWidgetSuite() {
  const { site, browser } = await startSuite(startWidgetSite, OPTIONS);
  beforeEach(() => site.reset());
  const open = (t, options) => openWidgetPage(t, browser, site, options);
  /** Opens a page with a clock that the test can advance. */
  const openWithClock = (t, options) => open(t, { ...options, setUp: (page) => page.clock.install() });
  /** The bodies of the questions that were sent. */
  const sent = () => site.api.questions().map(({ body }) => body);
  /** A retry must be identical byte for byte: the server identifies a question by its id and its body. */
  const assertSentTwiceAlike = () => {
    const [first, second, ...others] = sent();
    assert.equal(second, first);
    assert.deepEqual(others, []);
  };
  /** Adds a conversation with these messages to the history. */
  const withConversation = (messages) => {
    const at = "2026-11-01T10:00:00Z";
    const session = { id: SESSION.replace(/.$/, "0"), title: "Of old", created_at: at, updated_at: at };
    const stored = messages.map((message, index) => ({
      id: SESSION.replace(/.$/, String(index + 1)),
      citations: [],
      created_at: at,
      ...message,
    }));
    site.api.sessions = [session];
    site.api.messages.set(session.id, stored);
    return session;
  };
  return { site, browser, open, openWithClock, sent, assertSentTwiceAlike, withConversation };
}

/** Opens the latest conversation of the history. */
export async function openConversation(widget) {
  await widget.role("input").focus();
  await widget.role("history-open").click();
  await widget.role("session-open").click();
}
