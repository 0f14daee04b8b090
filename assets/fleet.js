/* The wall's page. The server decides every text and shape (components/fleet/wall.py); this script
   places them, keeps them equal to the address and refreshes them.

   Requests go into one Store, the question: {window, q, status, group, finding, sort, page,
   zone, units, held, drawn, request_id}; the reply comes as one Store, the board. No tile moves while
   the reader uses the wall. */
import * as controls from "./controls.js";
import { noUpdate, register, setProps } from "./dash.js";
import * as fleetAround from "./fleet-around.js";
import * as fleetTiles from "./fleet-tiles.js";
import * as freshness from "./freshness.js";
import * as wallMode from "./wall-mode.js";

const IN_ADDRESS = ["window", "q", "status", "group", "finding", "sort", "page", "zone", "units"];
const JITTER = 0.2;
const SEARCH_MS = 150;
const TOUCH_MS = 20000; // a finger that was on the wall will probably return

let page = null; // the page's root element, while it is open
let question = {};
let board = null; // the last good answer
let shownView = "";
let touchedMs = 0;
let timer = 0;
let searchTimer = 0;

const byId = (id) => document.getElementById(id);
const isOpen = () => page?.isConnected;

/* --- Requests --- */

function engaged() {
  if (wallMode.isOn()) return false;
  const wall = byId("fleet-wall");
  return (
    wall.matches(":hover") ||
    wall.contains(document.activeElement) ||
    Date.now() - touchedMs < TOUCH_MS
  );
}

const viewOf = (query) => JSON.stringify(IN_ADDRESS.map((name) => query[name] || null));

function request(changes = {}, { remember = "push", hold = false } = {}) {
  clearTimeout(timer);
  clearTimeout(searchTimer);
  question = { ...question, ...changes, request_id: Date.now() };
  const keeps = hold && board !== null && viewOf(question) === shownView;
  question.held = keeps ? board.tiles.map((tile) => tile?.id) : [];
  question.drawn = fleetTiles.marks();
  controls.press(question);
  setProps("fleet-question", { data: question });
  if (remember) controls.writeAddress(question, IN_ADDRESS, remember);
  freshness.requested({ changed: viewOf(question) !== shownView });
}

function refresh() {
  if (!isOpen()) return;
  if (document.hidden) return; // until it is visible again
  request({}, { remember: "", hold: engaged() });
}

function next(afterMs) {
  clearTimeout(timer);
  timer = setTimeout(refresh, afterMs * (1 - JITTER + 2 * JITTER * Math.random()));
}

function set(field, value) {
  const isDefault = (element) => element?.dataset.default;
  const control = document.querySelector(`select[data-set="${field}"]`);
  const usual = isDefault(control) === value;
  const button = document.querySelector(`button[data-set="${field}"][data-value="${value}"]`);
  const plain = usual || (button && button.dataset.default === "true");
  request({ [field]: plain ? null : value || null, page: null });
}

function toggle(status) {
  const chosen = new Set((question.status || "").split(",").filter(Boolean));
  if (!chosen.delete(status)) chosen.add(status);
  request({ status: [...chosen].join(",") || null, page: null });
}

/* A chip or a number of the KPIs; a second press removes its filter. */
function filter(field, value) {
  if (field === "status") toggle(value);
  else request({ [field]: question[field] === value ? null : value, page: null });
}

function clear() {
  setProps("fleet-search", { value: "" });
  request({ q: null, status: null, group: null, finding: null, page: null });
}

/* --- The address --- */

/* Back and forward between views of the wall. Registered before Dash's own listener, which would
   build the whole page again. */
window.addEventListener("popstate", (event) => {
  if (!isOpen() || window.location.pathname !== page.dataset.path) return;
  event.stopImmediatePropagation();
  const view = controls.fromAddress(IN_ADDRESS);
  setProps("fleet-search", { value: view.q || "" });
  request(view, { remember: "" });
});

/* --- Events --- */

const plainClick = (event) =>
  event.button === 0 && !(event.metaKey || event.ctrlKey || event.shiftKey || event.altKey);

/* Opens another page of the dashboard without loading it again, as Dash's own links do. */
function go(event, link) {
  if (!plainClick(event)) return;
  event.preventDefault();
  window.history.pushState({}, "", link.getAttribute("href"));
  window.dispatchEvent(new CustomEvent("_dashprivate_pushstate"));
  window.scrollTo(0, 0);
}

document.addEventListener("click", (event) => {
  if (!isOpen()) return;
  const link = event.target.closest("a.tile");
  if (link) return go(event, link);
  const button = event.target.closest("button");
  if (!button || !page.contains(button)) return;
  const { set: field, value, filter: filtered, page: number, do: deed } = button.dataset;
  if (field) set(field, value);
  else if (filtered) filter(filtered, value);
  else if (number) {
    request({ page: Number(number) > 1 ? number : null });
    window.scrollTo(0, 0);
  } else if (deed === "clear") clear();
  else if (deed === "wall") wallMode.enter();
  else if (deed === "filters") {
    const open = button.getAttribute("aria-expanded") !== "true";
    button.setAttribute("aria-expanded", String(open));
  }
});

document.addEventListener("change", (event) => {
  const select = event.target.closest("select[data-set]");
  if (isOpen() && select) set(select.dataset.set, select.value);
});

document.addEventListener("input", (event) => {
  if (!isOpen() || event.target.id !== "fleet-search") return;
  clearTimeout(searchTimer);
  const q = event.target.value.trim() || null;
  searchTimer = setTimeout(() => {
    if (q !== (question.q || null)) request({ q, page: null }, { remember: "replace" });
  }, SEARCH_MS);
});

document.addEventListener("keydown", (event) => {
  if (!isOpen() || event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest("input, textarea, select, [contenteditable]")) return;
  event.preventDefault();
  byId("fleet-search").focus();
  byId("fleet-search").select();
});

document.addEventListener(
  "touchmove",
  (event) => {
    if (isOpen() && event.target.closest("#fleet-wall")) touchedMs = Date.now();
  },
  { passive: true },
);

/* On a phone one button replaces all controls; its text is the window and the number of filters. */
function filters() {
  const window_ = document.querySelector('button[data-set="window"][aria-pressed="true"]');
  const count =
    ["q", "group", "finding"].filter((name) => question[name]).length +
    (question.status || "").split(",").filter(Boolean).length;
  const words = `Filters · ${window_ ? window_.textContent : ""}${count ? ` · ${count} set` : ""}`;
  if (byId("fleet-filters").textContent !== words) byId("fleet-filters").textContent = words;
}

/* --- Replies --- */

/* A new page: the state of an earlier one is dropped. */
function open(root) {
  page = root;
  page.dataset.path = window.location.pathname;
  question = controls.fromAddress(IN_ADDRESS);
  board = null;
  shownView = "";
  fleetTiles.clear();
  fleetAround.clear();
  controls.press(question);
  wallMode.open({ request, question: () => question, isOpen });
  freshness.open({
    root,
    notice: "fleet-notice",
    retry: refresh,
    zone: () => question.zone,
    remark: () => board?.remark,
  });
}

function drawBoard(response) {
  performance.mark("fleet:data");
  board = response;
  Object.assign(question, response.view); // as the server understood it
  shownView = viewOf(response.view);
  fleetTiles.draw(byId("fleet-wall"), wallMode.tiles(response), shownView);
  filters();
  fleetAround.draw(response);
  const announcement = byId("fleet-announcement");
  if (announcement.textContent !== response.count_text)
    announcement.textContent = response.count_text;
  page.dataset.ready = "true";
  performance.measure("fleet:draw", "fleet:data");
  requestAnimationFrame(() =>
    setTimeout(() => performance.measure("fleet:paint", "fleet:data"), 0),
  );
}

function settle(response) {
  if (response.error) return freshness.failed(response.error);
  drawBoard(response);
  freshness.received();
  next(response.again_ms);
}

register("fleet", {
  draw: (response) => {
    const root = byId("fleet");
    if (root !== page) open(root);
    if (response) settle(response);
    return noUpdate();
  },
});
