import assert from "node:assert/strict";
import { test } from "node:test";
import * as scales from "../../assets/scales.js";
import { table } from "./table.js";

table("zoomed", scales.zoomed, [
  [
    [[0, 100], 0.5],
    [25, 75],
  ],
  [
    [[0, 100], 0.5, 0],
    [0, 50],
  ],
  [
    [[0, 100], 2, 100],
    [-100, 100],
  ],
]);

test("what zooms in and out about one instant comes back", () => {
  const back = scales.zoomed(scales.zoomed([10, 110], 0.5, 42), 2, 42);
  assert.deepEqual(back, [10, 110]);
});

table("panned", scales.panned, [
  [
    [[0, 100], 0.25],
    [25, 125],
  ],
  [
    [[50, 150], -1],
    [-50, 50],
  ],
]);

table("movedInto", scales.movedInto, [
  [
    [
      [0, 100],
      [20, 30],
    ],
    [20, 30],
  ],
  [
    [
      [0, 100],
      [-5, 5],
    ],
    [0, 10],
  ],
  [
    [
      [0, 100],
      [95, 105],
    ],
    [90, 100],
  ],
]);

const rows = { drawn: [0, 100], have: [-50, 150], nowMs: 1000 };
table("covers", scales.covers, [
  [[rows, [-50, 50]], true],
  [[rows, [-51, 49]], false],
  [[rows, [51, 151]], false],
  [[rows, [0, 103]], false], // as finely, but longer
  [[{ ...rows, nowMs: 149 }, [60, 160]], true], // nothing is missing: the rows end now
]);

table("openedFor", scales.openedFor, [
  [
    [
      [0, 10],
      [1, 9],
    ],
    [0, 10],
  ],
  [
    [
      [0, 10],
      [1, 30],
    ],
    [0, 31.5],
  ],
  [
    [
      [0, 10],
      [-10, 5],
    ],
    [-11, 10],
  ],
  [
    [
      [0, 10],
      [Infinity, -Infinity],
    ],
    [0, 10],
  ], // nothing in sight
]);

table("plotlyMs", scales.plotlyMs, [
  [["2026-03-08 05:00:00.1234"], Date.UTC(2026, 2, 8, 5) + 123],
  [["2026-03-08 05:00"], Date.UTC(2026, 2, 8, 5)],
  [["2026-03-08"], Date.UTC(2026, 2, 8)],
]);
