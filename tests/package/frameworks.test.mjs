// The examples for React and Vue, built against the packed widget.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { openExample } from "./framework.mjs";

const PACKAGES = {
  "vite-react": ["react", "react-dom", "vite"],
  "vite-vue": ["vue", "vite", "@vitejs/plugin-vue"],
};

for (const [name, packages] of Object.entries(PACKAGES)) {
  describe(name, () => {
    let example, page;

    before(async () => {
      example = await openExample(name, packages, "the visitor's token");
      page = example.page;
    });

    after(() => example?.close());

    const chat = () => page.locator("evidence-chat");
    /** The text of the example below the chat. */
    const status = () => page.locator("#app > [role=status]");

    test("the element is upgraded and its attributes and properties are set", async () => {
      await chat().waitFor();
      const { isDefined, ...set } = await chat().evaluate((element) => ({
        isDefined: element instanceof customElements.get("evidence-chat"),
        endpoint: element.endpoint,
        heading: element.getAttribute("heading"),
        tokenProvider: element.hasAttribute("tokenprovider"),
      }));
      assert.ok(isDefined);
      assert.deepEqual(set, { endpoint: "/api/chat", heading: "Ask our handbook", tokenProvider: false });
      assert.equal(await chat().evaluate((element) => element.tokenProvider()), "the visitor's token");
    });

    test("the build contains the worker, the WebAssembly, and model and reader once", () => {
      const count = (pattern) => example.files.filter((name) => pattern.test(name)).length;
      assert.ok(count(/\.wasm$/) >= 1, example.files.join(", "));
      assert.ok(count(/worker/) >= 1, example.files.join(", "));
      assert.equal(count(/int8-[^/]*\.gz$/), 2, example.files.join(", "));
      assert.equal(count(/^reader-int8-[^/]*\.gz$/), 1, example.files.join(", "));
    });

    test("a question asked through the element carries the token, and its events reach the page", async () => {
      await status().filter({ hasText: "Sources of the last answer: 0" }).waitFor();
      await page.getByRole("button", { name: "How long does a refund take?" }).click();
      await status().filter({ hasText: "Sources of the last answer: 2" }).waitFor();
      assert.equal(example.asked.length, 1);
      assert.equal(await example.asked[0].headerValue("authorization"), "Bearer the visitor's token");
      assert.equal(example.asked[0].postDataJSON().message, "How long does a refund take?");
      assert.deepEqual(page.errors, []);
    });

    test("an error event reaches the page", async () => {
      const unavailable = { code: "unavailable", message: "Out for lunch.", retryable: true };
      await page.route("**/api/chat", (route) =>
        route.fulfill({ status: 503, json: { error: unavailable, ...unavailable } }),
      );
      await page.getByRole("button", { name: "How long does a refund take?" }).click();
      await status().filter({ hasNotText: "Sources" }).waitFor();
      assert.match(await status().textContent(), /\w{3}/);
    });
  });
}
