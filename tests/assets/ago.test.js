import assert from "node:assert/strict";
import { test } from "node:test";
import { ago } from "../../assets/ago.js";

const AGES = [
  [-5, "just now"],
  [4, "just now"],
  [5, "5 s ago"],
  [59, "59 s ago"],
  [60, "1 min ago"],
  [3599, "59 min ago"],
  [3600, "1 h ago"],
  [86399, "23 h ago"],
  [86400, "1 d ago"],
];

for (const [seconds, words] of AGES) {
  test(`${seconds} s are said as “${words}”`, (t) => {
    t.mock.timers.enable({ apis: ["Date"], now: 1_800_000_000_000 });
    assert.equal(ago(Date.now() - seconds * 1000), words);
  });
}
