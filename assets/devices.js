/* The device list: the grid's renderers, its keyboard, and the texts and controls around it, equal
   to the address.

   The grid requests rows, with the reader's choices as `context`. The server decides every text. */
import * as controls from "./controls.js";
import { register, setProps } from "./dash.js";
import { element } from "./element.js";
import * as freshness from "./freshness.js";
import * as grid from "./grid.js";

const { createElement } = window.React;
const GRID = "devices-grid";
const CHOSEN = ["status", "q", "group", "kind", "units", "zone"]; // also in the grid's context
const IN_ADDRESS = [...CHOSEN, "sort", "order", "columns"];
const USUAL = { status: "active", sort: "label", order: "asc" };
const COLUMNS_KEY = "weir-columns";
const SEARCH_MS = 200;
const REFRESH_MS = 15000;
const JITTER = 0.2;
const narrow = window.matchMedia("(max-width: 760px)");

let page = null; // the page's root element, while it is open
let api = null; // its grid's
let request = null; // the current request
let searchTimer = 0;
let refreshTimer = 0;
let restore = null; // the row to return to
let shown = ""; // the list of the shown rows
let remark = ""; // what this server can't do

const byId = (id) => document.getElementById(id);
const isOpen = () => page?.isConnected;

/* --- Cells --- */

const text = (className, words, more) => createElement("span", { className, ...more }, words);

function WeirDevice({ data }) {
  if (!data) return null;
  const link = createElement(
    "a",
    { className: "name", href: data.href, tabIndex: -1, title: data.label },
    data.label,
  );
  return createElement("span", { className: "two-lines" }, link, text("quiet", data.serial));
}

function WeirState({ data }) {
  if (!data) return null;
  const { name, shape, word, seen, seen_at: at } = data.state;
  const open = narrow.matches && data.findings; // no room for their column on a phone
  const mark = text("shape", `${shape} `, { "aria-hidden": "true" });
  const state = createElement(
    "span",
    { "data-state": name, className: "device-state" },
    mark,
    word,
  );
  return createElement(
    "span",
    { className: "two-lines" },
    state,
    open || seen ? text("quiet", open || seen, { title: at }) : null,
  );
}

window.dashAgGridComponentFunctions = Object.assign(window.dashAgGridComponentFunctions || {}, {
  WeirDevice,
  WeirState,
});

/* Tab leaves the rows; arrows move among them. */
window.dashAgGridFunctions = Object.assign(window.dashAgGridFunctions || {}, {
  weirLeaveGrid: () => false,
});

/* --- The grid --- */

/* A phone shows the columns that fit, whatever is chosen. */
function fit() {
  if (!api || api.isDestroyed()) return;
  const chosenColumns = new Set(columns());
  const there = { true: [], false: [] };
  for (const { field, context } of api.getColumnDefs() || []) {
    const visible = narrow.matches ? context.narrow : context.fixed || chosenColumns.has(field);
    there[visible].push(field);
  }
  api.setColumnsVisible(there.true, true);
  api.setColumnsVisible(there.false, false);
}

function begin(root, ready) {
  if (root !== page || !isOpen()) return;
  api = ready;
  const storedColumns = !fromAddress().columns && keptColumns();
  if (storedColumns) choose(storedColumns);
  controls.press(fromAddress());
  fit();
  api.addEventListener("sortChanged", sorted);
  api.addEventListener("rowClicked", ({ data, event }) => {
    if (data && !event.target.closest("a") && !String(window.getSelection())) open(data, event);
  });
  api.addEventListener("cellKeyDown", ({ data, event }) => {
    if (data && event.key === "Enter") open(data, event);
  });
  root.querySelector(".ag-root").setAttribute("aria-label", "Devices");
}

const sortedBy = () => {
  const column = api.getColumnState().find(({ sort }) => sort) || {};
  return { sort: column.colId, order: column.sort };
};

function sorted() {
  if (!isOpen()) return;
  const values = { ...chosen(), ...sortedBy(), columns: writtenColumns() };
  if (IN_ADDRESS.some((name) => plain(values, name) !== plain(fromAddress(), name))) {
    writeAddress(values, "push");
    api.ensureIndexVisible(0, "top");
  }
}

/* --- Requests --- */

const chosen = () => (api ? api.getGridOption("context") : fromAddress());

function requestRows(changes, { remember = "push" } = {}) {
  if (!isOpen() || !api) return;
  clearTimeout(searchTimer);
  const context = { ...chosen(), ...changes };
  api.setGridOption("context", context);
  controls.press(context);
  if (remember) writeAddress({ ...context, ...sortedBy(), columns: writtenColumns() }, remember);
  if (api.getDisplayedRowCount() > 0) api.ensureIndexVisible(0, "top");
  api.onFilterChanged(); // the grid drops its rows and requests again
}

/* The grid waits for each request: one whose reply was lost would be its last. */
function again() {
  if (!isOpen() || !api || api.isDestroyed()) return;
  giveUp();
  api.refreshInfiniteCache();
}

function giveUp() {
  const lost = request;
  request = null;
  lost?.failCallback();
}

/* Refreshes the shown rows while the page is visible. */
function refreshLater() {
  clearTimeout(refreshTimer);
  const pauseMs = REFRESH_MS * (1 - JITTER + 2 * JITTER * Math.random());
  const due = () => isOpen() && (document.hidden || request ? refreshLater() : again());
  refreshTimer = setTimeout(due, pauseMs);
}

/* The list of a request, whatever part of its rows. */
const listOf = (query) => JSON.stringify([query.context, query.sortModel]);

/* --- Columns --- */

const choices = () => [...page.querySelectorAll("button[data-column]")];
const isUsual = (choice) => choice.dataset.usual === "true";
const isChosen = (choice) => choice.getAttribute("aria-checked") === "true";
const columns = () =>
  choices()
    .filter(isChosen)
    .map((choice) => choice.dataset.column);

/* As in the address; null for the default columns. */
const writtenColumns = () =>
  choices().every((choice) => isChosen(choice) === isUsual(choice))
    ? null
    : columns().join(",") || "label";

function showColumns(written) {
  const named = written ? new Set(written.split(",")) : null;
  choices().forEach((choice) => {
    const checked = named ? named.has(choice.dataset.column) : isUsual(choice);
    choice.setAttribute("aria-checked", String(checked));
  });
  fit();
}

/* The reader's choice, stored for the next time. */
function keepColumns(written) {
  try {
    if (written) window.localStorage.setItem(COLUMNS_KEY, written);
    else window.localStorage.removeItem(COLUMNS_KEY);
  } catch {
    /* then it lasts as long as the page */
  }
}

function keptColumns() {
  try {
    return window.localStorage.getItem(COLUMNS_KEY);
  } catch {
    return null;
  }
}

function choose(written) {
  showColumns(written);
  keepColumns(writtenColumns());
  writeAddress({ ...chosen(), ...sortedBy(), columns: writtenColumns() }, "replace");
}

function failed(trouble) {
  freshness.failed(trouble);
  refreshLater();
  page.dataset.failed = String(page.dataset.ready !== "true");
  giveUp();
}

/* --- Around the grid --- */

function empty(response) {
  const box = byId("devices-empty");
  box.hidden = !response.empty;
  if (!response.empty) return;
  const all = { type: "button", className: "button", onclick: clear };
  const first = { href: byId("devices").dataset.first, className: "button primary" };
  const deeds = response.filtered ? [element("button", all, "Show all devices")] : [];
  if (!response.filtered && first.href) deeds.push(element("a", first, "Connect your first meter"));
  box.replaceChildren(element("p", {}, response.empty), ...deeds);
}

function clear() {
  setProps("devices-search", { value: "" });
  requestRows({ q: null, group: null, kind: null, status: "all" });
}

function groups(names) {
  const place = byId("devices-group");
  const [select] = place.children;
  const there = select ? [...select.options].map(({ value }) => value).join("\n") : "";
  if (there === (names.length ? ["", ...names].join("\n") : "")) return;
  place.replaceChildren(...controls.groups(names, chosen().group));
}

/* --- The address --- */

const plain = (values, name) =>
  values[name] && values[name] !== USUAL[name] ? values[name] : null;

function writeAddress(values, how) {
  const written = Object.fromEntries(IN_ADDRESS.map((name) => [name, plain(values, name)]));
  controls.writeAddress(written, IN_ADDRESS, how);
}

const fromAddress = () => controls.fromAddress(IN_ADDRESS);

/* Back and forward between views of the list. Registered before Dash's own listener, which would
   build the whole page again. */
window.addEventListener("popstate", (event) => {
  if (!isOpen() || !api || window.location.pathname !== page.dataset.path) return;
  event.stopImmediatePropagation();
  const { sort, order, columns: written, ...context } = fromAddress();
  setProps("devices-search", { value: context.q || "" });
  showColumns(written);
  const now = sortedBy();
  const wanted = { sort: sort || USUAL.sort, order: order || USUAL.order };
  if (now.sort !== wanted.sort || now.order !== wanted.order) {
    const state = [{ colId: wanted.sort, sort: wanted.order }];
    api.applyColumnState({ state, defaultState: { sort: null } });
  }
  requestRows(context, { remember: "" });
});

/* Opens a device without loading the dashboard again, as Dash's own links do. Back returns to the
   row that was left. */
function open(data, event) {
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) {
    window.open(data.href, "_blank", "noopener");
    return;
  }
  const focused = api.getFocusedCell();
  const top = api.getVerticalPixelRange().top;
  window.history.replaceState({ top, row: focused ? focused.rowIndex : null }, "");
  window.history.pushState({}, "", data.href);
  window.dispatchEvent(new CustomEvent("_dashprivate_pushstate"));
  window.scrollTo(0, 0);
}

function comeBack() {
  const { top, row } = restore;
  restore = null;
  const index = Math.min(
    Math.round(top / api.getSizesForCurrentTheme().rowHeight),
    api.getDisplayedRowCount() - 1,
  );
  api.ensureIndexVisible(Math.max(0, index), "top");
  if (Number.isInteger(row) && row < api.getDisplayedRowCount()) api.setFocusedCell(row, "label");
}

/* --- Events --- */

document.addEventListener("click", (event) => {
  if (!isOpen()) return;
  const link = event.target.closest(".grid a.name");
  if (link) {
    const modified = event.metaKey || event.ctrlKey || event.shiftKey || event.altKey;
    if (event.button !== 0 || modified) return;
    event.preventDefault();
    open({ href: link.getAttribute("href") }, event);
    return;
  }
  const choice = event.target.closest("button[data-column]");
  if (choice) {
    choice.setAttribute("aria-checked", String(!isChosen(choice)));
    choose(columns().join(",") || "label");
  } else if (event.target.closest(".column-reset")) {
    choose(null);
  }
});

document.addEventListener("change", (event) => {
  const select = event.target.closest("select[data-set]");
  if (!isOpen() || !select || !api) return;
  const { set: name, default: usual = "" } = select.dataset;
  requestRows({ [name]: select.value === usual ? null : select.value });
});

document.addEventListener("input", (event) => {
  if (!isOpen() || event.target.id !== "devices-search") return;
  clearTimeout(searchTimer);
  const q = event.target.value.trim() || null;
  searchTimer = setTimeout(() => {
    if (q !== (chosen().q || null)) requestRows({ q }, { remember: "replace" });
  }, SEARCH_MS);
});

document.addEventListener("keydown", (event) => {
  if (!isOpen() || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "ArrowDown" && event.target.id === "devices-search" && api) {
    event.preventDefault();
    if (api.getDisplayedRowCount() > 0) api.setFocusedCell(0, "label");
  }
  if (event.key !== "/" || event.target.closest("input, textarea, select")) return;
  event.preventDefault();
  byId("devices-search").focus();
  byId("devices-search").select();
});

narrow.addEventListener("change", () => {
  if (isOpen()) fit();
});

/* --- Replies --- */

/* A new page: the state of an earlier one is dropped. */
function opened(root) {
  page = root;
  page.dataset.path = window.location.pathname;
  api = null;
  request = null;
  shown = remark = "";
  const { top, row } = window.history.state || {};
  restore = Number.isFinite(top) ? { top, row } : null;
  [searchTimer, refreshTimer].forEach(clearTimeout);
  freshness.open({
    root,
    notice: "devices-notice",
    retry: again,
    zone: () => chosen().zone,
    remark: () => remark,
  });
  grid.ready(GRID).then(
    (ready) => begin(root, ready),
    () => root === page && freshness.failed("The list’s script can’t be loaded."),
  );
}

register("devices", {
  requested: (rowsRequest) => {
    const root = byId("devices");
    if (root !== page) opened(root);
    request = rowsRequest || null;
    if (request) freshness.requested({ changed: listOf(request) !== shown });
  },
  received: (response) => {
    if (!response || !isOpen()) return;
    if (response.error) return failed(response.error);
    if (request) shown = listOf(request);
    request = null;
    remark = response.remark;
    freshness.received();
    groups(response.groups);
    page.dataset.failed = "false";
    empty(response);
    const count = byId("devices-found");
    if (count.textContent !== response.count_text) count.textContent = response.count_text;
    page.dataset.ready = "true";
    if (restore) setTimeout(comeBack, 0);
    refreshLater();
  },
});
