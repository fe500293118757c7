// JSON with valid fields and invalid values.
import { CHAT, SEARCH, chat, chatBody, rename, search, searchBody } from "./case.mjs";

/** @import { TextRoute } from "./case.mjs" */

const vector = (numbers) => `[${numbers.join(",")}]`;
const unit = (first = "1", length = 384) => vector([first, ...Array(length - 1).fill("0")]);

const VECTORS = {
  "is empty": "[]",
  "has one number": "[1]",
  "is one short": unit("1", 383),
  "is one long": unit("1", 385),
  "is of another model": unit("1", 1536),
  "has ten thousand numbers": unit("1", 10_000),
  "is nested in an array": `[${unit()}]`,
  "contains arrays": vector(Array(384).fill("[1]")),
  "contains objects": vector(Array(384).fill("{}")),
  "contains a text": unit('"1"'),
  "contains null": unit("null"),
  "contains true": unit("true"),
  "contains NaN as text": unit('"NaN"'),
  "contains NaN": unit("NaN"),
  "contains Infinity": unit("Infinity"),
  "contains minus Infinity": unit("-Infinity"),
  "contains a number beyond doubles": unit("1e400"),
  "contains a number far below doubles": unit("-1e400"),
  "contains an exponent beyond integers": unit("1e99999999999999999999"),
  "is zero": unit("0"),
  "is minus zero": unit("-0"),
  "is too long by a little": unit("1.002"),
  "is too short by a little": unit("0.998"),
  "is twice as long": unit("2"),
  "is long beyond measure": unit("1e308"),
  "is short beyond measure": unit("1e-308"),
  "overflows when it is measured": vector(Array(384).fill("1e200")),
  "overflows single precision": unit("1e39"),
  "is a text of numbers": '"[1,0,0]"',
  "is an object of numbers": '{"0":1,"length":384}',
  "is base64": '"AACAPw=="',
};

const TEXTS = {
  "is empty": '""',
  "is spaces": '"   "',
  "is line ends": '"\\n\\r\\n"',
  "is no-break spaces": '"\\u00a0\\u00a0"',
  "is ideographic spaces": '"\\u3000"',
  "is one line separator": '"\\u2028"',
  "contains NUL": '"a\\u0000b"',
  "is NUL": '"\\u0000"',
  "is one character too long": `"${"x".repeat(4001)}"`,
  "is one emoji too long": `"${"😀".repeat(4001)}"`,
  "is one combining mark too long": `"a${"\u0301".repeat(4000)}"`,
  "has ten thousand characters": `"${"x".repeat(10_000)}"`,
  "is too long in escapes": `"${"\\u0041".repeat(4001)}"`,
};

const WRONG_TYPES = {
  null: "null",
  "a number": "7",
  "a fraction": "0.5",
  true: "true",
  "an array": "[]",
  "an array of a text": '["a"]',
  "an object": "{}",
  "an object like a text": '{"length":1,"0":"a"}',
};

/** Values of wrong types for each field. `null` is allowed for optional fields. */
const FIELDS = {
  embedding: Object.keys(WRONG_TYPES),
  message: Object.keys(WRONG_TYPES),
  message_id: Object.keys(WRONG_TYPES),
  session_id: Object.keys(WRONG_TYPES).filter((name) => name !== "null"),
  model: Object.keys(WRONG_TYPES),
  include_citations: Object.keys(WRONG_TYPES).filter((name) => !["null", "true"].includes(name)),
  truncated: Object.keys(WRONG_TYPES).filter((name) => !["null", "true"].includes(name)),
  mode: Object.keys(WRONG_TYPES).filter((name) => name !== "null"),
  previous: Object.keys(WRONG_TYPES).filter((name) => name !== "null"),
  assistant: Object.keys(WRONG_TYPES).filter((name) => name !== "null"),
};

/** The same for a search. */
const SEARCH_FIELDS = {
  embedding: Object.keys(WRONG_TYPES),
  query: Object.keys(WRONG_TYPES),
  model: Object.keys(WRONG_TYPES),
  assistant: Object.keys(WRONG_TYPES).filter((name) => name !== "null"),
  limit: Object.keys(WRONG_TYPES).filter((name) => !["null", "a number"].includes(name)),
};

const LIMITS = {
  zero: "0",
  "one too many": "11",
  "below zero": "-1",
  "a number beyond integers": "1e400",
  "ten as a fraction": "1e1",
  "a text": '"5"',
};

const ID = "6f9619ff-8b86-4d01-b42d-00cf4fc964ff";

/** Texts that some parsers accept as a UUID. */
export const LOOK_ALIKES = {
  "no hyphens": ID.replaceAll("-", ""),
  braces: `{${ID}}`,
  "a prefix": `urn:uuid:${ID}`,
  "a space before it": ` ${ID}`,
  "a space after it": `${ID} `,
  "one digit less": ID.slice(1),
  "one digit more": `${ID}0`,
  "a letter that is not a digit": ID.replace("6f", "6g"),
  "hyphens in other places": "6f9619f-f8b86-4d01-b42d-00cf4fc964ff",
  "underscores for hyphens": ID.replaceAll("-", "_"),
  "long dashes for hyphens": ID.replaceAll("-", "\u2013"),
  "digits of another script": ID.replace("6", "６"),
  "a Cyrillic letter": ID.replace("c", "с"),
  "an operator": `eq.${ID}`,
  "SQL after it": `${ID}' or '1'='1`,
  "a list": `${ID},${ID}`,
};

const entries = (texts, make) => Object.entries(texts).map(([name, text]) => make(name, text));

const TITLES = {
  ...WRONG_TYPES,
  "an empty text": '""',
  spaces: '"   "',
  "no-break spaces": '"\\u00a0"',
  "one character too long": `"${"x".repeat(201)}"`,
  "one emoji too long": `"${"😀".repeat(201)}"`,
  "a text with NUL": '"a\\u0000b"',
};

const RENAMES = {
  "no title": "{}",
  "another field": '{"name":"a"}',
  "a field in addition to the title": '{"title":"a","user_id":"b"}',
  "an id in addition to the title": `{"title":"a","id":"${ID}"}`,
  "a prototype in addition to the title": '{"title":"a","__proto__":{"x":1}}',
  "the title twice": '{"title":"a","title":"b"}',
  "the title twice, once in escapes": '{"title":"a","\\u0074itle":"b"}',
  "an array": '["a"]',
  "a text": '"a"',
  nothing: "",
};

/** What is hostile in the same way for both routes. */
const casesOf = (/** @type {TextRoute} */ { post, bodyOf, text }) => [
  ...entries(VECTORS, (name, value) => post(`the vector ${name}`, bodyOf({ embedding: value }))),
  ...entries(TEXTS, (name, value) => post(`the text ${name}`, bodyOf({ [text]: value }))),
  post("the model is an empty text", bodyOf({ model: '""' })),
  post("the model is too long", bodyOf({ model: `"${"m".repeat(129)}"` })),
  post("the fields hide in __proto__", `{"__proto__":${bodyOf()}}`),
  post("the fields hide in constructor", `{"constructor":{"prototype":${bodyOf()}}}`),
];

const before = (embedding, message = '"Why?"') =>
  chatBody({ previous: `{"message":${message},"embedding":${embedding}}` });

export const FIELD_CASES = [
  ...casesOf(CHAT),
  ...casesOf(SEARCH),
  ...entries(VECTORS, (name, text) => chat(`the vector with the question before ${name}`, before(text))),
  ...entries(TEXTS, (name, text) => chat(`the question before ${name}`, before(unit(), text))),
  ...Object.entries(SEARCH_FIELDS).flatMap(([field, types]) =>
    types.map((type) => search(`${field} is ${type}`, searchBody({ [field]: WRONG_TYPES[type] }))),
  ),
  ...entries(LIMITS, (name, text) => search(`the limit is ${name}`, searchBody({ limit: text }))),
  ...["embedding", "query", "model"].map((field) => search(`${field} is missing`, searchBody({ [field]: undefined }))),
  search("a question", chatBody()),
  search("it names the query twice", `{"query":"first",${searchBody().slice(1)}`),
  search("it names the query twice, once in escapes", `{"qu\\u0065ry":"first",${searchBody().slice(1)}`),
  ...Object.entries(FIELDS).flatMap(([field, types]) =>
    types.map((type) => chat(`${field} is ${type}`, chatBody({ [field]: WRONG_TYPES[type] }))),
  ),
  ...["embedding", "message", "message_id", "model"].map((field) =>
    chat(`${field} is missing`, chatBody({ [field]: undefined })),
  ),
  ...["Message", "MESSAGE", "message ", "messag\u0435"].map((name) =>
    chat(`"${name}" is not message`, chatBody({ message: undefined, [name]: '"hi"' })),
  ),
  ...entries(LOOK_ALIKES, (name, text) =>
    chat(`message_id has ${name}`, chatBody({ message_id: JSON.stringify(text) })),
  ),
  ...entries(LOOK_ALIKES, (name, text) =>
    chat(`session_id has ${name}`, chatBody({ session_id: JSON.stringify(text) })),
  ),
  ...entries(TITLES, (name, text) => rename(`a title is ${name}`, `{"title":${text}}`)),
  ...entries(RENAMES, (name, text) => rename(`a new title is ${name}`, text)),
];
