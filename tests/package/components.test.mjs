// The components for React and Vue in the packed widget: on a server, by types, and while they change in a page.
import assert from "node:assert/strict";
import { mkdir, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { build as bundle } from "esbuild";
import { build } from "vite";
import { openBrowser } from "../lib/browser.mjs";
import { serve } from "../lib/static-server.mjs";
import { createConsumer, EMBEDDER, WIDGET } from "./consumer.mjs";

const INSTALLED = fileURLToPath(new URL("../../node_modules", import.meta.url));
const TSC = join(INSTALLED, "typescript/bin/tsc");

let consumer, browser;

before(async () => {
  consumer = await createConsumer([EMBEDDER, WIDGET]);
  for (const name of ["react", "react-dom", "@types/react", "vue"]) {
    const link = consumer.path("node_modules", name);
    await mkdir(dirname(link), { recursive: true });
    await symlink(join(INSTALLED, name), link);
  }
  browser = await openBrowser();
});

after(async () => {
  await browser?.close();
  await consumer?.remove();
});

test("React renders the element on a server, with attributes and without properties and handlers", async () => {
  await consumer.write(".", {
    "server-react.mjs": `
      import { createElement } from "react";
      import { renderToString } from "react-dom/server";
      import { EvidenceChat } from "@evidence-chat/widget/react";
      const props = { endpoint: "/api/chat", modelUrl: "/m/", preload: true, className: "wide", style: { height: 300 },
        mode: undefined, tokenProvider: async () => null, onMessage: () => {}, texts: { send: "Go" } };
      console.log(renderToString(createElement(EvidenceChat, props, "Hi")));`,
  });
  assert.equal(
    (await consumer.node("server-react.mjs")).trim(),
    '<evidence-chat endpoint="/api/chat" model-url="/m/" preload="" style="height:300px" class="wide">Hi</evidence-chat>',
  );
});

test("Vue renders the element on a server, with attributes and without properties and handlers", async () => {
  await consumer.write(".", {
    "server-vue.mjs": `
      import { createSSRApp, h } from "vue";
      import { renderToString } from "vue/server-renderer";
      import { EvidenceChat, EvidenceChatPlugin } from "@evidence-chat/widget/vue";
      const props = { endpoint: "/api/chat", modelUrl: "/m/", preload: true, class: "wide", "data-x": "1",
        tokenProvider: async () => null, onMessage: () => {}, texts: { send: "Go" } };
      const app = createSSRApp({ render: () => h(EvidenceChat, props, () => "Hi") }).use(EvidenceChatPlugin);
      console.log(await renderToString(app), app.component("EvidenceChat") === EvidenceChat);`,
  });
  assert.equal(
    (await consumer.node("server-vue.mjs")).trim().replace(/<!--.*?-->/g, ""),
    '<evidence-chat endpoint="/api/chat" model-url="/m/" preload class="wide" data-x="1">Hi</evidence-chat> true',
  );
});

test("a server may load every entry from a bundle of CommonJS modules, which have no address", async () => {
  for (const entry of ["", "/define", "/client", "/react", "/vue"]) {
    const code = `import * as entry from "@evidence-chat/widget${entry}"; console.log(Object.keys(entry).length > 0);`;
    await consumer.write("common-js", { "main.mjs": code });
    await bundle({
      entryPoints: [consumer.path("common-js/main.mjs")],
      outfile: consumer.path("common-js/main.cjs"),
      ...{ bundle: true, platform: "node", format: "cjs", logOverride: { "empty-import-meta": "silent" } },
    });
    assert.equal(await consumer.node("common-js/main.cjs"), "true\n", entry);
  }
});

test("the components' types accept what they take, and nothing else", async () => {
  await consumer.write("types", {
    "react.tsx": `
      import { EvidenceChat, type EvidenceChatElement } from "@evidence-chat/widget/react";
      import { createRef } from "react";
      const ref = createRef<EvidenceChatElement>();
      export const chat = (
        <EvidenceChat ref={ref} endpoint="/api/chat" mode="floating" preload tokenProvider={async () => null}
          onMessage={({ detail }) => detail.citations.length} onCitationOpen={({ detail }) => detail.citation.title}>
          Hi
        </EvidenceChat>
      );
      export const plain = <evidence-chat endpoint="/api/chat" model-url="/m/" />;
      // @ts-expect-error a token alone is no provider
      export const token = <EvidenceChat tokenProvider="token" />;
      // @ts-expect-error there is no such place
      export const place = <EvidenceChat mode="sideways" />;
      export const asked: Promise<void> | undefined = ref.current?.ask("How?");`,
    "vue.ts": `
      import { h } from "vue";
      import { EvidenceChat } from "@evidence-chat/widget/vue";
      const props = { endpoint: "/api/chat", mode: "floating", preload: true, tokenProvider: async () => null } as const;
      export const chat = h(EvidenceChat, { ...props, onMessage: ({ detail }) => detail.citations.length });
      // @ts-expect-error a token alone is no provider
      export const token = h(EvidenceChat, { tokenProvider: "token" });
      // @ts-expect-error there is no such place
      export const place = h(EvidenceChat, { mode: "sideways" });
      export const asked = (instance: InstanceType<typeof EvidenceChat>): Promise<void> => instance.ask("How?");`,
  });
  const options = [
    "--noEmit",
    "--strict",
    "--target",
    "es2022",
    "--lib",
    "es2023,dom,dom.iterable",
    "--jsx",
    "react-jsx",
  ];
  for (const resolution of [
    ["--module", "nodenext"],
    ["--module", "esnext", "--moduleResolution", "bundler"],
  ])
    await consumer
      .node(TSC, ...options, ...resolution, "types/react.tsx", "types/vue.ts")
      .catch(({ stdout }) => assert.fail(stdout));
});

/** A page whose component has state: `page` has `set(props)`, `unmount()` and the log of handlers `calls`. */
const PAGES = {
  react: `
    import { createElement, useState } from "react";
    import { createRoot } from "react-dom/client";
    import { flushSync } from "react-dom";
    import { EvidenceChat } from "@evidence-chat/widget/react";
    let change;
    function Page() {
      const [props, setProps] = useState({ number: 1, heading: "One" });
      change = setProps;
      return createElement(EvidenceChat, {
        heading: props.heading, preload: props.preload,
        ...(props.number && { endpoint: "/api/chat", lang: "de", position: "start", texts: { send: "Go" },
          tokenProvider: async () => "token " + props.number }),
        onMessage: ({ detail }) => page.calls.push(props.number + " " + detail.text),
        onCitationOpen: () => page.calls.push("opened"),
      });
    }
    const root = createRoot(document.getElementById("app"));
    globalThis.page = { calls: [], set: (props) => flushSync(() => change(props)), unmount: () => root.unmount() };
    flushSync(() => root.render(createElement(Page)));`,
  vue: `
    import { createApp, h, nextTick, reactive, shallowRef } from "vue";
    import { EvidenceChat } from "@evidence-chat/widget/vue";
    const props = shallowRef({ number: 1, heading: "One" });
    const texts = reactive({ send: "Go" });
    const app = createApp({
      render: () => h(EvidenceChat, {
        heading: props.value.heading, preload: props.value.preload,
        ...(props.value.number && { endpoint: "/api/chat", lang: "de", position: "start", texts,
          tokenProvider: (({ number }) => async () => "token " + number)(props.value) }),
        onMessage: ({ detail }) => page.calls.push(props.value.number + " " + detail.text),
        onCitationOpen: () => page.calls.push("opened"),
      }),
    });
    globalThis.page = {
      calls: [],
      set: (value) => ((props.value = value), nextTick()),
      unmount: () => app.unmount(),
      rename: (send) => ((texts.send = send), nextTick()),
    };
    app.mount("#app");`,
};

for (const [name, code] of Object.entries(PAGES)) {
  test(`${name}: a change of properties reaches the element, and an unmounted component hears nothing`, async (t) => {
    const root = await consumer.write(`page-${name}`, {
      "index.html":
        '<!doctype html><title>x</title><div id="app"></div><script type="module" src="./main.js"></script>',
      "main.js": code,
    });
    await build({ root, logLevel: "error" });
    const server = await serve(join(root, "dist"));
    t.after(() => server.close());
    const { page } = browser;
    page.errors.length = 0;
    await page.goto(server.origin);
    const chat = page.locator("evidence-chat");
    const state = () =>
      chat.evaluate(async (element) => [
        element.shadowRoot.querySelector("h2").textContent,
        await element.tokenProvider(),
        element.hasAttribute("preload"),
      ]);
    const say = (text) =>
      chat.evaluate((element, text) => {
        element.dispatchEvent(new CustomEvent("message", { detail: { text } }));
        element.dispatchEvent(new CustomEvent("citation-open"));
      }, text);
    await chat.waitFor();
    assert.deepEqual(await state(), ["One", "token 1", false]);
    await say("a");
    await page.evaluate(() => page.set({ number: 2, heading: "Two" }));
    assert.deepEqual(await state(), ["Two", "token 2", false]);
    await say("b");
    await page.evaluate(() => page.set({ heading: "Two" }));
    await page.waitForFunction(() => !document.querySelector("evidence-chat").tokenProvider);
    const left = await chat.evaluate((element) => [element.getAttributeNames(), element.texts, element.endpoint]);
    assert.deepEqual(
      left,
      [["heading", "data-state"], {}, ""],
      "attributes and properties that are no longer given have their defaults again",
    );
    await page.evaluate(() => page.set({ number: 2, heading: "Two" }));
    await page.waitForFunction(() => document.querySelector("evidence-chat").tokenProvider);
    assert.deepEqual(await state(), ["Two", "token 2", false]);
    const send = chat.locator("[data-role=send]");
    assert.equal(await send.getAttribute("aria-label"), "Go");
    if (name === "vue") {
      await page.evaluate(() => page.rename("Los"));
      assert.equal(await send.getAttribute("aria-label"), "Los", "a change inside a reactive object");
    }
    const calls = await chat.evaluate(async (element) => {
      page.unmount();
      element.dispatchEvent(new CustomEvent("message", { detail: { text: "c" } }));
      return page.calls;
    });
    if (name === "react") assert.deepEqual(calls, ["1 a", "opened", "2 b", "opened"]);
    else assert.deepEqual(calls.slice(0, 4), ["1 a", "opened", "2 b", "opened"]);
    assert.deepEqual(page.errors, []);
  });
}
