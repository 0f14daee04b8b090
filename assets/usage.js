/* The usage page, the report and the compare page, kept in step with their addresses. The server
   decides every word; what is asked goes into one Store, the question: {range, zone, units, devices,
   q, group, sort, open, asked}, of a report {…, metric, compare,
   paper}, of a comparison {…, items, by,
   layout}; while an answer isn't complete, it is asked for again at
   once. A page says data-summary, and its id begins the ids of its parts. */
import * as controls from "./controls.js";
import { noUpdate, register, setProps } from "./dash.js";
import * as freshness from "./freshness.js";
import { moments } from "./share.js";
import { siteRoot } from "./site.js";

const IN_ADDRESS = [
  "range",
  "zone",
  "units",
  "devices",
  "q",
  "group",
  "sort",
  "open",
  "metric",
  "paper",
  "items",
  "by",
  "layout",
  "compare",
];
const SEARCH_MS = 250;
const MOST_CHOSEN = 50;

let page = null;
let question = {};
let told = null; // the last good answer
let timer = 0;
let searchTimer = 0;

const byId = (part) => document.getElementById(`${page.id}-${part}`);
const isOpen = () => page?.isConnected;

/* --- Asking --- */

function ask(changes = {}, { remember = "push" } = {}) {
  clearTimeout(timer);
  clearTimeout(searchTimer);
  question = { ...question, ...changes, asked: Date.now() };
  controls.press(question);
  if (remember) controls.writeAddress(question, IN_ADDRESS, remember);
  page.dataset.state = "loading";
  freshness.asked({ changed: Object.keys(changes).length > 0 });
  setProps(`${page.id}-question`, { data: question });
}

const again = () => isOpen() && ask({}, { remember: "" });

function set(field, value) {
  if (field === "range" && value === "custom") return dates(true);
  if (field === "range") dates(false);
  const control = document.querySelector(`select[data-set="${field}"]`);
  const button = document.querySelector(`button[data-set="${field}"][data-value="${value}"]`);
  const usual = button
    ? button.dataset.default === "true"
    : control && control.dataset.default === value;
  ask({ [field]: usual ? null : value || null });
}

/* --- Two dates of the reader's own --- */

function dateField(name, value) {
  const label = document.createElement("label");
  const field = document.createElement("input");
  Object.assign(field, {
    type: "date",
    className: "moment",
    name,
    value: value || "",
    required: true,
  });
  label.append(name === "from" ? "From" : "To", field);
  return label;
}

function dates(open) {
  const form = byId("dates");
  form.hidden = !open;
  if (!open) return;
  const known = told ? told.dates : ["", ""];
  const apply = document.createElement("button");
  Object.assign(apply, { type: "submit", className: "button", textContent: "Apply" });
  form.replaceChildren(dateField("from", known[0]), dateField("to", known[1]), apply);
  form.querySelector("input").focus();
}

document.addEventListener("submit", (event) => {
  if (!isOpen() || event.target !== byId("dates")) return;
  event.preventDefault();
  const [from, to] = ["from", "to"].map((name) => event.target.elements[name].value).sort();
  if (from && to) ask({ range: `${from}..${to}` });
});

/* --- Which devices --- */

/* `data-picks` names what is chosen one by one, `data-most` how many of them. Where nothing is, the
   answer may have chosen by itself. */
const picks = () => page.dataset.picks || "devices";
const most = () => Number(page.dataset.most) || MOST_CHOSEN;

function chosen() {
  const written = question[picks()];
  return written ? written.split(",").filter(Boolean) : [...(told?.items || [])];
}

function pick(id) {
  const ids = chosen();
  const at = ids.indexOf(id);
  if (at >= 0) ids.splice(at, 1);
  else if (ids.length < most()) ids.push(id);
  ask({ [picks()]: ids.join(",") || null, open: null });
}

function groups(names) {
  const box = byId("group");
  if (box.dataset.names === names.join("\n")) return;
  box.dataset.names = names.join("\n");
  box.replaceChildren(...controls.groups(names, question.group));
}

function said() {
  const box = byId("chosen");
  const parts = [document.createTextNode(told.chosen)];
  if (question[picks()] || question.q || question.group) {
    const clear = document.createElement("button");
    const textContent = page.dataset.clear || "All devices";
    Object.assign(clear, { type: "button", className: "button small", textContent });
    clear.dataset.do = "all";
    parts.push(" ", clear);
  }
  box.replaceChildren(...parts);
}

function sought(words) {
  if (byId("search")) setProps(`${page.id}-search`, { value: words });
}

function all() {
  sought("");
  ask({ [picks()]: null, q: null, group: null, open: null });
}

document.addEventListener("click", (event) => {
  if (!isOpen()) return;
  const button = event.target.closest("button");
  if (!button || !page.contains(button)) return;
  const { set: field, value, open, pick: id, do: deed } = button.dataset;
  if (field) set(field, value);
  else if (open) ask({ open: question.open === open ? null : open });
  else if (id) pick(id);
  else if (deed === "all") all();
});

document.addEventListener("change", (event) => {
  const select = event.target.closest("select[data-set]");
  if (isOpen() && select) set(select.dataset.set, select.value);
});

document.addEventListener("input", (event) => {
  if (!isOpen() || event.target !== byId("search")) return;
  clearTimeout(searchTimer);
  const q = event.target.value.trim();
  searchTimer = setTimeout(
    () => ask({ q: q || null, open: null }, { remember: "replace" }),
    SEARCH_MS,
  );
});

document.addEventListener("keydown", (event) => {
  if (!isOpen() || event.key !== "/" || event.target.closest("input, select, textarea")) return;
  if (!byId("search")) return;
  event.preventDefault();
  byId("search").focus();
});

/* --- The address --- */

window.addEventListener("popstate", (event) => {
  if (!isOpen() || window.location.pathname !== `${siteRoot}/${page.id}`) return;
  event.stopImmediatePropagation();
  const before = controls.fromAddress(IN_ADDRESS);
  sought(before.q || "");
  ask(before, { remember: "" });
});

moments.push(() => {
  if (!isOpen() || !told?.moves) return null;
  return { range: told.dates.join("..") };
});

/* --- Answers --- */

const found = () => document.querySelector("[data-summary]");

function opened(asked) {
  page = found();
  question = { ...asked };
  told = null;
  controls.press(question);
  freshness.open({
    root: page,
    notice: `${page.id}-notice`,
    retry: again,
    polls: false,
    zone: () => question.zone,
    remark: () => told?.empty,
  });
  if (String(question.range).includes("..")) byId("dates").hidden = true;
}

register("usage", {
  answered: (answer, asked) => {
    const nothing = noUpdate();
    if (!answer || !found()) return nothing;
    if (page !== found()) opened(asked || {});
    if (answer.asked && answer.asked !== question.asked) return nothing; // of an earlier question
    if (answer.error) {
      page.dataset.state = told ? "ready" : "failed";
      freshness.failed(answer.error);
      return nothing;
    }
    told = answer;
    page.dataset.state = answer.empty ? "empty" : answer.complete ? "ready" : "loading";
    freshness.answered();
    byId("progress").textContent = answer.progress;
    byId("range").textContent = answer.range;
    groups(answer.groups);
    said();
    page.dispatchEvent(new CustomEvent("weir:answered", { bubbles: true, detail: answer }));
    if (!answer.complete) timer = setTimeout(again, 0);
    return nothing;
  },
});
