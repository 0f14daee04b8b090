/* The hover texts of a chart's rows, at their edge cases. tests/browser/test_hover.py compares them
   with the server's by thousands of numbers. */
import assert from "node:assert/strict";
import { test } from "node:test";
import * as hover from "../../assets/hover.js";
import { table } from "./table.js";

const MINUTE_MS = 60000;
const HOUR_MS = 60 * MINUTE_MS;

table("number", hover.number, [
  [[null], "–"],
  [[Number.NaN], "–"],
  [[0], "0"],
  [[-0.0004], "−0.0004"],
  [[0.125], "0.125"],
  [[2.5], "2.5"],
  [[99.95], "100"],
  [[999.4999], "999"],
  [[999.5], "1,000"],
  [[-65650.2], "−65,650"],
]);

table("exact", hover.exact, [
  [[1234.5, 0], "1,234"],
  [[1235.5, 0], "1,236"],
  [[-0.001, 2], "0.00"],
  [[2, 2], "2.00"],
]);

table("decimals", hover.decimals, [
  [[[]], 0],
  [[[1, 2, 300]], 0],
  [[[1.25, 0.5]], 2],
  [[[1200.5, 0.01]], 0],
]);

table("span", hover.span, [
  [[1, 1], "1"],
  [[0, 2.5], "0–2.50"],
  [[-1, 2], "−1 to 2"],
]);

table("duration", hover.duration, [
  [[0], "0 s"],
  [[999], "0 s"],
  [[61000], "1 min 1 s"],
  [[10 * MINUTE_MS + 1000], "10 min"],
  [[26 * HOUR_MS], "1 d 2 h"],
]);

table("volume", hover.volume, [
  [
    [
      500,
      [
        [1000, 1000, "kgal"],
        [0, 1, "gal"],
      ],
    ],
    "500 gal",
  ],
  [
    [
      -2500,
      [
        [1000, 1000, "kgal"],
        [0, 1, "gal"],
      ],
    ],
    "−2.5 kgal",
  ],
]);

/* New York's autumn night of 2026: from 06:00 UTC local time is one hour back. */
const back = Date.parse("2026-11-01T06:00:00Z");
const clock = [
  [0, -4 * HOUR_MS, "EDT"],
  [back, -5 * HOUR_MS, "EST"],
];

table("title", hover.title, [
  [[back - HOUR_MS, 0, clock], "Sun 1 Nov 2026, 01:00:00 EDT"],
  [[back - 10 * MINUTE_MS, 10 * MINUTE_MS, clock], "Sun 1 Nov 2026, 01:50 EDT–01:00 EST"],
  [[back, 10 * MINUTE_MS, clock], "Sun 1 Nov 2026, 01:00–01:10 EST"],
]);

table("nearest", hover.nearest, [
  [[[], 5], -1],
  [[[{ ms: 0 }, { ms: 10 }], 4], 0],
  [[[{ ms: 0 }, { ms: 10 }], 6], 1],
  [[[{ ms: 0 }, { ms: 10 }], 99], 1],
]);

test("a line's rows carry the band's range, and gaps part its runs", () => {
  const line = {
    // A run begins and ends with its spans.
    x: ["2026-01-01T00:00:00", "2026-01-01T00:05:00", "2026-01-01T00:10:00", null].concat([
      "2026-01-01T01:00:00",
      "2026-01-01T01:05:00",
      "2026-01-01T01:10:00",
      null,
    ]),
    y: [2, 2, 2, null, 7, 7, 7, null],
    meta: { says: { length_ms: 10 * MINUTE_MS, range: true } },
  };
  const band = { y: [3, 3, 3, 1, 1, 1, null, 9, 9, 9, 5, 5, 5, null] };
  const { rows } = hover.read({ data: [{}, band, line] });
  assert.deepEqual(
    rows.map(({ value, low, high }) => [value, low, high]),
    [
      [2, 1, 3],
      [7, 5, 9],
    ],
  );
  assert.equal(rows[1].startMs, Date.parse("2026-01-01T01:00:00Z"));
});
