/* Tests of a function as rows: [arguments, result]. */
import assert from "node:assert/strict";
import { test } from "node:test";

export function table(name, call, rows) {
  for (const [given, expected] of rows) {
    const words = given.map((each) => JSON.stringify(each)).join(", ");
    test(`${name}(${words})`, () => assert.deepEqual(call(...given), expected));
  }
}
