import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { importTs } from "../../tests/lib/import-ts.mjs";

const { contactAddress } = await importTs(new URL("../src/panel/chat/contact.ts", import.meta.url));
const SUBJECT = "Question about your website";

/**
 * The recipient and the fields of a mail, decoded as RFC 6068 says: a plus sign is a plus sign.
 * @returns {Record<string, string>}
 */
function mail(url, question) {
  const address = contactAddress(url, question, SUBJECT);
  const [recipient, fields] = address.slice("mailto:".length).split("?");
  const decoded = fields.split("&").map((field) => field.split("=").map(decodeURIComponent));
  return { recipient, ...Object.fromEntries(decoded) };
}

describe("a mail", () => {
  test("has the question as its text", () => {
    assert.deepEqual(mail("mailto:help@example.com", "How do I return a tent + poles?"), {
      recipient: "help@example.com",
      subject: SUBJECT,
      body: "How do I return a tent + poles?",
    });
  });

  test("keeps the fields of the owner", () => {
    assert.deepEqual(mail("mailto:help@example.com?subject=Chat&cc=b@example.com", "Why?"), {
      recipient: "help@example.com",
      subject: "Chat",
      cc: "b@example.com",
      body: "Why?",
    });
    assert.deepEqual(mail("mailto:help@example.com?Body=Hello&SUBJECT=a", "Why?"), {
      recipient: "help@example.com",
      Body: "Hello",
      SUBJECT: "a",
    });
    assert.equal(mail("mailto:help@example.com?subject=Chat: {question}", "Why\nnow?").subject, "Chat: Why now?");
  });

  test("gets no fields from the question", () => {
    const question = "x&bcc=thief@example.com\r\nBcc: thief@example.com?cc=a#b";
    const { body, ...others } = mail("mailto:help@example.com", question);
    assert.deepEqual(others, { recipient: "help@example.com", subject: SUBJECT });
    assert.equal(body, question);
    const filled = mail("mailto:help@example.com?subject={question}", question);
    assert.deepEqual(Object.keys(filled), ["recipient", "subject", "body"]);
    assert.doesNotMatch(filled.subject, /[\r\n]/);
  });

  test("has line breaks of mails", () => {
    assert.equal(mail("mailto:a@b.c", "a\nb\rc\r\nd").body, "a\r\nb\r\nc\r\nd");
  });
});

describe("a page", () => {
  test("gets the question where its address has a place for it", () => {
    const address = (url, question = 'Wo? & "wie" #1') => contactAddress(url, question, SUBJECT);
    assert.equal(address("https://example.com/help"), "https://example.com/help");
    assert.equal(
      address("https://example.com/?q={question}&a=1"),
      "https://example.com/?q=Wo%3F%20%26%20%22wie%22%20%231&a=1",
    );
    assert.equal(address("https://example.com/#ask={question}", "a b"), "https://example.com/#ask=a%20b");
    assert.equal(address("https://example.com/{question}/x", "../../y"), "https://example.com/..%2F..%2Fy/x");
    assert.equal(
      address("https://example.com/?q={question}", "$& $1 $$"),
      "https://example.com/?q=%24%26%20%241%20%24%24",
    );
  });

  test("is always the owner's", () => {
    for (const url of [
      "https://{question}/",
      "https://{question}.example.com/",
      "https://example.com{question}",
      "{question}",
      "https:{question}",
    ])
      for (const question of [
        "thief.example",
        ".thief.example",
        "javascript:alert(1)",
        "@thief.example",
        "//thief.example",
      ])
        assert.equal(contactAddress(url, question, SUBJECT), undefined, `${url} ${question}`);
  });
});

test("other addresses are dropped", () => {
  for (const url of [
    undefined,
    "",
    "help@example.com",
    "/help",
    "javascript:alert(1)",
    " JaVaScript:alert(1)",
    "data:text/html,x",
    "https://user:password@example.com/",
    "https://",
  ])
    assert.equal(contactAddress(url, "Why?", SUBJECT), undefined, url);
});

test("questions in all scripts arrive, and broken ones break nothing", () => {
  for (const question of ["كيف أعيد الخيمة؟", "返品はできますか", "👩‍👩‍👧 why?"])
    assert.equal(mail("mailto:a@b.c", question).body, question);
  assert.equal(mail("mailto:a@b.c", "a\ud800b\udc00").body, "a\ufffdb\ufffd");
});

test("a long question is cut between characters, so that the address stays short", () => {
  assert.equal(mail("mailto:a@b.c", "a".repeat(400)).body, "a".repeat(400));
  assert.equal(mail("mailto:a@b.c", "a".repeat(401)).body, `${"a".repeat(399)}…`);
  assert.equal(mail("mailto:a@b.c", "👍".repeat(4000)).body, `${"👍".repeat(399)}…`);
});
