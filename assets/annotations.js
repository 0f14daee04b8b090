/* Notes, maintenance and corrections: their form, opened by a button, by N, or by a click on the
   chart's time axis. The server carries out the change, names invalid fields and previews
   corrections; then the list and the chart are loaded again. */
import * as chart from "./chart.js";
import { noUpdate, register, setProps } from "./dash.js";
import { element } from "./element.js";
import * as selection from "./span-selection.js";
import { toast } from "./toast.js";
import { wallTime } from "./wall-time.js";

const AXIS_PX = 44;
const PREVIEW_MS = 400; // after the last change of the form
const TITLES = { note: "Note", maintenance: "Maintenance", correction: "Correction" };
const METRICS = [
  ["", "All (to scale: flow rate and volume)"],
  ["flow_rate", "Flow rate"],
  ["flow_amount", "Volume"],
  ["quality", "Signal quality"],
  ["signal_strength", "Signal strength"],
  ["network_rssi", "Network RSSI"],
  ["onboard_temperature", "Onboard temperature"],
];
const REPEATS = [
  ["", "once"],
  ["daily", "daily"],
  ["weekly", "weekly"],
  ["monthly", "monthly"],
];

let dialog = null;
let pending = 0; // when the change was sent whose result is awaited
let previewTimer = 0;

const panel = () => document.getElementById("annotations");
const zone = () => {
  const question = chart.isOpen() ? chart.currentQuestion() : null;
  return question?.zone || panel().dataset.zone;
};

function field(name, label, input, hint = "") {
  input.name = name;
  const problem = element("span", { className: "problem" });
  problem.dataset.problem = name;
  const parts = [element("span", { textContent: label }), input, problem];
  if (hint) parts.splice(1, 0, element("span", { className: "quiet", textContent: hint }));
  return element("label", { className: "annotation-field" }, ...parts);
}

function choice(options, value) {
  const made = element("select", { className: "button select" });
  made.append(
    ...options.map(([key, text]) => element("option", { value: key, textContent: text })),
  );
  made.value = value || "";
  return made;
}

const time = (value) => element("input", { type: "datetime-local", className: "search", value });

/* --- The form --- */

function fieldsOf(entry) {
  const textarea = element("textarea", { className: "search", rows: 3, maxLength: 2000 });
  textarea.value = entry.text || "";
  if (entry.revoke) return [field("text", "Reason", textarea)];
  const made = [];
  if (!panel().dataset.device && !entry.id) {
    const subject = element("input", { type: "text", className: "search", autocomplete: "off" });
    subject.setAttribute("list", "annotation-subjects");
    const hint = entry.kind === "correction" ? "" : "Serial number, or “Group” and its name";
    made.push(
      field("subject", entry.kind === "correction" ? "Device" : "Device or group", subject, hint),
    );
  }
  const instant = entry.kind === "note" ? "Empty: an instant" : "";
  const times = [
    field("from", "From", time(entry.from)),
    field("to", "To", time(entry.to), instant),
  ];
  made.push(element("div", { className: "annotation-times" }, ...times));
  made.push(field("text", entry.kind === "note" ? "Text" : "Reason", textarea));
  if (entry.kind === "maintenance") made.push(repeats(entry));
  if (entry.kind === "correction") made.push(...effects(entry));
  return made;
}

function repeats(entry) {
  const repeat = choice(REPEATS, entry.repeat);
  const until = field("until", "Until", time(entry.until));
  until.hidden = !repeat.value;
  repeat.addEventListener("change", () => {
    until.hidden = !repeat.value;
  });
  return element(
    "div",
    { className: "annotation-times" },
    field("repeat", "Repeats", repeat),
    until,
  );
}

function effects(entry) {
  const options = [
    ["exclude", "Exclude: the values don’t count"],
    ["scale", "Scale: multiply the values"],
  ];
  const effect = choice(options, entry.effect || "exclude");
  const number = element("input", { type: "number", step: "any", className: "search" });
  const factor = field("factor", "Factor", number);
  factor.hidden = effect.value !== "scale";
  effect.addEventListener("change", () => {
    factor.hidden = effect.value !== "scale";
  });
  const metric = field("metrics", "Metric", choice(METRICS, ""));
  const row = element(
    "div",
    { className: "annotation-times" },
    field("effect", "Effect", effect),
    factor,
  );
  return [row, metric];
}

function open(entry) {
  close();
  const correction = entry.kind === "correction" && !entry.revoke;
  const title = entry.revoke ? "Revoke correction" : TITLES[entry.kind];
  const where = element("p", { className: "quiet", textContent: `Times in ${zone()}` });
  const error = element("p", { className: "problem annotation-error", role: "alert" });
  const preview = element("p", { className: "annotation-preview", role: "status" });
  const button = (textContent, properties) =>
    element("button", { className: "button", textContent, ...properties });
  const save = button(entry.revoke ? "Revoke" : "Save", {
    type: "submit",
    className: "button primary",
  });
  const cancel = button("Cancel", { type: "button", onclick: close });
  const form = element(
    "form",
    { method: "dialog", className: "annotation-form", noValidate: true },
    element("h2", {
      textContent: entry.id && !entry.revoke ? `Edit ${title.toLowerCase()}` : title,
    }),
    ...fieldsOf(entry),
    ...(entry.revoke ? [] : [where]),
    preview,
    error,
    element("div", { className: "annotation-buttons" }, save, cancel),
  );
  if (correction) form.addEventListener("input", () => previewSoon(entry));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    send(entry, entry.revoke ? "revoke" : "save");
  });
  dialog = element("dialog", { className: "card annotation-dialog" }, form);
  dialog.setAttribute("aria-label", title);
  dialog.addEventListener("close", close);
  document.body.append(dialog);
  dialog.showModal();
  form.querySelector("[name=subject], textarea").focus();
  if (correction) previewSoon(entry);
}

/* A correction is previewed while its form is being filled in, once it is complete. */
function previewSoon(entry) {
  clearTimeout(previewTimer);
  previewTimer = setTimeout(() => {
    const { from, to, subject, effect, factor } = dialog?.querySelector("form").elements || {};
    const whole = from?.value && to.value && (!subject || subject.value);
    if (whole && (effect.value === "exclude" || factor.value)) send(entry, "preview");
  }, PREVIEW_MS);
}

function close() {
  clearTimeout(previewTimer);
  dialog?.remove();
  dialog = null;
}

function send(entry, deed) {
  clearTimeout(previewTimer);
  const fields = Object.fromEntries(new FormData(dialog.querySelector("form")));
  for (const part of dialog.querySelectorAll("[data-problem]")) part.textContent = "";
  dialog.querySelector(".annotation-error").textContent = "";
  const metrics = fields.metrics ? [fields.metrics] : [];
  const subject = fields.subject ?? panel().dataset.device;
  pending = Date.now();
  const units = chart.isOpen() ? chart.currentQuestion().units : undefined;
  const what = { ...fields, metrics, subject, do: deed, kind: entry.kind, id: entry.id || "" };
  setProps("annotations-deed", { data: { ...what, zone: zone(), units, request_id: pending } });
}

/* --- Opening it --- */

function add(kind, { ms, effect } = {}) {
  const range = selection.selected() || (chart.isOpen() ? chart.range() : null);
  const now = Date.now();
  const latest = selection.selected() ? range[1] : Math.min(range?.[1], now);
  const span = range ? [range[0], latest] : [now, now + 3600000];
  const instant = kind === "note" && !selection.selected();
  const start = ms ?? (instant && !range ? now : span[0]);
  const entry = { kind, effect, from: wallTime(start, zone()) };
  if (!instant) entry.to = wallTime(span[1], zone());
  open(entry);
}

const may = (kind) => Boolean(panel()?.querySelector(`[data-annotate=${kind}]`));

document.addEventListener("click", (event) => {
  const adding = event.target.closest("button[data-annotate]");
  if (adding) return add(adding.dataset.annotate, { effect: adding.dataset.effect });
  const button = event.target.closest("button[data-annotation]");
  if (!button) return onAxis(event);
  const entry = JSON.parse(button.dataset.entry);
  const deed = button.dataset.annotation;
  if (deed === "edit") return open(entry);
  if (deed === "revoke") return open({ ...entry, text: "", revoke: true });
  return order({ do: "delete", kind: entry.kind, id: entry.id });
});

/* A change without a form. */
function order(what) {
  pending = Date.now();
  setProps("annotations-deed", { data: { ...what, zone: zone(), request_id: pending } });
}

/* A click on the time axis, below the plot, opens a note at that instant. */
function onAxis(event) {
  if (!chart.isOpen() || !chart.currentPlot().contains(event.target) || !may("note")) return;
  const size = chart.graph()?._fullLayout;
  if (!size) return;
  const box = chart.graph().getBoundingClientRect();
  const x = event.clientX - box.left - size._size.l;
  if (box.bottom - event.clientY > AXIS_PX || event.clientY > box.bottom) return;
  if (x < 0 || x > size._size.w) return;
  const [from, to] = chart.range();
  add("note", { ms: from + (x / size._size.w) * (to - from) });
}

document.addEventListener("keydown", (event) => {
  if (event.key !== "n" && event.key !== "N") return;
  if (event.ctrlKey || event.metaKey || event.altKey || dialog || !panel()?.dataset.device) return;
  if (event.target.closest("input, textarea, select, [contenteditable]") || !may("note")) return;
  event.preventDefault();
  add("note");
});

register("annotations", {
  done: (outcome) => {
    if (!outcome || outcome.request_id !== pending) return noUpdate();
    if (outcome.words) {
      close();
      selection.end();
      const { kind, undo } = outcome;
      toast(outcome.words, undo && (() => order({ do: "restore", kind, body: undo })));
      if (chart.isOpen()) chart.renew();
      return "";
    }
    if (!dialog) return outcome.error || noUpdate();
    dialog.querySelector(".annotation-preview").textContent = outcome.preview || "";
    const error = dialog.querySelector(".annotation-error");
    error.textContent = outcome.error || "";
    for (const [name, why] of Object.entries(outcome.problems || {})) {
      const place = dialog.querySelector(`[data-problem="${CSS.escape(name)}"]`);
      if (place) place.textContent = why;
      else error.textContent += `${name} ${why} `;
    }
    return noUpdate();
  },
});
