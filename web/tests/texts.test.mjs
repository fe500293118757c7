import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { test } from "node:test";
import { importTs } from "../../tests/lib/import-ts.mjs";

const SOURCES = new URL("../src/texts/", import.meta.url);

/** Texts that are equal in English and in that language. */
const SAME = {
  ar: ["sourceNumber"],
  de: ["exportFormat", "sourceNumber"],
  es: ["sourceNumber"],
  fr: [
    "conversation",
    "exportFormat",
    "page",
    "passages.one",
    "passages.other",
    "source",
    "sourceNumber",
    "sources.one",
    "sources.other",
  ],
  ja: ["sourceNumber"],
};

const { LAUNCHER_TEXTS } = await importTs(new URL("index.ts", SOURCES));
/** Every language but English. */
const LANGUAGES = Object.keys(LAUNCHER_TEXTS).filter((language) => language !== "en");
const english = await importTs(new URL("en.ts", SOURCES));
const translations = new Map();
for (const language of LANGUAGES) translations.set(language, await importTs(new URL(`${language}.ts`, SOURCES)));
const inEnglish = { ...english.launcher, ...english.panel };

/**
 * The texts of a language by name; the forms of a number as `name.form`.
 * @returns {{ name: string, key: string, form?: string, text: string }[]}
 */
function textsIn(language) {
  const { launcher, panel } = translations.get(language);
  const texts = { ...launcher, ...panel };
  return Object.entries(texts).flatMap(([key, message]) => {
    /** @type {[form: string | undefined, text: string][]} */
    const forms = typeof message === "string" ? [[undefined, message]] : Object.entries(message);
    return forms.map(([form, text]) => ({ name: form === undefined ? key : `${key}.${form}`, key, form, text }));
  });
}

const placesIn = (text) => [...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).sort();

/** The form of a message that has all placeholders. */
const fullForm = (message) => (typeof message === "string" ? message : message.other);

/** Whether a plural form covers a single number, which may be spelled out. */
function isOfOneNumber(language, form) {
  const rules = new Intl.PluralRules(language);
  return Array.from({ length: 300 }, (_, count) => count).filter((count) => rules.select(count) === form).length === 1;
}

test("every file of texts is a language of the widget", async () => {
  const names = await readdir(SOURCES);
  assert.deepEqual(names.sort(), ["en", "index", ...LANGUAGES].map((name) => `${name}.ts`).sort());
});

test("the launcher and the panel have no text in common", () => {
  const shared = Object.keys(english.launcher).filter((key) => Object.hasOwn(english.panel, key));
  assert.deepEqual(shared, []);
});

for (const language of LANGUAGES) {
  test(`${language} has exactly the texts of English`, () => {
    const { launcher, panel } = translations.get(language);
    assert.deepEqual(Object.keys(panel).sort(), Object.keys(english.panel).sort());
    assert.deepEqual(Object.keys(launcher).sort(), Object.keys(english.launcher).sort());
  });

  test(`${language} has the placeholders of the English text in every plural form, except spelled-out numbers`, () => {
    for (const { name, key, form, text } of textsIn(language)) {
      const expected = placesIn(fullForm(inEnglish[key]));
      const places = placesIn(text);
      if (form && isOfOneNumber(language, form) && !places.includes("count")) places.push("count");
      assert.deepEqual(places.sort(), expected, `${name}: ${text}`);
    }
  });

  test(`${language} has all its plural forms for texts that have plural forms in English`, () => {
    const { pluralCategories } = new Intl.PluralRules(language).resolvedOptions();
    for (const [key, message] of Object.entries(translations.get(language).panel)) {
      assert.equal(typeof message, typeof english.panel[key], key);
      if (typeof message !== "string") assert.deepEqual(Object.keys(message).sort(), [...pluralCategories].sort(), key);
    }
  });

  test(`${language} has no text that is English, empty, or padded with blanks`, () => {
    const left = textsIn(language).filter(({ key, form, text }) => {
      const message = inEnglish[key];
      const forms = typeof message === "string" ? [message] : [message[form] ?? message.other];
      return forms.includes(text);
    });
    assert.deepEqual(left.map(({ name }) => name).sort(), SAME[language]);
    for (const { name, text } of textsIn(language)) {
      assert.notEqual(text, "", name);
      assert.equal(text, text.trim(), name);
    }
  });

  test(`${language} has braces only around names`, () => {
    for (const { name, text } of textsIn(language)) assert.doesNotMatch(text.replace(/\{\w+\}/g, ""), /[{}]/, name);
  });
}

test("Arabic and Japanese texts are in their own script", () => {
  /** @type {[language: string, script: RegExp][]} */
  const scripts = [
    ["ar", /\p{Script=Arabic}/u],
    ["ja", /[\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Han}]/u],
  ];
  for (const [language, script] of scripts) {
    for (const { name, text } of textsIn(language)) {
      if (!SAME[language].includes(name) && name !== "modelBytes") assert.match(text, script, name);
    }
  }
});

test("French texts have no-break spaces before double punctuation", () => {
  for (const { name, text } of textsIn("fr")) assert.doesNotMatch(text, /[^\u00a0\u202f][?!;:»]|«[^\u00a0]/, name);
});

test("the help has every topic in every language, in words of that language", () => {
  const places = ({ help }) => help.flat().map(placesIn);
  for (const language of LANGUAGES) {
    const translation = translations.get(language);
    assert.deepEqual(places(translation), places(english), language);
    const inBoth = translation.help.flat().filter((text) => JSON.stringify(english.help).includes(text));
    assert.deepEqual(inBoth, [], language);
  }
});

test("every default text of a refusal is known, so that it is shown in the visitor's language", async () => {
  const { serverText } = await importTs(new URL("../src/panel/chat/refusal-notice.ts", import.meta.url));
  const rust = await readFile(new URL("../../chat-core/src/refusal.rs", import.meta.url), "utf8");
  const texts = [...rust.matchAll(/^pub const \w+: &str = "([^"]+)";/gm)].map(([, text]) =>
    (text ?? "").replaceAll(/\\\n\s*/g, ""),
  );
  assert.ok(texts.length >= 4);
  for (const text of texts) assert.equal(english.panel[serverText((key) => key, text)], text);
});
