/* The findings page, equal to its address. The server decides every text. Requests go into two
   Stores: the question, whose reply is the list, and the chosen finding, whose reply is the detail.
   On a phone the detail is a page of its own, by the address' `finding`. */
import * as controls from "./controls.js";
import { noUpdate, register, setProps as setAnyProps } from "./dash.js";
import { element } from "./element.js";
import { fillForm } from "./finding-dismissal.js";
import { drawLarge, drawSmall } from "./finding-pictures.js";
import * as freshness from "./freshness.js";
import { siteRoot } from "./site.js";
import { toast } from "./toast.js";

const IN_ADDRESS = ["state", "kind", "severity", "group", "page", "finding", "zone", "units"];
const REFRESH_MS = 30000;
const narrow = window.matchMedia("(max-width: 1000px)");

let page = null;
let question = {};
let listed = null; // the last good answer
let chosen = ""; // whose detail is shown
let pictured = null; // the last chart, of the chosen finding
let last = null; // the last dismissed one: {finding}
let timer = 0;
let busy = false;

const byId = (part) => document.getElementById(`findings-${part}`);
const isOpen = () => page?.isConnected === true;
const setProps = (id, data) => setAnyProps(id, { data });

/* --- Requests --- */

function request(changes = {}, { remember = "push" } = {}) {
  clearTimeout(timer);
  question = { ...question, ...changes, request_id: Date.now() };
  controls.press(question);
  if (remember) controls.writeAddress(question, IN_ADDRESS, remember);
  view();
  freshness.requested({ changed: Object.keys(changes).length > 0 });
  setProps("findings-question", question);
}

const again = () => {
  if (!isOpen()) return;
  request({}, { remember: "" });
  detail();
};

function detail() {
  if (chosen) setProps("findings-chosen", { ...question, finding: chosen, request_id: Date.now() });
}

function set(field, value) {
  const usual = field === "state" ? "open" : "";
  request({ [field]: value === usual ? null : value, page: null, finding: null });
  if (field === "units" || field === "zone") detail();
}

function toggleKind(kind) {
  const kinds = (question.kind || "").split(",").filter(Boolean);
  const at = kinds.indexOf(kind);
  if (at >= 0) kinds.splice(at, 1);
  else kinds.push(kind);
  request({ kind: kinds.join(",") || null, page: null, finding: null });
}

/* --- The chosen finding --- */

const rowOf = (id) => page.querySelector(`.finding-row[data-finding="${CSS.escape(id)}"]`);

function view() {
  page.dataset.view = question.finding ? "detail" : "list";
}

function mark() {
  page.querySelectorAll(".finding-row").forEach((row) => {
    if (row.dataset.finding === chosen) row.setAttribute("aria-current", "true");
    else row.removeAttribute("aria-current");
  });
  const place = page.querySelector(".finding-place");
  const at = listed ? listed.order.indexOf(chosen) : -1;
  if (place) place.textContent = at < 0 ? "" : `${listed.first + at} of ${listed.total}`;
}

/* `remember`: "" for the page's own choice. */
function choose(id, remember = "replace") {
  if (remember) {
    question = { ...question, finding: id };
    controls.writeAddress(question, IN_ADDRESS, remember);
    view();
  }
  if (chosen !== id) {
    chosen = id;
    byId("detail").dataset.state = "loading";
    detail();
  }
  mark();
}

function none() {
  chosen = "";
  setProps("findings-chosen", { finding: "" });
  setProps("findings-detail-nodes", []);
}

function settle() {
  if (question.finding) return choose(question.finding, "");
  if (narrow.matches) return mark();
  if (chosen && listed.order.includes(chosen)) return mark();
  if (listed.order.length) choose(listed.order[0], "");
  else none();
}

function step(by) {
  if (!listed?.order.length) return;
  const at = listed.order.indexOf(chosen);
  const next = listed.order[Math.min(listed.order.length - 1, Math.max(0, at + by))];
  choose(next);
  const row = rowOf(next);
  row.focus({ preventScroll: true });
  row.scrollIntoView({ block: "nearest" });
}

/* --- Dismissing --- */

function form(open) {
  const box = document.getElementById("finding-dismiss");
  if (!box) return;
  box.hidden = !open;
  const button = page.querySelector('[data-do="ask"]');
  button.setAttribute("aria-expanded", String(open));
  if (!open) return button.focus();
  fillForm(box);
  box.querySelector("input").focus();
  box.scrollIntoView({ block: "nearest" });
}

function deed(what, finding, more = {}) {
  if (busy) return;
  busy = true;
  setProps("findings-deed", { do: what, finding, ...more, request_id: Date.now() });
}

function undo() {
  if (last) deed("restore", last.finding);
}

document.addEventListener("submit", (event) => {
  if (!isOpen() || event.target.id !== "finding-dismiss") return;
  event.preventDefault();
  const { as, words } = event.target.elements;
  deed("dismiss", chosen, { as: as.value, reason: words.value.trim() });
});

/* --- Controls --- */

const plain = (event) =>
  !(event.metaKey || event.ctrlKey || event.shiftKey || event.altKey || event.button);

document.addEventListener("click", (event) => {
  if (!isOpen() || !plain(event)) return;
  const row = event.target.closest(".finding-row");
  if (row) {
    event.preventDefault();
    return choose(row.dataset.finding, narrow.matches ? "push" : "replace");
  }
  const button = event.target.closest("button");
  if (!button || !page.contains(button)) return;
  const { set: field, value, kind, page: number, do: what } = button.dataset;
  if (field) set(field, value);
  else if (kind) toggleKind(kind);
  else if (number) request({ page: number === "1" ? null : number, finding: null });
  else if (what === "ask") form(document.getElementById("finding-dismiss").hidden);
  else if (what === "restore") deed("restore", chosen);
  else if (what === "back") request({ finding: null });
});

document.addEventListener("change", (event) => {
  const select = event.target.closest("select[data-set]");
  if (isOpen() && select) set(select.dataset.set, select.value);
});

const KEYS = {
  j: () => step(1),
  ArrowDown: () => step(1),
  k: () => step(-1),
  ArrowUp: () => step(-1),
  Enter: () => {
    const link = document.getElementById("finding-chart-link");
    if (link) link.click();
  },
  x: () => {
    if (page.querySelector('[data-do="restore"]')) deed("restore", chosen);
    else if (page.querySelector('[data-do="ask"]')) form(true);
  },
  u: undo,
  "?": () => keys(byId("keys").hidden),
};

function keys(open) {
  byId("keys").hidden = !open;
  if (open) byId("keys").focus();
}

function closeForm() {
  const box = document.getElementById("finding-dismiss");
  if (box && !box.hidden) form(false);
  else if (!byId("keys").hidden) keys(false);
  else if (narrow.matches && question.finding) request({ finding: null });
}

document.addEventListener("keydown", (event) => {
  if (!isOpen() || event.metaKey || event.ctrlKey || event.altKey) return;
  if (event.key === "Escape") return closeForm();
  if (event.target.closest("input, select, textarea, summary, details[open]") || !KEYS[event.key])
    return;
  const own = event.target.closest("a, button");
  if (event.key === "Enter" && own && !own.matches(".finding-row")) return;
  event.preventDefault();
  KEYS[event.key]();
});

window.addEventListener("popstate", (event) => {
  if (!isOpen() || window.location.pathname !== `${siteRoot}/findings`) return;
  event.stopImmediatePropagation();
  request(controls.fromAddress(IN_ADDRESS), { remember: "" });
});

/* --- Charts --- */

document.addEventListener("weir:drawn", (event) => {
  if (!isOpen()) return;
  if (event.target.id === "findings-list") {
    event.target.querySelectorAll(".finding-chart[data-line]").forEach(drawSmall);
    mark();
  } else if (event.target.id === "findings-detail") {
    dressed();
  }
});

/* The detail's chart, and the way back from it on a phone. */
function dressed() {
  const place = page.querySelector(".finding-figure");
  if (place && pictured && pictured.finding === chosen) drawLarge(place, pictured.figure);
  const line = page.querySelector(".finding-line");
  if (line && !line.querySelector(".finding-back")) {
    const back = element("button", {
      type: "button",
      className: "button finding-back",
      textContent: "‹ Findings",
    });
    back.dataset.do = "back";
    line.prepend(back);
  }
  mark();
}

/* --- Replies --- */

function opened() {
  page = document.getElementById("findings");
  question = controls.fromAddress(IN_ADDRESS);
  listed = pictured = last = null;
  chosen = "";
  busy = false;
  view();
  controls.press(question);
  freshness.open({
    root: page,
    notice: "findings-notice",
    retry: again,
    zone: () => question.zone,
  });
}

function groups(names) {
  const place = byId("group");
  if (place.dataset.names === names.join("\n")) return;
  place.dataset.names = names.join("\n");
  place.replaceChildren(...controls.groups(names, question.group));
}

function refresh() {
  if (document.hidden) timer = setTimeout(refresh, REFRESH_MS);
  else again();
}

register("findings", {
  listed: (answer) => {
    if (!answer || !document.getElementById("findings")) return noUpdate();
    if (page !== document.getElementById("findings")) opened();
    if (answer.request_id && answer.request_id !== question.request_id) return noUpdate(); // of an earlier request
    clearTimeout(timer);
    if (answer.error) {
      page.dataset.state = listed ? "ready" : "failed";
      freshness.failed(answer.error);
      return noUpdate();
    }
    listed = answer;
    page.dataset.state = listed.order.length ? "ready" : "empty";
    freshness.received();
    groups(answer.groups);
    settle();
    timer = setTimeout(refresh, REFRESH_MS);
    return noUpdate();
  },
  pictured: (answer) => {
    if (!answer || !isOpen() || answer.finding !== chosen) return noUpdate();
    byId("detail").dataset.state = "ready";
    if (answer.error) {
      toast(answer.error);
      return noUpdate();
    }
    pictured = answer;
    dressed();
    return noUpdate();
  },
  done: (answer) => {
    if (!answer || !isOpen()) return noUpdate();
    busy = false;
    if (answer.error) {
      toast(answer.error);
      return noUpdate();
    }
    const dismissed = answer.do === "dismiss";
    last = dismissed ? { finding: answer.finding } : null;
    toast(answer.words, dismissed ? undo : null);
    if (dismissed && listed) {
      const at = listed.order.indexOf(answer.finding);
      chosen = listed.order[at + 1] || listed.order[at - 1] || "";
    } else chosen = answer.finding;
    request({ finding: null }, { remember: "replace" });
    if (chosen) detail();
    return noUpdate();
  },
});
