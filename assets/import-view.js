/* What the import page shows of a file whose mapping is to be checked: its settings, columns, rows as
   they will be stored, a chart, and what is worth checking. `change` sends changed settings. */
import { element } from "./element.js";
import { chart } from "./import-chart.js";
import {
  DECIMALS,
  DELIMITERS,
  formats,
  LAYOUTS,
  MEANINGS,
  settingName,
  units,
  VALUES,
  whole,
} from "./import-texts.js";
import { zoneNames } from "./site.js";

const METRICS = [
  ["flow_amount", "Volume, gal", 2],
  ["flow_rate", "Flow rate, gpm", 3],
  ["flow_duration", "Duration, s", 0],
  ["onboard_temperature", "Temp., °C", 1],
  ["signal_strength", "Signal, dBm", 0],
  ["network_rssi", "RSSI, dBm", 0],
  ["quality", "Quality, %", 0],
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

function settingsRow(found, change) {
  const { mapping, unsure } = found;
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
  if (mapping.form === "csv")
    fields.unshift(["delimiter", "Between values", DELIMITERS, mapping.delimiter]);
  const saved = found.mappings.map((name) => [name, name]);
  if (saved.length) fields.push(["mapping", "Saved mapping", [["", "none"], ...saved], ""]);
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

function columnsCard(found, change) {
  const { mapping, unsure, preview } = found;
  const rows = mapping.columns.map((column, place) => {
    const name = (key) => `column.${column.name}.${key}`;
    const pick = (key, label, options) =>
      select(
        name(key),
        `${column.name}: ${label}`,
        options,
        column[key],
        unsure[name(key)],
        change,
      );
    const choices = units(column);
    const samples = (preview.samples[place] || []).join(" · ") || "(empty)";
    return element(
      "tr",
      {},
      cell(element("strong", {}, column.name)),
      cell(samples, "import-samples"),
      cell(pick("is", "meaning", MEANINGS)),
      cell(choices.length ? pick("unit", "unit", choices) : ""),
      cell(column.is === "water" ? pick("values", "each value is", VALUES) : ""),
    );
  });
  const left = mapping.columns.filter((column) => column.is === "skip").length;
  const note = `${mapping.columns.length} columns${left ? `, ${left} left out` : ""}`;
  const heads = [["In the file"], ["Values"], ["Is"], ["Unit"], ["Each value is"]];
  return card("What the columns mean", note, table(heads, rows, "import-columns"));
}

function storedTable(preview) {
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
      ...used.map(([name, , digits]) => cell(row[name]?.toFixed(digits) ?? "–", "number")),
    ),
  );
  return table(
    [["Time"], ["Device"], ...used.map(([, label]) => [label, "number"])],
    rows,
    "import-rows",
  );
}

function rowsCard(found) {
  const { preview, mapping } = found;
  const raw = () =>
    table(
      mapping.columns.map((column) => [column.name]),
      preview.raw.map((row) => element("tr", {}, ...row.map((text) => cell(text)))),
      "import-rows",
    );
  const place = element("div", {}, storedTable(preview));
  const buttons = [
    ["As stored", () => storedTable(preview)],
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

function chartCard({ preview }) {
  const drawn = chart(preview.chart, preview.zone);
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

function checksCard(found) {
  const { preview, unsure } = found;
  const items = Object.entries(unsure).map(([name, why]) =>
    item(settingName(name, found.mapping), `${why[0].toUpperCase()}${why.slice(1)}.`),
  );
  const read = `of the first ${whole(preview.read)}`;
  for (const [reason, device, count, sample] of preview.refused) {
    const rows = count === 1 ? "1 row" : `${whole(count)} rows`;
    items.push(item(`${rows} left out: ${reason}`, `${read}. ${device} ${sample}`, false));
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

/* The whole of it; of a mapping that doesn't hold together only what can be changed. */
export function mappingView(found, change) {
  const main = element("div", { className: "import-main" }, columnsCard(found, change));
  const side = element("div", { className: "import-side" });
  if (found.preview.problem) {
    const words = element(
      "p",
      { className: "import-problem", role: "alert" },
      found.preview.problem,
    );
    main.prepend(words);
  } else {
    main.append(rowsCard(found));
    side.append(chartCard(found), checksCard(found), devicesCard(found));
  }
  const grid = element("div", { className: "import-grid" }, main, side);
  return [settingsRow(found, change), grid];
}
