/* What the import page calls things. Pure. */
export const MEANINGS = [
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
  ["skip", "Leave out"],
];
export const VALUES = [
  ["amount", "an amount"],
  ["rate", "a rate"],
  ["register", "a register"],
];
const VOLUMES = ["gal", "kgal", "imperial gal", "l", "ml", "hl", "m3", "ft3", "ccf"];
const TIMES = ["s", "min", "h", "d"];
const NAMES = {
  l: "litres",
  m3: "m³",
  ft3: "ft³",
  gal: "gallons",
  "imperial gal": "imperial gallons",
};

export function units(column) {
  if (column.is === "temperature") return ["°C", "°F"].map((unit) => [unit, unit]);
  if (column.is === "duration") return TIMES.map((unit) => [unit, unit]);
  if (column.is !== "water") return [];
  if (column.values !== "rate") return VOLUMES.map((unit) => [unit, NAMES[unit] || unit]);
  return VOLUMES.flatMap((volume) =>
    TIMES.map((time) => [`${volume}/${time}`, `${volume}/${time}`.replace("3", "³")]),
  );
}

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
export const LAYOUTS = [
  ["long", "one row a reading"],
  ["wide", "one column a meter"],
];
const NAMED_FORMATS = [
  ["iso", "ISO 8601"],
  ["epoch_s", "Unix seconds"],
  ["epoch_ms", "Unix milliseconds"],
  ["excel", "Excel days"],
];
const PARTS = { d: "day", m: "month", Y: "year", y: "yy", b: "Mon", B: "Month", p: "am/pm" };
const CLOCK = { H: "hh", I: "hh", M: "mm", S: "ss", f: "fraction" };

/* A format as a reader says it: %d.%m.%Y %H:%M is day.month.year hh:mm. */
export const formatName = (format) =>
  NAMED_FORMATS.find(([value]) => value === format)?.[1] ||
  format.replace(/%(.)/g, (_, sign) => PARTS[sign] || CLOCK[sign] || sign);

/* The format that the file has, the same with day and month the other way round, and the rest. */
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
export const isBusy = (state) => ["waiting", "running", "undoing"].includes(state);

/* A setting that should be checked, as a heading: column.Flow.unit is the unit of Flow. */
export function settingName(name, mapping) {
  const parts = name.split(".");
  const known = {
    zone: "The file names no time zone",
    time_format: "Day and month may be the other way round",
    decimal: "The decimal sign isn’t sure",
    time: "No column looks like a time",
  };
  if (parts[0] !== "column") return known[name] || name;
  const column = parts.slice(1, -1).join(".");
  if (parts.at(-1) === "unit") return `The unit of ${column} is a guess`;
  const found = mapping.columns.find((each) => each.name === column);
  if (found?.values === "register") return `${column} looks like a register`;
  return `Whether ${column} is an amount or a rate is a guess`;
}
