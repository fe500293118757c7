// The states that a visitor can see, reached on the real product; only faults and the language model are simulated.
import { useService, writeAnswers, writeForEver } from "./written.mjs";

const COVERED = "Can I get my money back after two weeks?";
/** Hedged: the pages list the countries that are delivered to, without Canada. */
const NAME_MISSING = "Do you ship to Canada?";
const OFF_TOPIC = "Which planet in the solar system has the most moons?";

/** A stream that is cut before its end, like a lost connection. */
const CUT =
  'event: answer_start\ndata: {"type":"answer_start"}\n\n' +
  'event: answer_delta\ndata: {"type":"answer_delta","text":"You can return any unused item and get your money back "}\n\n';

const TOO_FAST = {
  status: 429,
  headers: { "retry-after": "12", "access-control-allow-origin": "*", "access-control-expose-headers": "retry-after" },
  contentType: "application/json",
  body: '{"code":"rate_limited","message":"Too fast.","retryable":true,"request_id":"1"}',
};

const UNAVAILABLE = {
  status: 503,
  headers: { "access-control-allow-origin": "*" },
  contentType: "application/json",
  body: '{"code":"upstream_unavailable","message":"Later.","retryable":true,"request_id":"1"}',
};

/** The browser remembers the dismissal, so the notice may be gone already. */
async function dismissPrivacy(widget) {
  await widget.find("input").focus();
  await widget.find("privacy-info").waitFor();
  if ((await widget.find("privacy-dismiss").count()) > 0) await widget.find("privacy-dismiss").click();
}

/** Gives visitors an address of people. */
const hasSupport = (widget) =>
  widget.host.evaluate((chat) => chat.setAttribute("support-url", "mailto:support@example.com"));

/** `prepare` may return a function that cleans up. `model: "none"` starts without the model in the browser's cache. */
export const STATES = {
  start: { prepare: ({ widget }) => widget.find("input").focus() },
  initializing: {
    model: "none",
    async prepare({ page, widget }) {
      await page.route("**/*.safetensors.gz", () => undefined);
      await widget.find("input").focus();
      await widget.find("status").waitFor();
    },
  },
  unsupported: {
    async prepare({ page, widget, host }) {
      await page.evaluate(() => delete window.WebAssembly);
      await host.preload();
      await widget.find("status").waitFor();
    },
  },
  consent: {
    model: "none",
    async prepare({ page, widget }) {
      await page.evaluate(() =>
        Object.defineProperty(navigator, "connection", { value: { saveData: true }, configurable: true }),
      );
      await widget.find("input").focus();
      await widget.find("consent").waitFor();
    },
  },
  answer: { prepare: ({ widget }) => widget.askFor(COVERED) },
  card: {
    async prepare({ widget }) {
      await widget.askFor(COVERED);
      await widget.find("marker").first().focus();
      await widget.find("citation-card").waitFor();
    },
  },
  passage: {
    async prepare({ widget, page }) {
      await widget.askFor(COVERED);
      await widget.find("marker").first().click();
      await page.waitForTimeout(400);
    },
  },
  hedged: { prepare: ({ widget }) => widget.askFor(NAME_MISSING) },
  "also-found": {
    async prepare({ widget, page }) {
      await widget.askFor(COVERED);
      await widget.find("also-found").locator("summary").first().click();
      await widget.find("also-found").scrollIntoViewIfNeeded();
      await page.waitForTimeout(400);
    },
  },
  references: {
    async prepare({ widget }) {
      await widget.askFor(COVERED);
      await widget.find("export").click();
      await widget.find("export-preview").filter({ hasText: "." }).waitFor();
      await widget.find("export").scrollIntoViewIfNeeded();
    },
  },
  hint: {
    async prepare({ widget, page }) {
      await page.evaluate(() => localStorage.removeItem("evidence-chat:hint"));
      await widget.askFor(COVERED);
      await widget.find("badge-hint").waitFor();
    },
  },
  results: {
    async prepare({ widget, host }) {
      await host.ready();
      // Results come with the first question, when the visitor has a token.
      await widget.find("input").fill("gift card");
      await widget.find("result").nth(1).waitFor();
      await widget.find("input").press("ArrowDown");
    },
  },
  "follow-up": {
    async prepare({ widget }) {
      await widget.askFor("How long does delivery to Germany take?");
      await widget.askFor("And to Switzerland?");
      await widget.find("searched").waitFor();
    },
  },
  feedback: {
    async prepare({ widget }) {
      await hasSupport(widget);
      await widget.askFor(COVERED);
      await widget.find("feedback-down").click();
      await widget.find("feedback-reason").first().click();
      await widget.find("feedback-form").scrollIntoViewIfNeeded();
    },
  },
  "feedback-sent": {
    async prepare({ widget }) {
      await widget.askFor(COVERED);
      await widget.find("feedback-up").click();
      await widget.find("feedback-status").filter({ hasText: "." }).waitFor();
    },
  },
  help: {
    async prepare({ widget }) {
      await widget.find("input").focus();
      await widget.find("history-open").click();
      await widget.find("help-open").click();
      await widget.find("help").waitFor();
    },
  },
  privacy: {
    async prepare({ widget, page }) {
      await useService(page);
      await widget.find("input").focus();
      await widget.find("privacy").waitFor();
    },
  },
  writing: {
    async prepare({ widget, page, demo }) {
      await writeForEver(page, demo);
      await dismissPrivacy(widget);
      await widget.ask(COVERED);
      await widget.find("waiting").filter({ hasText: "…" }).waitFor();
    },
  },
  generated: {
    async prepare({ widget, page, demo }) {
      await writeAnswers(page, demo);
      await dismissPrivacy(widget);
      await widget.askFor(COVERED);
      await widget.find("left-out").locator("summary").click();
    },
  },
  "generated-card": {
    async prepare({ widget, page, demo }) {
      await writeAnswers(page, demo);
      await dismissPrivacy(widget);
      await widget.askFor(COVERED);
      await widget.find("marker").nth(1).focus();
      await widget.find("source-sentence").waitFor();
    },
  },
  refusal: {
    async prepare({ widget }) {
      await hasSupport(widget);
      await widget.askFor(OFF_TOPIC, "refused");
    },
  },
  "connection-lost": {
    async prepare({ widget, page, demo }) {
      await page.route(demo.info.chat_url, (route) =>
        route.request().method() === "POST"
          ? route.fulfill({
              contentType: "text/event-stream",
              headers: { "access-control-allow-origin": "*" },
              body: CUT,
            })
          : route.fallback(),
      );
      await widget.askFor(COVERED, "failed");
    },
  },
  "rate-limited": {
    async prepare({ widget, page, demo }) {
      await page.route(demo.info.chat_url, (route) =>
        route.request().method() === "POST" ? route.fulfill(TOO_FAST) : route.fallback(),
      );
      await widget.askFor(COVERED, "failed");
    },
  },
  "server-error": {
    async prepare({ widget, page, demo }) {
      await page.route(demo.info.chat_url, (route) =>
        route.request().method() === "POST" ? route.fulfill(UNAVAILABLE) : route.fallback(),
      );
      await widget.askFor(COVERED, "failed");
    },
  },
  "signed-out": {
    async prepare({ widget }) {
      await widget.host.evaluate((chat) => (chat.tokenProvider = async () => null));
      await widget.askFor(COVERED, "failed");
    },
  },
  stopped: {
    async prepare({ widget, page, demo }) {
      await page.route(demo.info.chat_url, (route) =>
        route.request().method() === "POST" ? undefined : route.fallback(),
      );
      await widget.ask(COVERED);
      await widget.find("stop").click();
      await widget.replyEnds("stopped");
    },
  },
  "load-failed": {
    async prepare({ widget, page }) {
      await page.route("**/widget/panel-*.js", (route) => route.abort());
      await widget.find("input").focus();
      await widget.find("load-failed").waitFor();
    },
  },
  offline: {
    async prepare({ widget, page, host }) {
      await widget.askFor(COVERED);
      await page.context().setOffline(true);
      await widget.find("offline").waitFor();
      return () => host.page.context().setOffline(false);
    },
  },
  "too-long": {
    async prepare({ widget, host }) {
      await host.ready();
      await widget.find("input").fill("Please tell me how I can return several different items. ".repeat(66));
      await widget.find("too-long").waitFor();
    },
  },
  history: {
    async prepare({ widget }) {
      for (const question of [COVERED, "How long does standard delivery take?", "Can I combine gift cards?"]) {
        await widget.askFor(question);
        await widget.find("new").click();
      }
      await widget.find("history-open").click();
      await widget.find("session").nth(2).waitFor();
      await widget.find("session-delete").nth(1).click();
      await widget.find("undo").waitFor();
    },
  },
  rename: {
    async prepare({ widget }) {
      await widget.askFor(COVERED);
      await widget.find("history-open").click();
      await widget.find("session-rename").first().click();
    },
  },
  "document-gone": {
    async prepare({ widget, page, demo }) {
      await widget.askFor(COVERED);
      await widget.find("new").click();
      await demo.rest("PATCH", "kb_documents?enabled=is.true", { body: { enabled: false } });
      await widget.find("history-open").click();
      await widget.find("session-open").first().click();
      await widget.find("marker").first().click();
      await widget.find("source-gone").first().scrollIntoViewIfNeeded();
      await page.waitForTimeout(400);
      return () => demo.rest("PATCH", "kb_documents?enabled=is.false", { body: { enabled: true } });
    },
  },
  launcher: {
    attributes: { mode: "floating" },
    prepare: ({ widget }) => widget.find("launcher").hover(),
  },
  floating: {
    attributes: { mode: "floating" },
    async prepare({ widget }) {
      await widget.find("launcher").click();
      await widget.askFor(COVERED);
    },
  },
  // Must be last: the fake clock stays installed in the browser.
  "timed-out": {
    model: "none",
    async prepare({ page, widget }) {
      await page.route("**/*.safetensors.gz", () => undefined);
      await page.clock.install();
      await widget.find("input").focus();
      await widget.find("status").waitFor();
      await page.clock.runFor(16_000);
      await widget.find("model-retry").waitFor();
    },
  },
};
