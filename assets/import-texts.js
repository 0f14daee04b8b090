/* The texts of the import page. Pure. */
import { counted } from "./admin-shared.js";

const MEANINGS = [
  ["device", "Device"],
  ["time", "Time"],
  ["date", "Date"],
  ["clock", "Time of day"],
  ["water", "Water"],
  ["duration", "Duration"],
  ["temperature", "Temperature"],
  ["signal", "Signal strength"],
  ["rssi", "Network RSSI"],
  ["quality", "Signal quality"],
  ["label", "Device’s label"],
  ["skip", "Leave out"],
];
export const VALUES = [
  ["amount", "an amount"],
  ["rate", "a rate"],
  ["register", "a register"],
];
const PULSES_L = [2.5, 5, 10, 25, 50, 100, 250, 500, 1000]; // what a pulse of a meter is worth
const VOLUMES = ["gal", "kgal", "imperial gal", "l", "ml", "hl", "m3", "ft3", "ccf"];
const TIMES = ["s", "min", "h", "d"];
const NAMES = {
  l: "litres",
  m3: "m³",
  ft3: "ft³",
  gal: "gallons",
  "imperial gal": "imperial gallons",
};

/* Whether each row's unit of another column is in this one. */
export const givesUnits = (column, columns) =>
  columns.some((each) => each.unit_column === column.name);

export const meanings = (column, columns) =>
  MEANINGS.map(([is, text]) => [
    is,
    is === "skip" && givesUnits(column, columns) ? "Unit of each row" : text,
  ]);

export function units(column) {
  if (column.is === "temperature") return ["°C", "°F"].map((unit) => [unit, unit]);
  if (column.is === "duration") return TIMES.map((unit) => [unit, unit]);
  if (column.is !== "water") return [];
  if (column.unit_column) {
    const others = units({ ...column, unit_column: "" });
    return [["", `as in ${column.unit_column}`], ...others];
  }
  if (column.values !== "rate")
    return [
      ...VOLUMES.map((unit) => [unit, NAMES[unit] || unit]),
      ...PULSES_L.map((litres) => [`${litres} l`, `pulses of ${litres} litres`]),
    ];
  return VOLUMES.flatMap((volume) =>
    TIMES.map((time) => [`${volume}/${time}`, `${volume}/${time}`.replace("3", "³")]),
  );
}

/* The sheets of a workbook, and all that have the same columns as one. */
export const sheets = (names) => [
  ["*", "all with the same columns"],
  ...names.map((name) => [name, name]),
];

export const DECIMALS = [
  [".", "point 0.5"],
  [",", "comma 0,5"],
];
export const DELIMITERS = [
  [",", ", comma"],
  [";", "; semicolon"],
  ["\t", "tab"],
  ["|", "| bar"],
];
export const ENCODINGS = [
  ["utf-8", "UTF-8"],
  ["utf-16", "UTF-16"],
  ["cp1252", "Windows (West)"],
  ["cp1250", "Windows (Central)"],
  ["cp1251", "Windows (Cyrillic)"],
  ["cp1253", "Windows (Greek)"],
  ["cp850", "DOS (West)"],
  ["shift_jis", "Shift JIS"],
  ["gb18030", "GB 18030"],
];
const HIGHEST_HEADER = 30;
export const HEADER_ROWS = [
  ["0", "no row"],
  ...Array.from({ length: HIGHEST_HEADER }, (_, row) => [`${row + 1}`, `row ${row + 1}`]),
];
export const DIGITS = [
  ["0", "no limit"],
  ...[4, 5, 6, 7, 8, 9].map((digits) => [`${digits}`, `${digits}, then 0 again`]),
];
export const LAYOUTS = [
  ["long", "one row a reading"],
  ["wide", "one column a meter"],
  ["day", "one row a day"],
  ["month", "one row a month"],
  ["dates", "one column a date"],
];
export const TIME_AT = [
  ["start", "start of the interval"],
  ["end", "end of the interval"],
];
const NAMED_FORMATS = [
  ["iso", "ISO 8601"],
  ["epoch_s", "Unix seconds"],
  ["epoch_ms", "Unix milliseconds"],
  ["epoch_us", "Unix microseconds"],
  ["epoch_ns", "Unix nanoseconds"],
  ["excel", "Excel days"],
  ["excel_1904", "Excel days since 1904"],
];
const PARTS = { d: "day", m: "month", Y: "year", y: "yy", b: "Mon", B: "Month", p: "am/pm" };
const CLOCK = { H: "hh", I: "hh", M: "mm", S: "ss", f: "fraction" };

/* A format for readers: %d.%m.%Y %H:%M is day.month.year hh:mm. */
export const formatName = (format) =>
  NAMED_FORMATS.find(([value]) => value === format)?.[1] ||
  format.replace(/%(.)/g, (_, sign) => PARTS[sign] || CLOCK[sign] || sign);

/* The file's format, the same with day and month swapped, and the others. */
export function formats(format) {
  const swapped = format.replace(/%[dm]/g, (sign) => (sign === "%d" ? "%m" : "%d"));
  const own = format.includes("%") ? [...new Set([format, swapped])] : [];
  return [...own.map((each) => [each, formatName(each)]), ...NAMED_FORMATS];
}

export function bytes(size) {
  const steps = ["bytes", "kB", "MB", "GB"];
  const step = Math.min(3, Math.floor(Math.log10(Math.max(1, size)) / 3));
  const digits = step ? 1 : 0;
  return `${(size / 1000 ** step).toFixed(digits)} ${steps[step]}`;
}

export const whole = (count) => count.toLocaleString("en-US");

export const STATES = {
  receiving: "not sent whole",
  ready: "to be checked",
  waiting: "starting",
  running: "importing",
  paused: "paused",
  interrupted: "interrupted",
  done: "imported",
  failed: "failed",
  undoing: "being undone",
  undone: "undone",
};
export const titled = (words) => words[0].toUpperCase() + words.slice(1);

export const creation = (devices) =>
  devices ? `${counted(devices, "new device")} will be created. ` : "";

/* What an undo deletes, before it is done. */
export function undoQuestion({ stored, created }) {
  const devices = created.length
    ? ` New devices without other readings, notes or settings go too: ${counted(created.length, "device")} at most.`
    : "";
  return `This deletes the ${counted(stored, "reading")} that the import stored.${devices}`;
}

export const shownRows = (shown, all) =>
  shown === all
    ? `The refused ${all === 1 ? "row" : "rows"}`
    : `The first ${whole(shown)} of ${whole(all)} rows`;

export const isBusy = (state) => ["waiting", "running", "undoing"].includes(state);

/* The heading of a setting to check: column.Flow.unit is the unit of Flow. */
export function settingName(name, mapping) {
  const parts = name.split(".");
  const labels = {
    zone: "The file names no time zone",
    time_format: "Day and month may be the other way round",
    decimal: "The decimal sign isn’t sure",
    time: "No column looks like a time",
  };
  if (parts[0] !== "column") return labels[name] || name;
  const column = parts.slice(1, -1).join(".");
  const match = mapping.columns.find((each) => each.name === column);
  if (parts.at(-1) === "unit" && match?.unit_column) return `Each row of ${column} has its unit`;
  if (parts.at(-1) === "unit") return `The unit of ${column} is a guess`;
  if (match?.values === "register") return `${column} looks like a register`;
  return `Whether ${column} is an amount or a rate is a guess`;
}
