import { bytes, formatName, formats, settingName, units } from "../../assets/import-texts.js";
import { table } from "./table.js";

const REGISTER = { columns: [{ name: "a.b", values: "register" }] };

table("formatName", formatName, [
  [["%d.%m.%Y %H:%M"], "day.month.year hh:mm"],
  [["%m/%d/%y %I:%M %p"], "month/day/yy hh:mm am/pm"],
  [["epoch_s"], "Unix seconds"],
]);

table("formats", (format) => formats(format).map(([value]) => value), [
  [["%d/%m/%Y"], ["%d/%m/%Y", "%m/%d/%Y", "iso", "epoch_s", "epoch_ms", "excel"]],
  [["%Y%j"], ["%Y%j", "iso", "epoch_s", "epoch_ms", "excel"]],
  [["iso"], ["iso", "epoch_s", "epoch_ms", "excel"]],
]);

table("units", (column) => units(column).slice(0, 2), [
  [[{ is: "temperature" }], [["°C", "°C"], ["°F", "°F"]]],
  [[{ is: "water", values: "amount" }], [["gal", "gallons"], ["kgal", "kgal"]]],
  [[{ is: "water", values: "rate" }], [["gal/s", "gal/s"], ["gal/min", "gal/min"]]],
  [[{ is: "device" }], []],
]); // biome-ignore format: one line a case

table("settingName", settingName, [
  [["zone", REGISTER], "The file names no time zone"],
  [["column.a.b.unit", REGISTER], "The unit of a.b is a guess"],
  [["column.a.b.values", REGISTER], "a.b looks like a register"],
]);

table("bytes", bytes, [
  [[999], "999 bytes"],
  [[18_400_000], "18.4 MB"],
  [[2_000_000_000], "2.0 GB"],
]);
