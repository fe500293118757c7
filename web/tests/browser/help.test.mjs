// The help, a page of the history. Real Chromium and embedder, simulated API.
import assert from "node:assert/strict";
import { test } from "node:test";
import { QUESTION, startWidgetSuite } from "./pages/widget/suite.mjs";

const { site, open } = await startWidgetSuite();

const hidden = { state: "hidden" };
const openHelp = async (widget) => {
  await widget.role("input").focus();
  await widget.role("history-open").click();
  await widget.role("help-open").click();
  await widget.role("help").waitFor();
};
const focused = (widget) =>
  widget.element.evaluate((chat) => {
    const { activeElement } = chat.shadowRoot;
    return activeElement.dataset.role ?? activeElement.textContent;
  });

test("the help opens with the focus on its heading; Escape returns to the history, and not past it", async (t) => {
  const widget = await open(t, { attributes: { mode: "floating" } });
  await widget.element.locator("[part~=launcher]").click();
  await openHelp(widget);
  assert.equal(await focused(widget), "Help");
  await widget.page.keyboard.press("Escape");
  await widget.role("help").waitFor(hidden);
  assert.equal(await focused(widget), "help-open");
  assert.equal(await widget.role("history").isVisible(), true);
});

test("the help gives way to a question of the page", async (t) => {
  const widget = await open(t);
  await openHelp(widget);
  await widget.call("ask", QUESTION);
  await widget.role("help").waitFor(hidden);
  assert.equal(await widget.role("assistant").isVisible(), true);
});

for (const lang of ["eng", "enm", "EN", "en-us"])
  test(`the help has its texts on a page in ${lang}`, async (t) => {
    const widget = await open(t, { attributes: { lang } });
    await widget.role("input").focus();
    await widget.role("history-open").click();
    assert.equal(await widget.role("help-open").innerText(), "Help");
    await widget.role("help-open").click();
    await widget.role("help").getByRole("heading").nth(1).waitFor();
  });

test("the help follows the language, also while it is open", async (t) => {
  const widget = await open(t, { attributes: { lang: "de-AT" } });
  await openHelp(widget);
  await widget.role("help").getByText("Antworten sind Zitate").waitFor();
  assert.match(await widget.role("help").innerText(), /^Hilfe\n[^]*„Verlauf“ zeigt sie/);
  for (const [lang, heading] of [
    ["ar", "الإجابات اقتباسات"],
    ["ja", "回答は引用です"],
    ["fr", "Les réponses sont des citations"],
    ["es", "Las respuestas son citas"],
    ["pt", "Answers are quotes"],
  ]) {
    await widget.element.evaluate((chat, value) => chat.setAttribute("lang", value), lang);
    await widget.role("help").getByText(heading).waitFor();
  }
});

test("the help is loaded on demand, and a failure is reported", async (t) => {
  const widget = await open(t);
  await widget.role("input").focus();
  await widget.role("history-open").click();
  await widget.role("help-open").waitFor();
  assert.ok(!site.requests.some((path) => path.includes("/help-")));
  site.interfere = (path, response) => path.includes("/help-") && response.writeHead(404).end();
  await widget.role("help-open").click();
  await widget.role("help-open").getByText("could not be loaded").waitFor();
});
