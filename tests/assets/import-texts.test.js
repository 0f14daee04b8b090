import {
  bytes,
  formatName,
  formats,
  meanings,
  settingName,
  sheets,
  undoQuestion,
  units,
} from "../../assets/import-texts.js";
import { table } from "./table.js";

const REGISTER = { columns: [{ name: "a.b", values: "register" }] };

table("formatName", formatName, [
  [["%d.%m.%Y %H:%M"], "day.month.year hh:mm"],
  [["%m/%d/%y %I:%M %p"], "month/day/yy hh:mm am/pm"],
  [["epoch_s"], "Unix seconds"],
]);

table("formats", (format) => formats(format).map(([value]) => value), [
  [
    ["%d/%m/%Y"],
    [
      "%d/%m/%Y",
      "%m/%d/%Y",
      "iso",
      "epoch_s",
      "epoch_ms",
      "epoch_us",
      "epoch_ns",
      "excel",
      "excel_1904",
    ],
  ],
  [["%Y%j"], ["%Y%j", "iso", "epoch_s", "epoch_ms", "epoch_us", "epoch_ns", "excel", "excel_1904"]],
  [["iso"], ["iso", "epoch_s", "epoch_ms", "epoch_us", "epoch_ns", "excel", "excel_1904"]],
]);

table("units", (column) => units(column).slice(0, 2), [
  [[{ is: "temperature" }], [["°C", "°C"], ["°F", "°F"]]],
  [[{ is: "water", values: "amount" }], [["gal", "gallons"], ["kgal", "kgal"]]],
  [[{ is: "water", values: "rate" }], [["gal/s", "gal/s"], ["gal/min", "gal/min"]]],
  [[{ is: "water", values: "amount", unit_column: "UoM" }], [["", "as in UoM"], ["gal", "gallons"]]],
  [[{ is: "device" }], []],
]); // biome-ignore format: one line a case

table("units of pulses", (column) => units(column).some(([unit]) => unit === "10 l"), [
  [[{ is: "water", values: "register" }], true],
  [[{ is: "water", values: "rate" }], false],
]);

table("sheets", sheets, [
  [
    [["North", "South"]],
    [
      ["*", "all with the same columns"],
      ["North", "North"],
      ["South", "South"],
    ],
  ],
]);

table("meanings", (...columns) => meanings(columns[0], columns).find(([is]) => is === "skip")[1], [
  [
    [
      { name: "UoM", is: "skip" },
      { name: "a", unit_column: "UoM" },
    ],
    "Unit of each row",
  ],
  [
    [
      { name: "note", is: "skip" },
      { name: "a", unit_column: "UoM" },
    ],
    "Leave out",
  ],
]);

table("settingName", settingName, [
  [["zone", REGISTER], "The file names no time zone"],
  [["column.a.b.unit", REGISTER], "The unit of a.b is a guess"],
  [
    ["column.a.unit", { columns: [{ name: "a", unit_column: "UoM" }] }],
    "Each row of a has its unit",
  ],
  [["column.a.b.values", REGISTER], "a.b looks like a register"],
]);

table("undoQuestion", undoQuestion, [
  [[{ stored: 1, created: [] }], "This deletes the 1 reading that the import stored."],
  [
    [{ stored: 2400, created: ["A", "B"] }],
    "This deletes the 2,400 readings that the import stored." +
      " New devices without other readings, notes or settings go too: 2 devices at most.",
  ],
]);

table("bytes", bytes, [
  [[999], "999 bytes"],
  [[18_400_000], "18.4 MB"],
  [[2_000_000_000], "2.0 GB"],
]);
