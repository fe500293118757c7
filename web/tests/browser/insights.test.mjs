// The insights page in Chromium, under its own policy, on the real local Supabase.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { after, afterEach, before, describe, test } from "node:test";
import { collectErrors } from "../../../tests/lib/browser.mjs";
import { sendSignIn } from "../../../tests/lib/sign-in.mjs";
import { startSuite } from "../../../tests/lib/suite.mjs";
import { assertNoViolations, AXE, createCaller, PASSWORD, startSite } from "./support/administration.mjs";

const HOSTILE = `<img src=x onerror="window.hacked=1"> [link](javascript:alert(1)) # heading`;
const STATES = ["sign-in", "forbidden", "insights", "error"];

const { site, page, browser } = await startSuite(() => startSite({ after }));
const { call, signUp } = createCaller(site.supabase);

/** A unit vector along an axis: different axes are different questions. */
const vector = (axis) => JSON.stringify(Array.from({ length: 384 }, (_, index) => (index === axis ? 1 : 0)));

async function record(
  { token },
  /** @type {{ refusal?: string | null, cites?: string[], latency?: number, assistant?: string, question?: string }} */ {
    refusal = null,
    cites = [],
    latency = 80,
    ...more
  } = {},
) {
  const citations = cites.map((id, index) => ({ index: index + 1, document_id: id }));
  const turn = {
    session_id: randomUUID(),
    title: "A question",
    question_id: randomUUID(),
    question: "How long?",
    answer_id: randomUUID(),
    answer: "30 days.",
    citations,
    sources: cites,
    latency_ms: latency,
    refusal,
    ...more,
  };
  await call("/rest/v1/rpc/chat_record_turn", { turn }, { token, worker: true });
  return { session_id: turn.session_id, message_id: turn.answer_id };
}

const feedback = ({ token }, answer, said) =>
  call("/rest/v1/rpc/chat_give_feedback", { ...answer, ...said }, { token, worker: true });

async function refuse({ token }, question, axis, more = {}) {
  const refusal = {
    ...more,
    id: randomUUID(),
    session_id: null,
    question,
    embedding: vector(axis),
    best_score: 0.3,
    reason: "no_match",
  };
  await call("/rest/v1/rpc/chat_record_refusal", refusal, { token, worker: true });
}

let admin, visitor, second;

before(async () => {
  admin = await signUp("admin@example.com");
  visitor = await signUp("visitor@example.com");
  second = await signUp("second@example.com");
  await call("/rest/v1/chat_settings?id=eq.true", { administrators: [`sub:${admin.id}`] }, { method: "PATCH" });
});
afterEach(async () => {
  assert.deepEqual(page.errors, [], "no error and no violation of the policy");
  await page.unrouteAll({ behavior: "ignoreErrors" });
});

const open = async () => {
  await page.goto(`${site.origin}/insights/`);
  await page.evaluate(() => sessionStorage.clear());
  await page.goto(`${site.origin}/insights/`);
  await page.locator("body[data-state=sign-in]").waitFor();
};
const signIn = ({ email }, password = PASSWORD) => sendSignIn(page, email, password);
const showAll = async () => {
  await page.locator("body[data-state=insights]").waitFor();
  await page.locator(".sections:not([aria-busy])").waitFor();
};
const part = (name) => page.locator("section", { has: page.getByRole("heading", { level: 2, name, exact: true }) });

describe("before there is a question", () => {
  test("the database decides who may read: a wrong password and a visitor get a sentence that helps", async () => {
    await open();
    await signIn(admin, "not the password");
    await page
      .getByRole("alert")
      .filter({ hasText: /invalid/i })
      .waitFor();
    await signIn(visitor);
    await page.locator("body[data-state=forbidden]").waitFor();
    assert.equal(await page.getByText(`sub:${visitor.id}`).count(), 1);
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.locator("body[data-state=sign-in]").waitFor();
    assert.equal(await page.locator("#account").isVisible(), false);
  });

  test("each part says that it has nothing yet", async () => {
    await open();
    await signIn(admin);
    await showAll();
    for (const text of [
      "No questions in the last 30 days.",
      "There is nothing to draw yet.",
      "Nobody said whether an answer of the last 30 days helped.",
      "No question without a good answer was asked by several users in this period.",
      "No answer was based on a document in this period.",
      "Every document that the search can find was cited.",
      "There are no documents and no citations.",
    ])
      assert.equal(await page.getByText(text).count(), 1, text);
  });
});

describe("with questions", () => {
  let cited, uncited;

  before(async () => {
    const insert = (row) =>
      call("/rest/v1/kb_documents", { status: "ready", enabled: true, ...row }).then(([{ id }]) => id);
    cited = await insert({
      source: "handbook/returns.md",
      name: "returns.md",
      meta: { title: "Returns", url: "https://shop.example/returns" },
    });
    uncited = await insert({
      source: "handbook/hostile.md",
      name: "hostile.md",
      meta: { title: HOSTILE, url: "javascript:window.hacked=1" },
    });
    await call("/rest/v1/assistants", { name: "staff", title: "Staff" });
    const answers = [];
    for (let turn = 0; turn < 3; turn++) answers.push(await record(visitor, { cites: [cited], latency: 100 }));
    await record(visitor, { refusal: "no_match" });
    const ofStaff = await record(second, { assistant: "staff" });
    await feedback(visitor, answers[0], { rating: "up" });
    await feedback(visitor, answers[1], {
      rating: "down",
      reason: "outdated",
      comment: HOSTILE,
      embedding: vector(5),
    });
    await feedback(second, ofStaff, { rating: "down" });
    await refuse(visitor, HOSTILE, 5);
    await refuse(second, HOSTILE, 5);
    await refuse(second, "Do you ship to Norway?", 5);
    await call(
      "/rest/v1/rpc/chat_count_citation_use",
      { hovered: 7, opened: 4, copied: 2 },
      { token: visitor.token, worker: true },
    );
    await open();
    await signIn(admin);
    await showAll();
  });

  test("shows the figures of the database", async () => {
    const tiles = await part("Overview").locator(".tile").allTextContents();
    assert.match(tiles[0], /^Questions5.*1 refusal/);
    assert.match(tiles[1], /^Answered80%.*4 answers/);
    assert.match(tiles[2], /^Answers with citations75%/);
    assert.match(tiles[3], /^Time to answer(9[5-9]|10[0-5]) ms/);
    assert.match(tiles[4], /^Citations opened4.*7 looked at, 2 copied/);
    assert.match(tiles[5], /^Helpful answers33\.3%1 liked, 2 disliked/);
    const documents = part("Documents that are cited most");
    assert.deepEqual(
      await documents
        .locator("tbody tr")
        .allTextContents()
        .then((rows) => rows.map((row) => row.slice(0, 8))),
      ["Returns3"],
    );
    assert.equal(await documents.getByRole("link").getAttribute("href"), "https://shop.example/returns");
    assert.match(await part("Health of citations").locator(".tile").first().textContent(), /100%3 of 3/);
  });

  test("an assistant and a period narrow everything", async () => {
    await page.getByLabel("Assistant").selectOption("staff");
    await showAll();
    assert.match(await part("Overview").locator(".tile").first().textContent(), /^Questions1/);
    await page.getByLabel("Assistant").selectOption("");
    await page.getByRole("radio", { name: "30 days" }).focus();
    await page.keyboard.press("ArrowRight");
    await showAll();
    assert.equal(await page.getByRole("radio", { name: "90 days" }).isChecked(), true);
    assert.match(await page.locator("#announcement").textContent(), /last 90 days/);
    await part("Over time").locator("summary").first().click();
    const rows = part("Over time").locator("figure").first().locator("tbody tr");
    assert.equal(await rows.count(), 90);
    assert.match(await rows.first().textContent(), /54$/);
  });

  test("feedback says why answers were disliked, and shows the words of visitors as text", async () => {
    const shown = part("Feedback");
    const reasons = await shown.locator(".reasons > div").allTextContents();
    assert.equal(reasons[0], "It is out of date1 (50%)");
    assert.equal(reasons.at(-1), "No reason given1 (50%)");
    assert.equal(reasons.length, 6);
    const filled = shown.locator(".share span");
    const widths = await filled.evaluateAll((bars) =>
      bars.map((bar) => bar.clientWidth / bar.parentElement.clientWidth),
    );
    assert.ok(Math.abs(widths[0] - 0.5) < 0.02 && widths[1] === 0, String(widths));
    const comments = shown.locator(".comment");
    assert.equal(await comments.count(), 1);
    assert.equal(await comments.locator("blockquote").textContent(), HOSTILE);
    assert.match(await comments.textContent(), /^Not helpful: It is out of date.*How long\?.*, to default$/s);
    await page.getByLabel("Assistant").selectOption("staff");
    await showAll();
    await shown.getByText("Nobody wrote a comment.").waitFor();
    assert.equal((await shown.locator(".reasons > div").allTextContents()).at(-1), "No reason given1 (100%)");
    await page.getByLabel("Assistant").selectOption("");
    await showAll();
  });

  test("every chart is drawn and has the same figures as a table", async () => {
    const charts = part("Over time").locator("figure");
    assert.equal(await charts.count(), 5);
    const bottom = await charts.last().evaluate((chart) => chart.clientWidth / chart.parentElement.clientWidth);
    assert.ok(bottom > 0.99, `the last of five takes the whole row: ${bottom}`);
    for (const chart of await charts.all()) {
      const isDrawn = await chart.locator("canvas").evaluate((canvas) => {
        const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
        return pixels.some((value) => value > 0);
      });
      assert.ok(isDrawn);
      assert.ok(await chart.locator("[role=img]").getAttribute("aria-label"));
      assert.ok((await chart.locator("tbody tr").count()) >= 7);
    }
  });

  test("a gap becomes the draft of a page; text of visitors and documents stays text", async () => {
    const gaps = part("Questions without a good answer");
    const question = gaps.getByRole("heading", { level: 3 });
    assert.equal(await question.textContent(), HOSTILE);
    await gaps.getByText("4 questions of 2 users, 1 answered but disliked, to default.").waitFor();
    await gaps.getByText("It was answered, and the visitors disliked the answer.").waitFor();
    const download = page.waitForEvent("download");
    await gaps.getByRole("button", { name: /^Write a page about this/ }).click();
    const file = await download;
    assert.match(file.suggestedFilename(), /^[\p{L}\p{N}-]+\.md$/u);
    const text = await readFile(await file.path(), "utf8");
    assert.ok(text.startsWith(`---\ntitle: ${JSON.stringify(HOSTILE)}\n---\n`), text);
    assert.match(text, /2 users asked this 4 times/);
    assert.match(text, /^## Do you ship to Norway\?$/m);
    assert.doesNotMatch(text.split("---\n")[2], /(?<!\\)<img|(?<!\\)\]\(/, "what visitors wrote is escaped");
    const hostile = part("Documents that are not cited").locator("tbody tr");
    assert.equal(await hostile.count(), 1);
    assert.match(await hostile.textContent(), /never/);
    assert.equal(await hostile.locator("a").count(), 0);
    assert.equal(await page.evaluate(() => window["hacked"]), undefined);
    assert.ok(uncited);
  });

  test("a part that fails can be tried again, and the others stay", async () => {
    await page.route("**/rpc/chat_insights_gaps", (route) =>
      route.fulfill({ status: 503, contentType: "application/json", body: '{"code":"57014","message":"too slow"}' }),
    );
    await page.getByRole("radio", { name: "7 days", exact: true }).check();
    await showAll();
    const gaps = part("Questions without a good answer");
    await gaps.getByText("This could not be read: too slow").waitFor();
    assert.match(await page.locator("#announcement").textContent(), /1 parts? could not be read/);
    assert.ok(await part("Overview").locator(".tile").count());
    await page.unrouteAll();
    await gaps.getByRole("button", { name: /^Try again/ }).click();
    await gaps.getByRole("heading", { level: 3 }).waitFor();
  });

  test("an answer of the previous choice does not replace that of the present one", async () => {
    const { promise: held, resolve: release } = /** @type {PromiseWithResolvers<void>} */ (Promise.withResolvers());
    let isPrevious = true;
    await page.route("**/rpc/chat_insights", async (route) => {
      if (isPrevious) await held;
      await route.continue().catch(() => undefined);
    });
    const asked = page.waitForRequest("**/rpc/chat_insights");
    await page.getByRole("radio", { name: "90 days" }).check();
    await asked;
    isPrevious = false;
    await page.getByRole("radio", { name: "30 days" }).check();
    await showAll();
    release();
    await page.waitForTimeout(200);
    assert.match(await part("Overview").locator(".change").first().textContent(), /30 days|nothing/);
    assert.equal(await page.getByRole("radio", { name: "30 days" }).isChecked(), true);
  });

  test("the page is accessible in both themes and at 320 px, and nothing is cut off", async () => {
    for (const colorScheme of /** @type {const} */ (["light", "dark"])) {
      await page.emulateMedia({ colorScheme });
      for (const width of [1280, 320]) {
        await page.setViewportSize({ width, height: 900 });
        await page.evaluate(() => document.querySelectorAll("details").forEach((details) => (details.open = true)));
        await page.waitForTimeout(100);
        const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        assert.ok(overflow <= 0, `${colorScheme} ${width}: ${overflow} px too wide`);
        await assertNoViolations(page, `${colorScheme} ${width}`);
      }
    }
    await page.emulateMedia({ colorScheme: null });
    await page.setViewportSize({ width: 1280, height: 900 });
  });

  test("the other states are accessible too", async () => {
    for (const state of STATES) {
      const other = collectErrors(await browser.page.context().newPage());
      if (state === "error") await other.route("**/api/project", (route) => route.fulfill({ status: 500, body: "" }));
      await other.goto(`${site.origin}/insights/`);
      if (state === "forbidden" || state === "insights") {
        await other.getByLabel("E-mail").fill(state === "forbidden" ? visitor.email : admin.email);
        await other.getByLabel("Password").fill(PASSWORD);
        await other.keyboard.press("Enter");
      }
      await other.locator(`body[data-state=${state}]`).waitFor();
      await other.evaluate(AXE);
      const violations = await other.evaluate(async () =>
        (await /** @type {any} */ (window).axe.run()).violations.map(({ id }) => id),
      );
      assert.deepEqual(violations, [], state);
      assert.deepEqual(other.errors, []);
      await other.close();
    }
  });
});

describe("with what hostile visitors write", () => {
  /** Overrides the direction, has no place to break, and is as long as a question may be. */
  const LONG = `\u202e${"<b>A".repeat(999)}`;
  const ARABIC = "كم يستغرق التوصيل إلى النرويج (Oslo)؟";
  const gaps = part("Questions without a good answer");
  const feedbackPart = part("Feedback");

  before(async () => {
    const [{ id: document }] = await call("/rest/v1/kb_documents", {
      source: "trap/=cmd.md",
      name: "=cmd.md",
      status: "ready",
      enabled: true,
      meta: {
        title: `\u202e${"</title><script>window.hacked=1</script>".repeat(7)}`,
        url: " javascript:window.hacked=1//https://",
      },
    });
    await call("/rest/v1/assistants", { name: "trap", title: `\u202e${"Trap".repeat(20)}` });
    const answer = await record(visitor, { assistant: "trap", cites: [document], question: LONG });
    await feedback(visitor, answer, { rating: "down", reason: "other", comment: "x\n".repeat(500) });
    for (const who of [visitor, second]) {
      await refuse(who, LONG, 20, { assistant: "trap" });
      await refuse(who, ARABIC, 21, { assistant: "trap" });
      await refuse(who, "\u202e\u2066\u200b", 22, { assistant: "trap" });
    }
    await page.setViewportSize({ width: 320, height: 900 });
    await open();
    await signIn(admin);
    await showAll();
    await page.getByLabel("Assistant").selectOption("trap");
    await showAll();
  });
  after(() => page.setViewportSize({ width: 1280, height: 900 }));

  test("nothing runs, links, reorders or leaves its card", async () => {
    assert.equal(await gaps.locator(".gap").count(), 3);
    const text = await page.locator("main").innerText();
    assert.doesNotMatch(text, /[\u202a-\u202e\u2066-\u2069]/);
    assert.equal(await page.evaluate(() => window["hacked"]), undefined);
    assert.equal(await page.locator('main a[href*="script" i]').count(), 0);
    assert.equal(await part("Documents that are cited most").getByRole("link").count(), 0);
    const heights = await page
      .locator(".gap, .comment, tbody tr")
      .evaluateAll((nodes) => nodes.map((node) => node.getBoundingClientRect().height));
    assert.ok(
      heights.length >= 5 && heights.every((height) => height < 700),
      `what is long does not push the rest away: ${heights}`,
    );
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(overflow <= 0, `${overflow} px too wide`);
    await assertNoViolations(page, "hostile text");
  });

  test("a long text can be read whole, and one without letters has a name", async () => {
    const question = gaps.locator(".gap", { has: page.getByText("The whole question") });
    await question.getByText("The whole question").click();
    assert.equal(await question.locator(".whole").textContent(), LONG.slice(1));
    const comment = feedbackPart.locator(".comment");
    assert.equal((await comment.locator("blockquote").textContent()).split("\n").length, 6);
    await comment.getByText("The whole comment").click();
    assert.equal(await comment.locator(".whole").textContent(), "x\n".repeat(500).trim());
    assert.equal(await gaps.getByRole("heading", { name: "(no text)" }).count(), 1);
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(overflow <= 0, `${overflow} px too wide`);
  });

  test("a question in Arabic runs from right to left, and the sentences about it do not", async () => {
    const gap = gaps.locator(".gap", { has: page.getByRole("heading", { name: ARABIC }) });
    const directionOf = (node) => node.evaluate((shown) => getComputedStyle(shown).direction);
    assert.equal(await directionOf(gap.getByRole("heading")), "rtl");
    assert.equal(await directionOf(gap.locator(".detail").first()), "ltr");
  });
});

test("the page is served under a strict policy and never inside another one", async () => {
  const response = await fetch(`${site.origin}/insights/`);
  const policy = response.headers.get("content-security-policy");
  for (const rule of ["default-src 'none'", "script-src 'self'", "style-src 'self'", "frame-ancestors 'none'"])
    assert.ok(policy.split("; ").includes(rule), policy);
  const html = await response.text();
  assert.doesNotMatch(html, /<style|style=|<script(?![^>]*src=)|\son\w+=/);
});
