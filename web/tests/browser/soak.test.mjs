// A visitor and the page do anything at any time, while anything fails. Whatever happens, nothing is thrown, and the next question is
// answered. Real Chromium and embedder, simulated API.
//
//   SOAK_ROUNDS=500 SOAK_SEED=1000 node --test web/tests/browser/soak.test.mjs
//
// goes on for longer (a round takes one to two seconds). Each round is a test named after its seed, which draws the same actions again.
// What they meet depends on the times, and on what earlier rounds have left in the cache.
import { test } from "node:test";
import { createRandom } from "../../../tests/lib/random.mjs";
import { startWidgetSuite } from "./pages/widget/suite.mjs";
import { answer, cutAfter, failure, generated, json, refusal, silence, whole } from "./support/answers.mjs";

const { SOAK_ROUNDS = "12", SOAK_SEED = "1" } = process.env;
const LAST_QUESTION = "When are refunds paid?";
const MAX_ACTIONS = 12;
/** For what a visitor can press. If it is not there, nothing is pressed. */
const PRESS = { timeout: 100, noWaitAfter: true };

const { site, browser, open } = await startWidgetSuite();

for (let seed = Number(SOAK_SEED); seed < Number(SOAK_SEED) + Number(SOAK_ROUNDS); seed++) {
  test(`after random actions and faults (seed ${seed}) the next question is answered`, async (t) => {
    const random = createRandom(seed);
    const isOneIn = (count) => random.between(0, count) < 1;
    const upTo = (most) => Math.floor(random.between(0, most + 1));
    const oneOf = (list) => list[upTo(list.length - 1)];
    if (isOneIn(3)) await site.forgetModel(browser);
    const attributes = { mode: oneOf(["floating", "inline"]), preload: isOneIn(10) ? true : null };
    const names = [];
    t.after(() => t.diagnostic(names.join(", ")));
    const widget = await open(t, { attributes });
    for (let left = 1 + upTo(MAX_ACTIONS - 1); left > 0; left--) {
      const name = random.pick(CHANCES);
      names.push(name);
      await ACTIONS[name]({ widget, oneOf, upTo }).catch(isNotPossible);
      if (isOneIn(2)) await widget.page.waitForTimeout(upTo(120));
    }
    // A visitor may leave at any time.
    if (isOneIn(4)) return;
    site.reset();
    await endsWithAnAnswer(widget, isOneIn(2));
  });
}

/** Rethrows an error unless it says that there is no such button now, or that the browser's driver cannot do this. */
function isNotPossible(error) {
  if (!/Timeout 100ms|not attached|unsupported/.test(String(error))) throw error;
}

/** In this conversation, or in a new one as after a sign-out. What had failed to load is loaded as its notice offers. */
async function endsWithAnAnswer(widget, isNew) {
  await widget.element.evaluate((element, isNew) => {
    element.setAttribute("mode", "inline");
    if (isNew) element.clear();
  }, isNew);
  // A question would be ignored while another is running, which the history may hide.
  for (const button of [
    widget.all("stop"),
    widget.element.locator("[data-role=load-failed] button"),
    widget.all("model-retry"),
  ])
    await widget.until(async () => {
      if ((await button.count()) === 0) return true;
      await button.first().dispatchEvent("click", {}, PRESS).catch(isNotPossible);
      return false;
    }, "the widget is ready for a question");
  // It stays in the question box if a conversation that was being opened could not be.
  await widget.until(async () => {
    await widget.call("ask", LAST_QUESTION);
    return (await widget.all("user").allInnerTexts()).at(-1)?.trim() === LAST_QUESTION;
  }, "the question is asked");
  await widget.reply("done");
}

const press = (widget, role) => widget.role(role).click(PRESS);

/** Answers the next `count` requests whose path is meant; says whether it did. */
function answerNext(count, isMeant, respond) {
  let left = count;
  return (path, response) => {
    if (!isMeant(path) || left-- <= 0) return false;
    respond(response);
    return true;
  };
}

function answerNextSettings(respond) {
  const answered = answerNext(1, (path) => path === "/api/config", respond);
  site.api.interfere = ({ path }, response) => answered(path, response);
}

const PARTS = ["/panel-", "/texts-", "/history-", "/help-", "/worker", ".wasm"];
const ATTRIBUTES = [
  ["mode", "floating"],
  ["mode", "inline"],
  ["lang", "de"],
  ["lang", "ar"],
  ["theme", "dark"],
  ["heading", "Ask us"],
  ["assistant", "shop"],
  ["assistant", null],
  ["preload", ""],
];
const CALLS = [["ask", "How do I get my money back?"], ["clear"], ["open"], ["close"], ["focus"]];
/** What the chat API may do instead of a quoted answer. */
const RESPONSES = [
  whole(answer()),
  whole(refusal()),
  whole(generated()),
  silence,
  cutAfter(300),
  failure(500, "internal", { retryable: true }),
  failure(401, "unauthorized"),
  failure(429, "rate_limited", { retryable: true }),
  (response) => response.destroy(),
  (response) => setTimeout(() => whole(answer())(response), 200),
];

/** @type {Record<string, (on: { widget: any, oneOf?: any, upTo?: any }) => Promise<unknown>>} */
const ACTIONS = {
  // The visitor
  hover: ({ widget }) => widget.role("launcher").hover(PRESS),
  launcher: ({ widget }) => press(widget, "launcher"),
  focus: ({ widget }) => widget.role("input").focus(PRESS),
  type: ({ widget, oneOf }) => widget.role("input").fill(oneOf(["refund", "how long", "x"]), PRESS),
  enter: ({ widget }) => widget.role("input").press("Enter", PRESS),
  async ask({ widget, oneOf }) {
    await ACTIONS.type({ widget, oneOf });
    await ACTIONS.enter({ widget });
  },
  escape: ({ widget }) => widget.page.keyboard.press("Escape"),
  shortcut: ({ widget }) => widget.page.keyboard.press("Control+k"),
  stop: ({ widget }) => press(widget, "stop"),
  retry: ({ widget }) => press(widget, "retry"),
  new: ({ widget }) => press(widget, "new"),
  marker: ({ widget }) => press(widget, "marker"),
  history: ({ widget }) => press(widget, "history-open"),
  help: ({ widget }) => press(widget, "help-open"),
  reload: ({ widget }) => widget.page.reload(),
  wait: ({ widget, upTo }) => widget.page.waitForTimeout(upTo(300)),

  // The page
  call: ({ widget, oneOf }) =>
    widget.element.evaluate((element, [method, ...args]) => void element[method](...args), oneOf(CALLS)),
  attribute: ({ widget, oneOf }) =>
    widget.element.evaluate((element, [name, value]) => {
      if (value === null) element.removeAttribute(name);
      else element.setAttribute(name, value);
    }, oneOf(ATTRIBUTES)),
  move: ({ widget }) => widget.element.evaluate((element) => element.parentNode.append(element)),
  remove: ({ widget, upTo }) =>
    widget.element.evaluate(async (element, milliseconds) => {
      const { parentNode } = element;
      element.remove();
      await new Promise((resolve) => setTimeout(resolve, milliseconds));
      parentNode.append(element);
    }, upTo(200)),
  "another user": ({ widget, oneOf }) =>
    widget.page.evaluate((token) => sessionStorage.setItem("token", token), oneOf(["not.a.token", "another"])),

  // Faults
  async "faulty answers"({ oneOf }) {
    site.api.respondWith(oneOf(RESPONSES), oneOf(RESPONSES), whole(answer()));
    site.api.search = oneOf(RESPONSES);
  },
  async "faulty settings"({ oneOf }) {
    answerNextSettings(oneOf([failure(500, "internal", { retryable: true }), (response) => response.destroy()]));
  },
  async "slow settings"() {
    answerNextSettings((response) => setTimeout(() => json(200, site.api.config)(response), 500));
  },
  async cut({ upTo }) {
    const isModel = (path) => path.endsWith(".gz");
    site.interfere = answerNext(1 + upTo(2), isModel, (response) => response.destroy());
  },
  async missing({ oneOf, upTo }) {
    const part = oneOf(PARTS);
    const isPart = (path) => path.includes(part);
    site.interfere = answerNext(1 + upTo(1), isPart, (response) => response.writeHead(404).end());
  },
  async offline({ widget, upTo }) {
    const context = widget.page.context();
    await context.setOffline(true);
    await widget.page.waitForTimeout(upTo(300)).finally(() => context.setOffline(false));
  },
};

/** Most buttons are there only after a question. */
const CHANCES = { ...Object.fromEntries(Object.keys(ACTIONS).map((name) => [name, 1])), ask: 6, "faulty answers": 3 };
