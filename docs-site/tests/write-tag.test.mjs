import assert from "node:assert/strict";
import { test } from "node:test";
import { contrastWithWhite, DEFAULTS, writeTag } from "../.vitepress/theme/playground/write-tag.mjs";

test("without choices the tag is one script and one element", () => {
  assert.equal(
    writeTag({ ...DEFAULTS, mode: "inline" }),
    `<script type="module" src="https://chat.example.com/evidence-chat.js"></script>\n<evidence-chat></evidence-chat>`,
  );
});

test("files of the site itself need the address of the chat as the endpoint", () => {
  const tag = writeTag({ ...DEFAULTS, files: "site", server: "https://chat.example.com/" });
  assert.match(tag, /src="\/evidence-chat\/evidence-chat.js"/);
  assert.match(tag, /endpoint="https:\/\/chat.example.com\/api\/chat"/);
});

test("characters with a meaning in HTML are escaped in every text", () => {
  const hostile = `"><script>alert(1)</script>&`;
  const texts = { server: hostile, heading: hostile, greeting: hostile, supportUrl: hostile, assistant: hostile };
  const tag = writeTag({ ...DEFAULTS, ...texts, supabaseUrl: hostile, supabaseKey: hostile });
  assert.equal(tag.match(/<script/g)?.length, 1);
  assert.equal(tag.match(/&quot;&gt;&lt;script&gt;alert\(1\)&lt;\/script&gt;&amp;/g)?.length, 7);
});

test("only colours and lengths reach the style sheet", () => {
  for (const accent of ["red;} body{display:none", "#12", "</style>", "#2f55d4x"]) {
    assert.doesNotMatch(writeTag({ ...DEFAULTS, accent, radius: "8px; }" }), /style/);
  }
  assert.match(
    writeTag({ ...DEFAULTS, accent: "#2F55D4", radius: "08" }),
    /accent: #2F55D4;\n {2}--evidence-chat-radius: 8px;/,
  );
});

test("attributes of an anonymous sign-in are not written for visitors who sign in on the site", () => {
  const supabase = { supabaseUrl: "https://a.supabase.co", supabaseKey: "sb_publishable_1", turnstileSiteKey: "0x1" };
  assert.match(writeTag({ ...DEFAULTS, ...supabase }), /supabase-url="https:\/\/a.supabase.co"/);
  const tag = writeTag({ ...DEFAULTS, ...supabase, signIn: "token" });
  assert.doesNotMatch(tag, /supabase-url|turnstile/);
  assert.match(tag, /tokenProvider/);
});

test("contrast is that of WCAG 2", () => {
  assert.equal(contrastWithWhite("#000000").toFixed(2), "21.00");
  assert.equal(contrastWithWhite("#ffffff").toFixed(2), "1.00");
  assert.equal(contrastWithWhite("#777777").toFixed(2), "4.48");
});
