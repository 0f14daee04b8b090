import { dependsOn, dueParts } from "../../assets/part-schedule.js";
import { table } from "./table.js";

const QUESTION = { zone: "UTC", range: "24h", metric: "flow" };
const DAY = { from: "2026-03-01T00:00:00Z", to: "2026-03-02T00:00:00Z" }; // 43 s a pixel
const NAMES = ["range", "refresh", "steady", "hourly"];

/* All came at 0 for QUESTION: which are due so many seconds later? */
const dueAfter = (seconds, changes = {}, live = true, shown = DAY) => {
  const fresh = Object.fromEntries(
    NAMES.map((name) => [name, { ms: 0, of: dependsOn(name, QUESTION) }]),
  );
  const question = { ...QUESTION, ...changes };
  return dueParts({ fresh, question, shown, live, nowMs: seconds * 1000 }).join(" ");
};

table("dueAfter", dueAfter, [
  [[0], "refresh"],
  [[30], "refresh"],
  [[43], "range refresh"],
  [[59], "range refresh steady"],
  [[899], "range refresh steady hourly"],
  [[0, {}, false], "range refresh"],
  [[0, { range: "7d" }], "range refresh steady"],
  [[0, { compare: "year" }], "range refresh"],
  [[0, { units: "si" }], "range refresh steady hourly"],
  [[29, {}, true, { from: DAY.to, to: DAY.to }], "range refresh"],
  [[298, {}, true, { from: "2025-03-01T00:00:00Z", to: DAY.to }], "refresh steady"],
]);

table("dueParts", (fresh) => dueParts({ fresh, question: QUESTION, shown: DAY, nowMs: 0 }), [
  [[{}], NAMES],
]);
