import assert from "node:assert/strict";
import test from "node:test";
import { checkIsDue, nextCheckMs } from "../../assets/session-checks.js";

const EVERY = 3000;

test("a check is due when no page has heard of the session for its length", () => {
  assert.equal(checkIsDue(10_000, 7_000, EVERY), true);
  assert.equal(checkIsDue(10_000, 7_001, EVERY), false);
  assert.equal(checkIsDue(10_000, 0, EVERY), true);
});

test("a page waits until what it heard is no longer good, one page a little less", () => {
  assert.equal(nextCheckMs(10_000, 9_000, EVERY, 0), 2_000);
  assert.equal(nextCheckMs(10_000, 9_000, EVERY, 1), 2_600);
  assert.equal(nextCheckMs(10_000, 0, EVERY, 0), EVERY); // a failed check is made again
});

test("of five pages one checks", () => {
  const pages = [0.9, 0.1, 0.5, 0.3, 0.7].map((chance) => ({ chance, atMs: EVERY * (1 + chance) }));
  let heardMs = 0;
  let checks = 0;
  for (let n = 0; n < 500; n += 1) {
    const page = pages.reduce((one, other) => (other.atMs < one.atMs ? other : one));
    if (checkIsDue(page.atMs, heardMs, EVERY)) {
      checks += 1;
      heardMs = page.atMs;
    }
    page.atMs += nextCheckMs(page.atMs, heardMs, EVERY, page.chance);
  }
  const seconds = Math.min(...pages.map((page) => page.atMs)) / 1000;
  assert.ok(checks <= seconds / 3 + 1, `${checks} checks in ${seconds} s`);
  assert.ok(checks >= seconds / 4, `${checks} checks in ${seconds} s`);
});
