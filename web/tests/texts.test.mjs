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

const { LAUNCHER_TEXTS } = await importTs(new URL("launcher.ts", SOURCES));
/** Every language but English. */
const LANGUAGES = Object.keys(LAUNCHER_TEXTS).filter((language) => language !== "en");
const { texts: english } = await importTs(new URL("panel/en.ts", SOURCES));
const panels = new Map();
for (const language of LANGUAGES) {
  panels.set(language, (await importTs(new URL(`panel/${language}.ts`, SOURCES))).texts);
}
const inEnglish = { ...LAUNCHER_TEXTS.en, ...english };

/**
 * The texts of a language by name; the forms of a number as `name.form`.
 * @returns {{ name: string, key: string, form?: string, text: string }[]}
 */
function textsIn(language) {
  const texts = { ...LAUNCHER_TEXTS[language], ...panels.get(language) };
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

test("the panel has a file of texts for each language of the launcher, and no other file", async () => {
  const names = await readdir(new URL("panel/", SOURCES));
  assert.deepEqual(
    names.sort(),
    Object.keys(LAUNCHER_TEXTS)
      .map((language) => `${language}.ts`)
      .sort(),
  );
});

test("the launcher and the panel have no text in common", () => {
  const shared = Object.keys(LAUNCHER_TEXTS.en).filter((key) => Object.hasOwn(english, key));
  assert.deepEqual(shared, []);
});

for (const language of LANGUAGES) {
  test(`${language} has exactly the texts of English`, () => {
    assert.deepEqual(Object.keys(panels.get(language)).sort(), Object.keys(english).sort());
    assert.deepEqual(Object.keys(LAUNCHER_TEXTS[language]).sort(), Object.keys(LAUNCHER_TEXTS.en).sort());
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
    for (const [key, message] of Object.entries(panels.get(language))) {
      assert.equal(typeof message, typeof english[key], key);
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

test("the help has every topic in every language, in words of that language", async () => {
  const help = new Map();
  for (const language of ["en", ...LANGUAGES]) {
    const url = new URL(`../panel/help/texts/${language}.ts`, SOURCES);
    help.set(language, (await importTs(url)).texts);
  }
  const places = ({ topics }) => topics.flat().map(placesIn);
  for (const language of LANGUAGES) {
    const texts = help.get(language);
    assert.deepEqual(places(texts), places(help.get("en")), language);
    const inBoth = texts.topics.flat().filter((text) => JSON.stringify(help.get("en")).includes(text));
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
  for (const text of texts) assert.equal(english[serverText((key) => key, text)], text);
});
