import { wallTime } from "../../assets/wall-time.js";
import { table } from "./table.js";

table("wallTime", wallTime, [
  [[Date.parse("2026-01-01T00:00:00Z"), "UTC"], "2026-01-01T00:00"],
  [[Date.parse("2026-01-01T00:00:00Z"), "Asia/Tokyo"], "2026-01-01T09:00"],
  // Twice half past one, on the night when New York's clocks go back.
  [[Date.parse("2026-11-01T05:30:00Z"), "America/New_York"], "2026-11-01T01:30"],
  [[Date.parse("2026-11-01T06:30:00Z"), "America/New_York"], "2026-11-01T01:30"],
  [[Date.parse("2026-03-08T07:00:00Z"), "America/New_York"], "2026-03-08T03:00"],
]);
