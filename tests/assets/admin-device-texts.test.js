import { fileRow, undoSteps, unitNumber, utcInstant } from "../../assets/admin-device-texts.js";
import { table } from "./table.js";

const A = { id: "a", updated: 1, label: "Hall", model: "x" };
const B = { id: "b", updated: 1, label: "Hall", model: "y" };
const C = { id: "c", updated: 1, label: "Roof", model: "x" };
const AFTER = [A, B, C].map((device) => ({ ...device, label: "New", updated: 2 }));

const steps = (names) =>
  undoSteps([A, B, C], AFTER, names).map(({ devices, set }) => [
    devices.map(({ id, updated }) => `${id}${updated}`).join(" "),
    set,
  ]);

table("undoSteps", steps, [
  [[["label"]], [["a2 b2", { label: "Hall" }], ["c2", { label: "Roof" }]]],
  [[["label", "model"]], [
    ["a2", { label: "Hall", model: "x" }],
    ["b2", { label: "Hall", model: "y" }],
    ["c2", { label: "Roof", model: "x" }],
  ]],
]); // biome-ignore format: one line a case

const row = (deed, changes, problem = "") =>
  fileRow(
    { line: 3, serialNumber: "M-1", deed, changes, problem },
    (name) => name.toUpperCase(),
    (_, value) => (value === null ? "" : String(value)),
  ).slice(2);

table("fileRow", row, [
  [["change", [{ field: "label", before: "Hall", after: "Roof" }]], ["changed", "LABEL: Hall → Roof"]],
  [["change", [{ field: "label", before: "Hall", after: null }]], ["changed", "LABEL: Hall → nothing"]],
  [["create", [{ field: "label", before: null, after: "Roof" }]], ["new", "LABEL: Roof"]],
  [["refused", [], "no such group"], ["refused", "no such group"]],
]); // biome-ignore format: one line a case

const PER_M3 = { factor: 264.1720523581484 };
const typed = (unit, value) => unitNumber.shown(unit, unitNumber.stored(unit, value));
table("unitNumber", typed, [
  [[PER_M3, 3.5], 3.5],
  [[PER_M3, 0.000001], 0.000001],
  [[{ factor: 3.785411784 }, 12345.678], 12345.678],
  [[{ factor: 1 }, 0.1234567891], 0.1234567891],
]);

table("utcInstant", utcInstant, [
  [["2026-03-01 09:00"], "2026-03-01T09:00Z"],
  [["2026-03-01T09:00Z"], "2026-03-01T09:00Z"],
  [[undefined], "Z"],
]);
