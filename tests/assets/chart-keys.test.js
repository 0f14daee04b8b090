import { deedOf } from "../../assets/chart-keys.js";
import { table } from "./table.js";

table("deedOf", deedOf, [
  [[{ key: "ArrowLeft" }], ["step", -1]],
  [[{ key: "ArrowRight", shiftKey: true }], ["step", 10]],
  [[{ key: "End" }], ["step", Infinity]],
  [[{ key: "+", shiftKey: true }], ["zoom", 0.6]],
  [[{ key: "−" }], ["zoom", 1 / 0.6]],
  [[{ key: "[" }], ["pan", -0.2]],
  [[{ key: "R", shiftKey: true }], ["reset", undefined]],
  [[{ key: "r", ctrlKey: true }], null], // the browser's "load anew"
  [[{ key: "Escape" }], ["leave", undefined]],
  [[{ key: "x" }], null],
  [[{ key: "toString" }], null],
]);
