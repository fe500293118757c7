import assert from "node:assert/strict";
import { test } from "node:test";
import { importTs } from "../../tests/lib/import-ts.mjs";

const { Identity } = await importTs(new URL("../src/client/identity.ts", import.meta.url));

/** A token with a payload; two of them for one user differ in their signature. */
let signature = 0;
function jwt(payload) {
  const part = (json) => Buffer.from(JSON.stringify(json)).toString("base64url");
  return `${part({ alg: "HS256" })}.${part(payload)}.${signature++}`;
}

/** Gives the number of reported changes after each of these tokens. */
async function changesAfter(...tokens) {
  const seen = [];
  let changes = 0;
  let token;
  const identity = new Identity(
    () => async () => token,
    () => changes++,
  );
  for (token of tokens) {
    assert.equal(await identity.tokenProvider(), token || null);
    seen.push(changes);
  }
  return seen;
}

test("neither the first token nor a refreshed token of the same user is a change", async () => {
  assert.deepEqual(
    await changesAfter(jwt({ sub: "ann" }), jwt({ sub: "ann", exp: 1 }), jwt({ sub: "ann", exp: 2 })),
    [0, 0, 0],
  );
});

test("a switch to another user is a change, and so is the switch back", async () => {
  assert.deepEqual(await changesAfter(jwt({ sub: "ann" }), jwt({ sub: "bob" }), jwt({ sub: "ann" })), [0, 1, 2]);
});

test("signing out is a change, and so is another user after it, but not the same one who comes back", async () => {
  assert.deepEqual(await changesAfter(jwt({ sub: "ann" }), null, null, "", jwt({ sub: "ann" })), [0, 1, 1, 1, 1]);
  assert.deepEqual(await changesAfter(jwt({ sub: "ann" }), null, jwt({ sub: "bob" })), [0, 1, 2]);
});

for (const next of ["ann", "bob"]) {
  const expected = next === "bob" ? [["ann", "bob"]] : [];
  test(`with ann known before, ${next} after nobody is ${next === "bob" ? "a" : "no"} change`, async () => {
    const tokens = [null, jwt({ sub: next })];
    const changes = [];
    const identity = new Identity(
      () => async () => tokens.shift(),
      (...users) => changes.push(users),
      "ann",
    );
    await identity.check();
    assert.deepEqual([changes, identity.user], [[], "ann"]);
    await identity.check();
    assert.deepEqual([changes, identity.user], [expected, next]);
  });
}

test("the first sign-in is not a change", async () => {
  assert.deepEqual(await changesAfter(null, null, jwt({ sub: "ann" }), jwt({ sub: "ann" })), [0, 0, 0, 0]);
});

test("user ids with characters beyond Latin-1 are decoded", async () => {
  assert.deepEqual(
    await changesAfter(jwt({ sub: "ännßÿ?>~日本" }), jwt({ sub: "ännßÿ?>~日本" }), jwt({ sub: "ännß" })),
    [0, 0, 1],
  );
});

const UNREADABLE = [
  "opaque",
  "a.b.c",
  "..",
  "a.%%%.c",
  `a.${btoa("[1]")}.c`,
  `a.${btoa('{"sub":7}')}.c`,
  jwt({}),
  jwt({ sub: "" }),
];
for (const token of UNREADABLE) {
  test(`the malformed token ${token} is neither a change nor hides one`, async () => {
    assert.deepEqual(await changesAfter(token, jwt({ sub: "ann" }), token, jwt({ sub: "ann" })), [0, 0, 0, 0]);
    assert.deepEqual(await changesAfter(jwt({ sub: "ann" }), token, jwt({ sub: "bob" })), [0, 0, 1]);
  });
}

test("a change is reported with both users before the new token is returned", async () => {
  const changes = [];
  const tokens = [jwt({ sub: "ann" }), jwt({ sub: "bob" }), null];
  const identity = new Identity(
    () => async () => tokens.shift(),
    (previous, next) => changes.push([previous, next]),
  );
  await identity.tokenProvider();
  const second = identity.tokenProvider().then(() => assert.equal(changes.length, 1));
  await second;
  await identity.check();
  const [[ann, bob], signedOut] = changes;
  assert.notEqual(ann, bob);
  assert.deepEqual(signedOut, [bob, null]);
});

test("a replaced provider is used", async () => {
  let provider = async () => jwt({ sub: "ann" });
  let changes = 0;
  const identity = new Identity(
    () => provider,
    () => changes++,
  );
  await identity.check();
  provider = async () => jwt({ sub: "bob" });
  await identity.check();
  assert.equal(changes, 1);
});

test("a provider that fails is not a change and rejects the caller", async () => {
  const answers = [
    async () => jwt({ sub: "ann" }),
    () => Promise.reject(new Error("offline")),
    async () => jwt({ sub: "ann" }),
  ];
  let changes = 0;
  const identity = new Identity(
    () => answers.shift(),
    () => changes++,
  );
  await identity.check();
  await assert.rejects(identity.tokenProvider(), /offline/);
  await identity.check();
  assert.equal(changes, 0);
});

test("check never rejects", async () => {
  const throwing = new Identity(
    () => () => {
      throw new Error("broken page");
    },
    () => assert.fail(),
  );
  await throwing.check();
});

test("a token that arrives after a later one is ignored as stale", async () => {
  const waiting = [];
  let changes = 0;
  const identity = new Identity(
    () => () => new Promise((resolve) => waiting.push(resolve)),
    () => changes++,
  );
  const first = identity.check();
  waiting.shift()(jwt({ sub: "ann" }));
  await first;
  const [slow, fast] = [identity.check(), identity.check()];
  waiting[1](jwt({ sub: "bob" }));
  await fast;
  waiting[0](jwt({ sub: "ann" }));
  await slow;
  assert.equal(changes, 1);
  const last = identity.check();
  waiting[2](jwt({ sub: "bob" }));
  await last;
  assert.equal(changes, 1, "Bob is still the last one known.");
});

for (const before of [undefined, "bob"]) {
  test(`a stale token of another user is not returned, with ${before ?? "nobody"} known before`, async () => {
    const waiting = [];
    let changes = 0;
    const identity = new Identity(
      () => () => new Promise((resolve) => waiting.push(resolve)),
      () => changes++,
      before,
    );
    const slow = identity.tokenProvider();
    const fast = identity.check();
    waiting[1](jwt({ sub: "alice" }));
    await fast;
    waiting[0](jwt({ sub: before ?? "a visitor without an account" }));
    await new Promise((resolve) => setImmediate(resolve));
    const latest = jwt({ sub: "alice" });
    assert.equal(waiting.length, 3, "The provider is called again.");
    waiting[2](latest);
    assert.equal(await slow, latest);
    assert.equal(changes, before ? 1 : 0);
  });
}

test("a stale token of the same user is returned", async () => {
  const waiting = [];
  const identity = new Identity(
    () => () => new Promise((resolve) => waiting.push(resolve)),
    () => assert.fail(),
  );
  const slow = identity.tokenProvider();
  const fast = identity.check();
  waiting[1](jwt({ sub: "alice" }));
  await fast;
  const stale = jwt({ sub: "alice" });
  waiting[0](stale);
  assert.equal(await slow, stale);
});
