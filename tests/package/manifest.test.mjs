// custom-elements.json against the element itself: the source for what it reads, Chromium for what it has.
import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { extname } from "node:path";
import { after, before, test } from "node:test";
import { openBrowser } from "../lib/browser.mjs";
import { serve } from "../lib/static-server.mjs";
import { createConsumer, EMBEDDER, WIDGET } from "./consumer.mjs";

const SOURCES = new URL("../../web/src/", import.meta.url);

/** What every custom element has. */
const CALLBACKS = ["constructor", "connectedCallback", "disconnectedCallback", "attributeChangedCallback"];

let consumer, server, browser, description, manifest, element;

before(async () => {
  consumer = await createConsumer([EMBEDDER, WIDGET]);
  const installed = consumer.path("node_modules/@evidence-chat/widget");
  description = JSON.parse(await readFile(`${installed}/package.json`, "utf8"));
  manifest = JSON.parse(await readFile(`${installed}/${description.customElements}`, "utf8"));
  element = manifest.modules.flatMap(({ declarations }) => declarations).find(({ tagName }) => tagName);
  await consumer.write("node_modules/@evidence-chat/widget", {
    "index.html": "<!doctype html><title>manifest</title>",
  });
  server = await serve(installed);
  browser = await openBrowser();
  await browser.page.goto(server.origin);
});

after(async () => {
  await browser?.close();
  await server?.close();
  await consumer?.remove();
});

const names = (list) => list.map(({ name }) => name).sort();

/** Runs a function with the element's class. */
const withClass = (use) =>
  browser.page.evaluate(
    `import("/dist/index.js").then(({ EvidenceChatElement }) => (${use.toString()})(EvidenceChatElement))`,
  );

test("the package says where the manifest is, and the manifest names modules that the package has", async () => {
  assert.equal(description.customElements, "dist/custom-elements.json");
  assert.equal(manifest.schemaVersion, "1.0.0");
  for (const { path } of manifest.modules) await readFile(consumer.path("node_modules/@evidence-chat/widget", path));
  const definition = manifest.modules.flatMap(({ exports }) => exports).find(({ kind }) => kind.startsWith("custom"));
  assert.equal(definition.name, "evidence-chat");
  assert.equal(manifest.modules.find(({ path }) => path === definition.declaration.module).declarations[0], element);
});

test("it lists the attributes that the element observes or reads, and no others", async () => {
  const observed = await withClass(({ observedAttributes }) => observedAttributes);
  const { code } = await readSources();
  const reads = code.matchAll(/(?:this|host\.element)\.(?:get|has)Attribute\("([^"]+)"\)/g);
  const read = Array.from(reads, ([, name]) => name);
  assert.deepEqual(names(element.attributes), [...new Set([...observed, ...read])].sort());
});

test("it lists the methods and properties that the element has, and no others", async () => {
  const [methods, fields] = await withClass(({ prototype }) => {
    const all = Object.entries(Object.getOwnPropertyDescriptors(prototype));
    const isMethod = ([, { value }]) => typeof value === "function";
    return [all.filter(isMethod), all.filter((entry) => !isMethod(entry))].map((list) => list.map(([name]) => name));
  });
  const listed = (wanted) => names(element.members.filter(({ kind }) => kind === wanted));
  assert.deepEqual(listed("method"), methods.filter((name) => !CALLBACKS.includes(name)).sort());
  assert.deepEqual(listed("field"), fields.sort());
});

test("attributes that are properties as well say so", async () => {
  for (const { name, fieldName } of element.attributes.filter((attribute) => attribute.fieldName)) {
    const value = await browser.page.evaluate(
      async ([attribute, field]) => {
        const { EvidenceChatElement } = await import("/dist/index.js");
        if (!customElements.get("evidence-chat")) customElements.define("evidence-chat", EvidenceChatElement);
        const made = document.createElement("evidence-chat");
        made[field] = attribute === "mode" ? "floating" : "/x";
        return [made.getAttribute(attribute), made[field]];
      },
      [name, fieldName],
    );
    assert.equal(value[0], value[1]);
    assert.notEqual(value[0], null);
  }
});

test("it lists the events that the types know, each with its type", async () => {
  const types = await readFile(new URL("element/events.ts", SOURCES), "utf8");
  const map = types.match(/interface EvidenceChatEventMap \{([^}]*(?:\{[^}]*\}[^}]*)*)\n\}/)[1];
  const known = Array.from(map.matchAll(/^ {2}"?([\w-]+)"?:/gm), ([, name]) => name);
  assert.deepEqual(names(element.events), known.sort());
  for (const { name, type, description: text } of element.events) {
    assert.equal(type.text, `EvidenceChatEventMap["${name}"]`);
    assert.notEqual(text, "");
  }
});

test("it lists the parts that the code names, and the custom properties that the styles read", async () => {
  const { code, css } = await readSources();
  const parts = Array.from(code.matchAll(/\bpart: "([^"]+)"/g), ([, value]) => value.split(" ")).flat();
  assert.deepEqual(names(element.cssParts), [...new Set(parts)].sort());
  const properties = Array.from(css.matchAll(/var\(\s*(--evidence-chat-[\w-]+)/g), ([, name]) => name);
  assert.deepEqual(names(element.cssProperties), [...new Set(properties)].sort());
});

/** All the widget's TypeScript and all its style sheets. */
async function readSources() {
  const texts = { code: "", css: "" };
  for (const name of await readdir(SOURCES, { recursive: true })) {
    const kind = { ".ts": "code", ".css": "css" }[extname(name)];
    if (kind) texts[kind] += await readFile(new URL(name, SOURCES), "utf8");
  }
  return texts;
}
