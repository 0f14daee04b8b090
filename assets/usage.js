/* The usage page, the report and the compare page, equal to their addresses. The server decides
   every text. Requests go into one Store, the question: {range, zone, units, devices, q, group,
   sort, open, request_id}, for a report {…, metric, compare, paper}, for a comparison {…, items, by,
   layout}. While a reply is incomplete, it is requested again at once. A page has data-summary, and
   its id is the prefix of the ids of its parts. */
import * as controls from "./controls.js";
import { noUpdate, register, setProps } from "./dash.js";
import * as freshness from "./freshness.js";
import { snapshots } from "./share.js";
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
let latest = null; // the last good answer
let timer = 0;
let searchTimer = 0;

const byId = (part) => document.getElementById(`${page.id}-${part}`);
const isOpen = () => page?.isConnected;

/* --- Requests --- */

function request(changes = {}, { remember = "push" } = {}) {
  clearTimeout(timer);
  clearTimeout(searchTimer);
  question = { ...question, ...changes, request_id: Date.now() };
  controls.press(question);
  if (remember) controls.writeAddress(question, IN_ADDRESS, remember);
  page.dataset.state = "loading";
  freshness.requested({ changed: Object.keys(changes).length > 0 });
  setProps(`${page.id}-question`, { data: question });
}

const again = () => isOpen() && request({}, { remember: "" });

function set(field, value) {
  if (field === "range" && value === "custom") return dates(true);
  if (field === "range") dates(false);
  const control = document.querySelector(`select[data-set="${field}"]`);
  const button = document.querySelector(`button[data-set="${field}"][data-value="${value}"]`);
  const usual = button
    ? button.dataset.default === "true"
    : control && control.dataset.default === value;
  request({ [field]: usual ? null : value || null });
}

/* --- A custom range of dates --- */

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
  const range = latest ? latest.dates : ["", ""];
  const apply = document.createElement("button");
  Object.assign(apply, { type: "submit", className: "button", textContent: "Apply" });
  form.replaceChildren(dateField("from", range[0]), dateField("to", range[1]), apply);
  form.querySelector("input").focus();
}

document.addEventListener("submit", (event) => {
  if (!isOpen() || event.target !== byId("dates")) return;
  event.preventDefault();
  const [from, to] = ["from", "to"].map((name) => event.target.elements[name].value).sort();
  if (from && to) request({ range: `${from}..${to}` });
});

/* --- The devices --- */

/* `data-picks` names what is chosen one by one, `data-most` its limit. Without a choice the reply
   may choose by itself. */
const picks = () => page.dataset.picks || "devices";
const most = () => Number(page.dataset.most) || MOST_CHOSEN;

function chosen() {
  const written = question[picks()];
  return written ? written.split(",").filter(Boolean) : [...(latest?.items || [])];
}

function pick(id) {
  const ids = chosen();
  const at = ids.indexOf(id);
  if (at >= 0) ids.splice(at, 1);
  else if (ids.length < most()) ids.push(id);
  request({ [picks()]: ids.join(",") || null, open: null });
}

function groups(names) {
  const box = byId("group");
  if (box.dataset.names === names.join("\n")) return;
  box.dataset.names = names.join("\n");
  box.replaceChildren(...controls.groups(names, question.group));
}

function drawChoice() {
  const box = byId("chosen");
  const parts = [document.createTextNode(latest.chosen)];
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
  request({ [picks()]: null, q: null, group: null, open: null });
}

document.addEventListener("click", (event) => {
  if (!isOpen()) return;
  const button = event.target.closest("button");
  if (!button || !page.contains(button)) return;
  const { set: field, value, open, pick: id, do: deed } = button.dataset;
  if (field) set(field, value);
  else if (open) request({ open: question.open === open ? null : open });
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
    () => request({ q: q || null, open: null }, { remember: "replace" }),
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
  request(before, { remember: "" });
});

snapshots.push(() => {
  if (!isOpen() || !latest?.moves) return null;
  return { range: latest.dates.join("..") };
});

/* --- Replies --- */

const summaryElement = () => document.querySelector("[data-summary]");

function opened(initial) {
  page = summaryElement();
  question = { ...initial };
  latest = null;
  controls.press(question);
  freshness.open({
    root: page,
    notice: `${page.id}-notice`,
    retry: again,
    polls: false,
    zone: () => question.zone,
    remark: () => latest?.empty,
  });
  if (String(question.range).includes("..")) byId("dates").hidden = true;
}

register("usage", {
  received: (answer, initial) => {
    const nothing = noUpdate();
    if (!answer || !summaryElement()) return nothing;
    if (page !== summaryElement()) opened(initial || {});
    if (answer.request_id && answer.request_id !== question.request_id) return nothing; // of an earlier request
    if (answer.error) {
      page.dataset.state = latest ? "ready" : "failed";
      freshness.failed(answer.error);
      return nothing;
    }
    latest = answer;
    page.dataset.state = answer.empty ? "empty" : answer.complete ? "ready" : "loading";
    freshness.received();
    byId("progress").textContent = answer.progress;
    byId("range").textContent = answer.range;
    groups(answer.groups);
    drawChoice();
    page.dispatchEvent(new CustomEvent("weir:received", { bubbles: true, detail: answer }));
    if (!answer.complete) timer = setTimeout(again, 0);
    return nothing;
  },
});
