// Compares custom-elements.json with the sources of the widget and with the element in Chromium.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import { openBrowser } from "../lib/browser.mjs";
import { serve } from "../lib/static-server.mjs";
import { createConsumer, EMBEDDER, WIDGET } from "./consumer.mjs";
import { readCustomProperties, readSource } from "./widget-source.mjs";

/** Methods that the manifest leaves out: every custom element has them. */
const CALLBACKS = ["constructor", "connectedCallback", "disconnectedCallback", "attributeChangedCallback"];

let consumer, server, browser, description, manifest, element;
const source = readSource();

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

test("package.json points to the manifest, and the modules it names are in the package", async () => {
  assert.equal(description.customElements, "dist/custom-elements.json");
  assert.equal(manifest.schemaVersion, "1.0.0");
  for (const { path } of manifest.modules) await readFile(consumer.path("node_modules/@evidence-chat/widget", path));
  const definition = manifest.modules.flatMap(({ exports }) => exports).find(({ kind }) => kind.startsWith("custom"));
  assert.equal(definition.name, "evidence-chat");
  assert.equal(manifest.modules.find(({ path }) => path === definition.declaration.module).declarations[0], element);
});

test("the manifest lists exactly the attributes that the element observes or reads", async () => {
  const observed = await withClass(({ observedAttributes }) => observedAttributes);
  assert.notEqual(source.attributes.size, 0);
  assert.deepEqual(names(element.attributes), [...new Set([...observed, ...source.attributes])].sort());
});

test("the components of frameworks have exactly the attributes of the element", () => {
  assert.deepEqual([...source.componentAttributes].sort(), names(element.attributes));
});

test("the manifest lists exactly the public methods and properties of the element", async () => {
  const [methods, fields] = await withClass(({ prototype }) => {
    const names = Object.getOwnPropertyNames(prototype);
    const isMethod = (name) => typeof Object.getOwnPropertyDescriptor(prototype, name)?.value === "function";
    return [names.filter(isMethod), names.filter((name) => !isMethod(name))];
  });
  const listed = (wanted) => names(element.members.filter(({ kind }) => kind === wanted));
  assert.deepEqual(listed("method"), methods.filter((name) => !CALLBACKS.includes(name)).sort());
  assert.deepEqual(listed("field"), fields.sort());
});

/** Values of attributes that accept only some. */
const VALUES = { mode: "floating", position: "start", "answer-mode": "extractive" };

test("every attribute with a field name reflects that property", async () => {
  for (const { name, fieldName } of element.attributes.filter((attribute) => attribute.fieldName)) {
    const value = await browser.page.evaluate(
      async ([attribute, field, assigned]) => {
        const module = "/dist/index.js";
        const { EvidenceChatElement } = await import(module);
        if (!customElements.get("evidence-chat")) customElements.define("evidence-chat", EvidenceChatElement);
        const made = document.createElement("evidence-chat");
        made[field] = assigned;
        return [made.getAttribute(attribute), made[field]];
      },
      [name, fieldName, VALUES[name] ?? "/x"],
    );
    assert.equal(value[0], value[1]);
    assert.notEqual(value[0], null);
  }
});

test("the manifest lists exactly the events of EvidenceChatEventMap, each with its type", async () => {
  assert.deepEqual(names(element.events), [...source.events].sort());
  for (const { name, type, description: text } of element.events) {
    assert.equal(type.text, `EvidenceChatEventMap["${name}"]`);
    assert.notEqual(text, "");
  }
});

test("the manifest lists exactly the parts in the code and the custom properties in the styles", async () => {
  assert.deepEqual(names(element.cssParts), [...source.parts].sort());
  assert.deepEqual(names(element.cssProperties), [...(await readCustomProperties())].sort());
});
