// The settings and the changes of the pages for administrators, in Chromium, on the real local Supabase.
import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach, describe, test } from "node:test";
import { startSuite } from "../../../tests/lib/suite.mjs";
import { assertNoViolations, createCaller, signIn, startSite } from "./support/administration.mjs";

const HOSTILE = `<img src=x onerror="window.hacked=1"> [link](javascript:alert(1))`;

const { site, page } = await startSuite(() => startSite({ after }));
const { call, signUp, rpc } = createCaller(site.supabase);

let admin, other, visitor;

before(async () => {
  admin = await signUp("admin@example.com");
  other = await signUp("other@example.com");
  visitor = await signUp("visitor@example.com");
  await patch("chat_settings", "id=eq.true", { administrators: [`sub:${admin.id}`, `sub:${other.id}`] });
  await page.goto(`${site.origin}/insights/#settings`);
  await signIn(page, admin);
});
afterEach(async () => {
  assert.deepEqual(page.errors, [], "no error and no violation of the policy");
  await page.unrouteAll({ behavior: "ignoreErrors" });
});

const patch = (table, filter, values) => call(`/rest/v1/${table}?${filter}`, values, { method: "PATCH" });
const select = (table, filter) => call(`/rest/v1/${table}?${filter}`, undefined, { method: "GET" });
const assistant = async (name = "default") => (await select("assistants", `name=eq.${name}`))[0];
const settings = async () => (await select("chat_settings", "id=eq.true"))[0];
const open = async (name = "") => {
  await page.goto("about:blank");
  await page.goto(`${site.origin}/insights/#settings`);
  await page.locator("form.settings").waitFor();
  if (name !== "default") await choose(name);
};
const choose = async (name) => {
  await page.getByLabel("Settings of").selectOption(name);
  await page.locator("form.settings").waitFor();
};
const save = () => page.getByRole("button", { name: "Save", exact: true });
const said = (text) => page.locator("#announcement", { hasText: text }).waitFor({ state: "attached" });
const state = (text) => page.locator("#save-state", { hasText: text }).waitFor();
const dialog = () => page.getByRole("dialog");
const setting = (column) => page.locator(`[data-column=${column}]`);

describe("settings of an assistant", () => {
  beforeEach(async () => {
    await patch("assistants", "name=eq.default", {
      title: "Help",
      greeting: null,
      evidence_threshold: null,
      match_count: null,
      suggested_questions: ["How?", "Why?"],
      refusal_suggestions: null,
      link_mode: "none",
    });
    await open("default");
  });

  test("shows what is saved, defaults as placeholders, and saves nothing before a change", async () => {
    assert.equal(await page.getByLabel("Title").inputValue(), "Help");
    assert.equal(await page.getByLabel("Evidence threshold").inputValue(), "");
    assert.equal(await page.getByLabel("Evidence threshold").getAttribute("placeholder"), "0.35 (default)");
    assert.equal(await page.getByLabel("Passages").getAttribute("placeholder"), "5 (default)");
    assert.equal(await page.getByLabel("Use the built-in suggestions").isChecked(), true);
    assert.equal(await save().getAttribute("aria-disabled"), "true");
    await state("No changes.");
    assert.equal(await page.title(), "Settings · Evidence Chat");
    assert.equal(await page.getByRole("link", { name: "Settings" }).getAttribute("aria-current"), "page");
  });

  test("saves texts, numbers, lists and switches by keyboard, and says so", async () => {
    await page.getByLabel("Title").fill(HOSTILE);
    await page.getByLabel("Evidence threshold").fill("0.4");
    await page.getByLabel("Passages").fill("7");
    await page.getByLabel("Suggested questions").fill(" When?\n\nWhere?  ");
    await page.getByLabel("Use the built-in suggestions").uncheck();
    await state("5 unsaved changes.");
    await page.getByLabel("Title").press("Enter");
    await said("Saved.");
    await state("Saved.");
    assert.equal(await save().getAttribute("aria-disabled"), "true");
    const row = await assistant();
    assert.deepEqual(
      [row.title, row.evidence_threshold, row.match_count, row.suggested_questions, row.refusal_suggestions],
      [HOSTILE, 0.4, 7, ["When?", "Where?"], []],
    );
    assert.equal(await page.getByLabel("Settings of").locator("option", { hasText: "<img" }).count(), 1);
    assert.equal(await page.evaluate(() => window["hacked"]), undefined);
  });

  test("an empty field is the default again, and changes can be undone", async () => {
    await page.getByLabel("Title").fill("");
    await page.getByRole("button", { name: "Undo changes" }).click();
    assert.equal(await page.getByLabel("Title").inputValue(), "Help");
    await page.getByLabel("Title").fill("  ");
    await save().click();
    await said("Saved.");
    assert.equal((await assistant()).title, null);
  });

  test("says at the field what is allowed, and focuses it", async () => {
    await page.getByLabel("Evidence threshold").fill("1.5");
    await save().click();
    await setting("evidence_threshold").getByText("0 to 1, or empty for 0.35.").waitFor();
    assert.equal(await page.evaluate(() => document.activeElement?.id), "setting-evidence_threshold");
    await page.getByLabel("Evidence threshold").fill("0.5");
    // Only the database knows what an origin is.
    await page.getByLabel("Allowed origins").fill("shop.example.com/path");
    await save().click();
    await setting("allowed_origins").getByText("At most 50 origins").waitFor();
    await page.getByRole("alert").filter({ hasText: "Not saved: one setting is not allowed." }).waitFor();
    assert.equal(await assistant().then((row) => row.evidence_threshold), null, "nothing is saved");
    await assertNoViolations(page, "with a mistake");
    await page.getByLabel("Allowed origins").fill("https://shop.example.com");
    await save().click();
    await said("Saved.");
    assert.deepEqual((await assistant()).allowed_origins, ["https://shop.example.com"]);
    await patch("assistants", "name=eq.default", { allowed_origins: null });
  });

  test("what opens something is saved after a confirmation", async () => {
    await page.getByLabel("Links to original files").selectOption("public");
    await save().click();
    await dialog().getByText("Anybody who gets such a link").waitFor();
    await assertNoViolations(page, "confirmation");
    await page.keyboard.press("Escape");
    assert.equal((await assistant()).link_mode, "none");
    await save().click();
    await dialog().getByRole("button", { name: "Save" }).click();
    await said("Saved.");
    assert.equal((await assistant()).link_mode, "public");
  });

  test("shows what somebody else has changed, and lets the reader decide", async () => {
    const changeTheirs = (values) =>
      assistant().then((row) =>
        rpc(other, "chat_update_assistant", {
          assistant: "default",
          changes: values,
          expected_updated_at: row.updated_at,
        }),
      );
    await page.getByLabel("Title").fill("Mine");
    await page.getByLabel("Passages").fill("9");
    await changeTheirs({ title: "Theirs", greeting: HOSTILE });
    await save().click();
    const panel = page.getByRole("region", { name: "Somebody else has changed these settings" });
    await panel.waitFor();
    const rows = await panel.locator("tbody tr").all();
    assert.deepEqual(await Promise.all(rows.map((row) => row.locator("th, td").allTextContents())), [
      ["Title", "Help", "Theirs", "Mine"],
      ["Greeting", "default", HOSTILE, "not changed"],
    ]);
    assert.equal((await assistant()).title, "Theirs", "nothing is written");
    await assertNoViolations(page, "conflict");
    await panel.getByRole("button", { name: "Save mine" }).click();
    await said("Saved.");
    const merged = await assistant();
    assert.deepEqual([merged.title, merged.greeting, merged.match_count], ["Mine", HOSTILE, 9]);

    await page.getByLabel("Title").fill("Mine again");
    await changeTheirs({ title: "Theirs again" });
    await save().click();
    await panel.getByRole("button", { name: "Discard mine" }).click();
    assert.equal(await page.getByLabel("Title").inputValue(), "Theirs again");
    assert.equal(await save().getAttribute("aria-disabled"), "true");
    assert.equal(await panel.count(), 0);
  });

  test("a fault of the database keeps the changes", async () => {
    await page.getByLabel("Title").fill("Kept");
    await page.route("**/rpc/chat_update_assistant", (route) =>
      route.fulfill({ status: 503, contentType: "application/json", body: '{"code":"57014","message":"too slow"}' }),
    );
    await save().click();
    await page.getByRole("alert").filter({ hasText: "Not saved: too slow" }).waitFor();
    assert.equal(await page.getByLabel("Title").inputValue(), "Kept");
    await page.unrouteAll();
    await save().click();
    await said("Saved.");
  });

  test("asks before changes are lost", async () => {
    await page.getByLabel("Title").fill("Lost?");
    await page.getByRole("link", { name: "Changes" }).click();
    await dialog().getByText("Your changes are not saved.").waitFor();
    await dialog().getByRole("button", { name: "Stay" }).click();
    await page.waitForURL(/#settings$/);
    assert.equal(await page.getByLabel("Title").inputValue(), "Lost?");
    await page.getByLabel("Settings of").selectOption("");
    await dialog().getByRole("button", { name: "Stay" }).click();
    assert.equal(await page.getByLabel("Settings of").inputValue(), "default");
    const blocked = await page.evaluate(() => !dispatchEvent(new Event("beforeunload", { cancelable: true })));
    assert.equal(blocked, true);
    await page.getByRole("link", { name: "Changes" }).click();
    await dialog().getByRole("button", { name: "Leave without saving" }).click();
    await page.locator("body[data-state=changes]").waitFor();
    assert.equal(await page.evaluate(() => !dispatchEvent(new Event("beforeunload", { cancelable: true }))), false);
  });
});

describe("assistants", () => {
  test("one is added disabled, enabled, and deleted after a confirmation", async () => {
    await open("default");
    await page.getByRole("button", { name: "Add an assistant" }).click();
    await dialog().getByLabel("Name").fill("My shop");
    await dialog().getByLabel("Name").press("Enter");
    await dialog().getByRole("alert").filter({ hasText: "lower case letters" }).waitFor();
    await assertNoViolations(page, "a new assistant");
    await dialog().getByLabel("Name").fill("shop");
    await dialog().getByRole("button", { name: "Add" }).click();
    await said("Added shop.");
    assert.equal((await assistant("shop")).enabled, false);
    await page.getByLabel("Enabled").check();
    await save().click();
    await said("Saved.");
    assert.equal((await assistant("shop")).enabled, true);
    await page.getByRole("button", { name: "Delete this assistant" }).click();
    await dialog().getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("button", { name: "Delete this assistant" }).click();
    await dialog().getByRole("button", { name: "Delete" }).click();
    await said("Deleted shop.");
    assert.equal(await assistant("shop"), undefined);
    assert.equal(await page.getByLabel("Settings of").inputValue(), "default");
    await page.getByText("It answers where a page names no assistant").waitFor();
  });
});

describe("settings of all assistants", () => {
  test("offers only what is stricter, and asks before anything is deleted", async () => {
    await patch("chat_settings", "id=eq.true", { retention_days: 30, keep_refusals: "anonymous", gap_users: 2 });
    await open();
    const options = page.getByLabel("Keep questions without an answer").locator("option:not([disabled])");
    assert.deepEqual(await options.allTextContents(), ["Nothing", "The question and the day"]);
    for (const wrong of ["31", ""]) {
      await page.getByLabel("Keep conversations for").fill(wrong);
      await save().click();
      await setting("retention_days").getByText("not above the present one").waitFor();
    }
    await page.getByLabel("Keep conversations for").fill("10");
    await page.getByLabel("Answered share").fill("0.8");
    await save().click();
    await dialog().getByText("Conversations without a message for 10 days").waitFor();
    await dialog().getByRole("button", { name: "Save" }).click();
    await said("Saved.");
    const { retention_days: days, alert_answered_share: share } = await settings();
    assert.deepEqual([days, share], [10, 0.8]);
    await page.getByText("The owner has not set a webhook").waitFor();
    await page.getByRole("heading", { name: "Only for the owner" }).waitFor();
  });
});

describe("changes", () => {
  const rows = () => page.locator(".trail tbody tr");

  test("lists who changed what, in pages, as text", async () => {
    await open();
    await page.getByRole("link", { name: "Changes" }).click();
    await rows().first().waitFor();
    await page.getByText("you").first().waitFor();
    for (let index = 0; index < 55; index++)
      await patch("assistants", "name=eq.default", { greeting: `Hello ${index}` });
    await patch("assistants", "name=eq.default", { greeting: HOSTILE });
    await patch("chat_settings", "id=eq.true", { alert_url: "https://hooks.example/secret-token" });
    await page.goto("about:blank");
    await page.goto(`${site.origin}/insights/#changes`);
    await rows().first().waitFor();
    assert.equal(await rows().count(), 50);
    const cells = await rows().nth(1).locator("th, td").allInnerTexts();
    assert.deepEqual(cells.slice(1), ["the secret key", "Assistant default: Greeting", "Hello 54", HOSTILE]);
    assert.deepEqual((await rows().nth(0).locator("th, td").allInnerTexts()).slice(2), [
      "All assistants: alert_url",
      "not recorded",
      "not recorded",
    ]);
    assert.doesNotMatch(await page.locator("main").innerText(), /secret-token/);
    await page.getByRole("button", { name: "Show older changes" }).click();
    await rows().nth(60).waitFor();
    assert.equal(new Set(await rows().allInnerTexts()).size > 55, true);
    assert.equal(await page.evaluate(() => window["hacked"]), undefined);
    await patch("chat_settings", "id=eq.true", { alert_url: null });
  });
});

test("both pages are accessible in both themes and at 320 px, and nothing is cut off", async () => {
  await patch("assistants", "name=eq.default", {
    title: "W".repeat(100),
    suggested_questions: ["W".repeat(200)],
    allowed_origins: ["https://shop.example.com"],
  });
  for (const hash of ["#settings", "#settings-general", "#changes"]) {
    await page.goto("about:blank");
    await page.goto(`${site.origin}/insights/${hash.slice(0, 9)}`);
    await page.locator("form.settings, .trail tbody tr").first().waitFor();
    if (hash === "#settings-general") await choose("");
    for (const colorScheme of /** @type {const} */ (["light", "dark"])) {
      await page.emulateMedia({ colorScheme });
      for (const width of [1280, 320]) {
        await page.setViewportSize({ width, height: 900 });
        await page.waitForTimeout(50);
        const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        assert.ok(overflow <= 0, `${hash} ${colorScheme} ${width}: ${overflow} px too wide`);
        await assertNoViolations(page, `${hash} ${colorScheme} ${width}`);
      }
    }
  }
  await page.emulateMedia({ colorScheme: null });
  await page.setViewportSize({ width: 1280, height: 900 });
});

test("a visitor sees neither settings nor changes", async () => {
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.locator("body[data-state=sign-in]").waitFor();
  await page.goto(`${site.origin}/insights/#settings`);
  await signIn(page, visitor);
  await page.locator("body[data-state=forbidden]").waitFor();
  assert.equal(await page.getByRole("link", { name: "Settings" }).count(), 0);
  assert.equal(await page.locator("form.settings").count(), 0);
});
