import { restMs } from "../../assets/check-pause.js";
import { table } from "./table.js";

table("restMs", restMs, [
  [[undefined, 10_000, 3_000], 0], // never heard
  [[10_000, 10_000, 3_000], 3_000],
  [[9_000, 10_000, 3_000], 2_000],
  [[7_000, 10_000, 3_000], 0],
  [[11_000, 10_000, 3_000], 0], // the clock was set back
]);
