// Bodies that are not JSON, or JSON that parsers read differently.
import { CHAT, SEARCH, chat, chatBody, rename } from "./case.mjs";

/** @import { TextRoute } from "./case.mjs" */

const nested = (open, close, depth, core = "") => open.repeat(depth) + core + close.repeat(depth);

const DEPTHS = [129, 1_000, 10_000];

const bombs = (/** @type {TextRoute} */ { post, bodyOf, text }) =>
  DEPTHS.flatMap((depth) => [
    post(`${depth} arrays in each other`, nested("[", "]", depth)),
    post(`${depth} open arrays`, "[".repeat(depth)),
    post(`${depth} arrays in an unknown field`, bodyOf({ x: nested("[", "]", depth) })),
    post(`${depth} arrays in the text`, bodyOf({ [text]: nested("[", "]", depth) })),
    post(`${depth} arrays in the vector`, bodyOf({ embedding: nested("[", "]", depth) })),
    post(`${depth} objects in an unknown field`, bodyOf({ x: nested('{"":', "}", depth, "1") })),
  ]);

/** @returns {Record<string, string>} */
const wholeBodies = (/** @type {TextRoute} */ { bodyOf, text }) => ({
  nothing: "",
  "white space": " \n\t\r ",
  null: "null",
  true: "true",
  "a number": "0",
  "a negative zero": "-0",
  "a huge number": "1e400",
  "a string": '"message"',
  "an empty array": "[]",
  "an array of a valid body": `[${bodyOf()}]`,
  "our fields in order, as an array": '[[1],"hi","6f9619ff-8b86-4d01-b42d-00cf4fc964ff",null,null,true]',
  "an empty object": "{}",
  "an open object": "{",
  "a closed object": "}",
  "an open string": '{"message":"',
  "a body without its last brace": bodyOf().slice(0, -1),
  "one half of a body": bodyOf().slice(0, 400),
  "a body and a brace": `${bodyOf()}}`,
  "a body and a comma": `${bodyOf()},`,
  "two bodies": bodyOf() + bodyOf(),
  "two bodies on two lines": `${bodyOf()}\n${bodyOf()}`,
  "a body and a NUL": `${bodyOf()}\0`,
  "a NUL and a body": `\0${bodyOf()}`,
  "a byte order mark": `\uFEFF${bodyOf()}`,
  "a line that prevents execution as a script": `)]}',\n${bodyOf()}`,
  "a comment before it": `/* hello */${bodyOf()}`,
  "a comment after it": `${bodyOf()}// hello`,
  "a trailing comma": bodyOf().replace(/}$/, ",}"),
  "a leading comma": bodyOf().replace("{", "{,"),
  "single quotes": bodyOf().replaceAll('"', "'"),
  "names without quotes": bodyOf().replace(`"${text}":`, `${text}:`),
  "an equals sign": bodyOf().replace(`"${text}":`, `"${text}"=`),
  "no colon": bodyOf().replace(`"${text}":`, `"${text}" `),
  "two colons": bodyOf().replace(`"${text}":`, `"${text}"::`),
  "a no-break space between tokens": bodyOf().replace(",", "\u00a0,"),
  "a vertical tab between tokens": bodyOf().replace(",", "\v,"),
  "a line separator between tokens": bodyOf().replace(",", "\u2028,"),
  "a form instead": "message=hi&message_id=1",
  XML: "<message>hi</message>",
  "a number as name": bodyOf().replace(`"${text}":`, "1:"),
  "null as name": bodyOf().replace(`"${text}":`, "null:"),
});

/** @returns {Record<string, Buffer>} */
function bytes(/** @type {TextRoute} */ { bodyOf, text }) {
  /** A body with these bytes inside the text of a field. */
  const around = (inside, field = text) => {
    const [before, after] = bodyOf({ [field]: '"refunds BYTES"' }).split("BYTES");
    return Buffer.concat([Buffer.from(before), Buffer.from(inside), Buffer.from(after)]);
  };
  return {
    "UTF-16, little endian": Buffer.from(bodyOf(), "utf16le"),
    "UTF-16 with its mark": Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(bodyOf(), "utf16le")]),
    "UTF-16, big endian": Buffer.from(bodyOf(), "utf16le").swap16(),
    "UTF-32": Buffer.from([...bodyOf()].flatMap((character) => [character.charCodeAt(0), 0, 0, 0])),
    gzip: Buffer.from("1f8b08000000000000ff010000ffff0000000000000000", "hex"),
    "a byte that is never UTF-8": around([0xff]),
    "a lone continuation byte": around([0x80]),
    "a character cut in half": around([0xc3]),
    "an overlong slash": around([0xc0, 0xaf]),
    "an overlong NUL": around([0xc0, 0x80]),
    "a surrogate in UTF-8": around([0xed, 0xa0, 0x80]),
    "a code point beyond Unicode": around([0xf4, 0x90, 0x80, 0x80]),
    "five bytes for one character": around([0xf8, 0x88, 0x80, 0x80, 0x80]),
    "bytes that are not text in an unknown field": around([0xff, 0xfe], "x"),
    "bytes that are not text in a name": Buffer.concat([
      Buffer.from('{"'),
      Buffer.from([0xff]),
      Buffer.from(`":1,${bodyOf().slice(1)}`),
    ]),
  };
}

/** Invalid JSON values, for known and for unknown fields. */
const BROKEN_VALUES = {
  NaN: "NaN",
  Infinity: "Infinity",
  "minus Infinity": "-Infinity",
  undefined: "undefined",
  "True as in Python": "True",
  "None as in Python": "None",
  "a hexadecimal number": "0x10",
  "a leading zero": "01",
  "a leading plus": "+1",
  "a leading dot": ".5",
  "a trailing dot": "1.",
  "an exponent of nothing": "1e",
  "two minus signs": "--1",
  "a lone minus sign": "-",
  "digits of another script": "１２",
  "an unfinished word": "nul",
  "a word in capitals": "NULL",
  "a regular expression": "/a/",
  "a template": "`a`",
  "a raw line end in a string": '"a\nb"',
  "a raw tab in a string": '"a\tb"',
  "a raw NUL in a string": '"a\0b"',
  "an unknown escape": '"\\x41"',
  "half an escape": '"\\u00"',
  "a lone high surrogate": '"\\ud800"',
  "a lone low surrogate": '"\\udc00"',
  "surrogates in the wrong order": '"\\udc00\\ud800"',
  "a high surrogate and a letter": '"\\ud800a"',
  "an empty place in an array": "[1,,2]",
  "an array closed as an object": "[1}",
  "an object closed as an array": '{"a":1]',
};

const TWICE = {
  "the message": `{"message":"first",${chatBody().slice(1)}`,
  "the vector": `{"embedding":[],${chatBody().slice(1)}`,
  "the id": `{"message_id":null,${chatBody().slice(1)}`,
  "the message as null": `{"message":null,${chatBody().slice(1)}`,
  "the message, once in escapes": `{"\\u006dessage":"first",${chatBody().slice(1)}`,
  "the message, twice in escapes": `{"\\u006dessage":"first","m\\u0065ssage":"second",${chatBody({ message: undefined }).slice(1)}`,
  "the id, once in escapes": `{"message\\u005fid":"x",${chatBody().slice(1)}`,
  "the session": chatBody({ session_id: 'null,"session_id":null' }),
  "the model": chatBody({ model: '"a","model":"a"' }),
  "the citations": chatBody({ include_citations: 'true,"include_citations":false' }),
};

const named = (prefix, texts, make) => Object.entries(texts).map(([name, text]) => make(`${prefix}${name}`, text));

/** What is hostile in the same way for both routes. */
const casesOf = (/** @type {TextRoute} */ route) => [
  ...bombs(route),
  ...named("the body is ", wholeBodies(route), route.post),
  ...named("the body is ", bytes(route), route.post),
  ...named("the text is ", BROKEN_VALUES, (name, value) => route.post(name, route.bodyOf({ [route.text]: value }))),
  ...named("an unknown field is ", BROKEN_VALUES, (name, value) => route.post(name, route.bodyOf({ x: value }))),
];

export const JSON_CASES = [
  ...casesOf(CHAT),
  ...casesOf(SEARCH),
  ...named("a body names twice ", TWICE, chat),
  ...named("a title is ", BROKEN_VALUES, (name, text) => rename(name, `{"title":${text}}`)),
];
