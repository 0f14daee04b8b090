/* The import page for a file whose mapping is to be checked: its settings, columns, rows as they
   will be stored, a chart, and what to check. `change` sends changed settings. */
import { element } from "./element.js";
import { chart } from "./import-chart.js";
import {
  DECIMALS,
  DELIMITERS,
  DIGITS,
  ENCODINGS,
  formats,
  givesUnits,
  HEADER_ROWS,
  LAYOUTS,
  meanings,
  settingName,
  sheets,
  TIME_AT,
  units,
  VALUES,
  whole,
} from "./import-texts.js";
import { zoneNames } from "./site.js";

const METRICS = [
  ["flow_amount", "Volume", 2, "gal"],
  ["flow_rate", "Flow rate", 3, "gal/min"],
  ["flow_duration", "Duration", 0, "s"],
  ["onboard_temperature", "Temp.", 1, "°C"],
  ["signal_strength", "Signal", 0, "dBm"],
  ["network_rssi", "RSSI", 0, "dBm"],
  ["quality", "Quality", 0, "%"],
];

export function card(title, note, ...children) {
  const heading = element("h2", {}, title, element("span", { className: "quiet" }, note));
  return element("section", { className: "card import-card" }, heading, ...children);
}

function select(name, label, options, chosen, unsure, change) {
  const shown = options.some(([value]) => value === chosen)
    ? options
    : [[chosen, chosen], ...options];
  const field = element(
    "select",
    { className: "button select", name, title: unsure || "" },
    ...shown.map(([value, text]) =>
      element("option", { value, selected: value === chosen }, text || "–"),
    ),
  );
  field.setAttribute("aria-label", label);
  field.addEventListener("change", () => change({ [name]: field.value }));
  if (unsure) field.dataset.unsure = "";
  return field;
}

function settingsRow(job, change) {
  const { mapping, unsure } = job;
  const zones = [["device", "each device’s own"], ...zoneNames.map((zone) => [zone, zone])];
  const yes = [
    ["false", "oldest first"],
    ["true", "newest first"],
  ];
  const fields = [
    ["decimal", "Decimals", DECIMALS, mapping.decimal],
    ["time_format", "Dates", formats(mapping.time_format), mapping.time_format],
    ["zone", "Clock", zones, mapping.zone],
    ["layout", "Layout", LAYOUTS, mapping.layout],
    ["newest_first", "Order", yes, String(mapping.newest_first)],
  ];
  const intervals = mapping.layout === "long" || mapping.layout === "wide";
  if (intervals && mapping.columns.some(({ values }) => values === "amount" || values === "rate"))
    fields.push(["time_at", "Time is the", TIME_AT, mapping.time_at]);
  const registers = mapping.columns.some(({ values }) => values === "register");
  if (registers) fields.push(["digits", "Register’s digits", DIGITS, String(mapping.digits)]);
  if (mapping.form === "csv" || mapping.form === "xlsx")
    fields.unshift(["header_row", "Names are in", HEADER_ROWS, String(mapping.header_row)]);
  if (job.sheets.length > 1) fields.unshift(["sheet", "Sheet", sheets(job.sheets), mapping.sheet]);
  if (mapping.form === "csv")
    fields.unshift(["delimiter", "Between values", DELIMITERS, mapping.delimiter]);
  if (mapping.form !== "xlsx")
    fields.unshift(["encoding", "Encoding", ENCODINGS, mapping.encoding]);
  const saved = job.mappings.map((name) => [name, name]);
  if (saved.length)
    fields.push(["mapping", "Saved mapping", [["", "none"], ...saved], job.mappingUsed]);
  return element(
    "div",
    { className: "import-settings" },
    ...fields.map(([name, label, options, chosen]) =>
      element(
        "label",
        {},
        element("span", { className: "quiet" }, label),
        select(name, label, options, chosen, unsure[name], change),
      ),
    ),
  );
}

function table(heads, rows, className) {
  const head = element(
    "tr",
    {},
    ...heads.map(([text, className = ""]) => element("th", { scope: "col", className }, text)),
  );
  const made = element(
    "table",
    { className: `import-table ${className}` },
    element("thead", {}, head),
    element("tbody", {}, ...rows),
  );
  return element("div", { className: "import-scroll" }, made);
}

const cell = (content, className = "") => element("td", { className }, content ?? "");

function columnsCard(job, change) {
  const { mapping, unsure, preview } = job;
  const byPeriod = ["day", "month", "dates"].includes(mapping.layout);
  const water = mapping.columns.filter((column) => column.is === "water");
  const rows = mapping.columns.map((column, place) => {
    if (byPeriod && column.is === "water" && column !== water[0]) return null; // all are alike
    const grouped = byPeriod && column === water[0];
    const heading = grouped ? `${column.name} to ${water.at(-1).name}` : column.name;
    const name = (key) => `column.${column.name}.${key}`;
    const pick = (key, label, options) =>
      select(
        name(key),
        `${column.name}: ${label}`,
        options,
        key === "unit" && column.unit_column ? "" : column[key],
        unsure[name(key)],
        change,
      );
    const choices = units(column);
    const samples = (preview.samples[place] || []).join(" · ") || "(empty)";
    return element(
      "tr",
      {},
      cell(element("strong", {}, heading)),
      cell(samples, "import-samples"),
      cell(grouped ? "Water" : pick("is", "meaning", meanings(column, mapping.columns))),
      cell(choices.length ? pick("unit", "unit", choices) : ""),
      cell(column.is === "water" ? pick("values", "each value is", VALUES) : ""),
    );
  });
  const left = mapping.columns.filter(
    (column) => column.is === "skip" && !givesUnits(column, mapping.columns),
  ).length;
  const note = `${mapping.columns.length} columns${left ? `, ${left} left out` : ""}`;
  const heads = [["In the file"], ["Values"], ["Is"], ["Unit"], ["Each value is"]];
  return card("What the columns mean", note, table(heads, rows.filter(Boolean), "import-columns"));
}

/* How a metric is shown: its unit's name and factor. */
const unitOf = (units, unit) => units[unit] || { name: unit, factor: 1 };

function storedTable(preview, units) {
  const used = METRICS.filter(([name]) => preview.rows.some((row) => row[name] != null));
  const format = new Intl.DateTimeFormat("en-GB", {
    weekday: "short", day: "numeric", month: "short", year: "numeric",
    hour: "2-digit", minute: "2-digit", timeZone: preview.zone, timeZoneName: "short",
  }); // biome-ignore format: one line each would be ten
  const rows = preview.rows.map((row) =>
    element(
      "tr",
      {},
      cell(format.format(row.recordedAt)),
      cell(row.device),
      ...used.map(([name, , digits, unit]) => {
        const value = row[name] == null ? null : row[name] * unitOf(units, unit).factor;
        return cell(value?.toFixed(digits) ?? "–", "number");
      }),
    ),
  );
  return table(
    [
      ["Time"],
      ["Device"],
      ...used.map(([, label, , unit]) => [`${label}, ${unitOf(units, unit).name}`, "number"]),
    ],
    rows,
    "import-rows",
  );
}

function rowsCard(job) {
  const { preview, mapping, shownUnits } = job;
  const stored = () => storedTable(preview, shownUnits);
  const raw = () =>
    table(
      mapping.columns.map((column) => [column.name]),
      preview.raw.map((row) => element("tr", {}, ...row.map((text) => cell(text)))),
      "import-rows",
    );
  const place = element("div", {}, stored());
  const buttons = [
    ["As stored", stored],
    ["As in the file", raw],
  ].map(([label, draw], index) => {
    const button = element("button", { type: "button", className: "segment" }, label);
    button.setAttribute("aria-pressed", String(index === 0));
    button.addEventListener("click", () => {
      for (const each of buttons) each.setAttribute("aria-pressed", String(each === button));
      place.replaceChildren(draw());
    });
    return button;
  });
  const made = card("As it will be stored", `first ${preview.rows.length} readings`, place);
  made.querySelector("h2").append(element("span", { className: "segments" }, ...buttons));
  return made;
}

function chartCard({ preview, shownUnits }) {
  const unit = preview.chart.metric === "flow_rate" ? "gal/min" : "gal";
  const drawn = chart(preview.chart, preview.zone, unitOf(shownUnits, unit));
  const note = `first ${whole(preview.chart.points.length)} readings, as stored`;
  const nothing = element("p", { className: "quiet" }, "Too few values to draw.");
  return card(preview.chart.device || "No readings", note, drawn || nothing);
}

function item(title, text, isWarning = true) {
  const mark = element(
    "span",
    { className: isWarning ? "unsure" : "quiet" },
    isWarning ? "⬖" : "◇",
  );
  mark.setAttribute("aria-hidden", "true");
  const words = element("p", { className: "quiet" }, text);
  return element("li", {}, mark, element("div", {}, element("strong", {}, title), words));
}

function checksCard(job) {
  const { preview, unsure } = job;
  const items = Object.entries(unsure).map(([name, why]) =>
    item(settingName(name, job.mapping), `${why[0].toUpperCase()}${why.slice(1)}.`),
  );
  const read = `Among the first ${whole(preview.read)} rows.`;
  for (const [reason, , count, sample] of preview.refused) {
    const rows = count === 1 ? "1 row" : `${whole(count)} rows`;
    const first = sample ? ` ${count === 1 ? "It" : "The first"} is: ${sample}` : "";
    items.push(item(`${rows} left out: ${reason}`, read + first, false));
  }
  if (!items.length)
    items.push(item("Nothing", "Every guess is sure, every row can be read.", false));
  return card(
    "Worth checking",
    String(Object.keys(unsure).length || ""),
    element("ul", {}, ...items),
  );
}

function devicesCard({ preview }) {
  const chips = preview.devices
    .slice(0, 40)
    .map(({ name, known }) =>
      element("span", { className: known ? "chip" : "chip new" }, known ? name : `+ ${name}`),
    );
  const more = preview.allDevices - chips.length;
  if (more > 0) chips.push(element("span", { className: "quiet" }, `and ${whole(more)} more`));
  const old = preview.allDevices - preview.newDevices;
  const note = `${whole(old)} known, ${whole(preview.newDevices)} new`;
  return card("Devices", note, element("div", { className: "import-devices" }, ...chips));
}

/* The whole view; for an inconsistent mapping only what can be changed. */
export function mappingView(job, change) {
  const main = element("div", { className: "import-main" }, columnsCard(job, change));
  const side = element("div", { className: "import-side" });
  if (job.preview.problem) {
    const words = element("p", { className: "import-problem", role: "alert" }, job.preview.problem);
    main.prepend(words);
  } else {
    main.append(rowsCard(job));
    side.append(chartCard(job), checksCard(job), devicesCard(job));
  }
  const grid = element("div", { className: "import-grid" }, main, side);
  return [settingsRow(job, change), grid];
}
