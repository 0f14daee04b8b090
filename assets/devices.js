/* The list of devices: the grid's renderers, its keyboard, and what stands around it, kept in step
   with the address.

   The grid asks for rows by itself, with what the reader chose in its `context`: {status, q}. The
   server decides every word. */
import * as controls from "./controls.js";
import { register, setProps } from "./dash.js";
import * as freshness from "./freshness.js";
import * as grid from "./grid.js";

const { createElement } = window.React;
const GRID = "devices-grid";
const CHOSEN = ["status", "q"]; // of the address, also in the grid's context
const IN_ADDRESS = [...CHOSEN, "sort", "order"];
const USUAL = { status: "active", sort: "label", order: "asc" };
const SEARCH_MS = 200;
const LOOK_MS = 15000;
const LOOK_AGAIN_MS = 1500; // where not every state was known in time
const MOST_HURRIED = 8; // such looks in a row
const JITTER = 0.2;
const SETTLED_MS = 150; // scrolling has ended: whose state is asked for
const MOST_IN_SIGHT = 50;
const narrow = window.matchMedia("(max-width: 760px)");

let page = null; // the page's root element, while it is open
let api = null; // its grid's
let request = null; // the question under way
let searchTimer = 0;
let lookTimer = 0;
let restore = null; // the row to come back to
let states = {}; // of the devices that were looked at, by id
let hurried = 0;

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
  const known = data.active ? states[data.id] : { name: "off", shape: "○", word: "Inactive" };
  if (!known) return text("quiet", "Active");
  const shape = text("shape", `${known.shape} `, { "aria-hidden": "true" });
  const state = createElement(
    "span",
    { "data-state": known.name, className: "told" },
    shape,
    known.word,
  );
  const seen = known.seen ? text("quiet", known.seen, { title: known.seen_at }) : null;
  return createElement("span", { className: "two-lines" }, state, seen);
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

function fit() {
  if (!api || api.isDestroyed()) return;
  const wide = (api.getColumnDefs() || []).filter(({ context }) => !context.narrow);
  api.setColumnsVisible(
    wide.map(({ field }) => field),
    !narrow.matches,
  );
}

function begin(root, ready) {
  if (root !== page || !isOpen()) return;
  api = ready;
  fit();
  api.addEventListener("sortChanged", sorted);
  api.addEventListener("bodyScrollEnd", () => look(SETTLED_MS));
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
  const said = { ...chosen(), ...sortedBy() };
  if (IN_ADDRESS.some((name) => plain(said, name) !== plain(fromAddress(), name))) {
    writeAddress(said, "push");
    api.ensureIndexVisible(0, "top");
  }
}

/* --- Asking --- */

const chosen = () => (api ? api.getGridOption("context") : fromAddress());

function ask(changes, { remember = "push" } = {}) {
  if (!isOpen() || !api) return;
  clearTimeout(searchTimer);
  const context = { ...chosen(), ...changes };
  api.setGridOption("context", context);
  controls.press(context);
  if (remember) writeAddress({ ...context, ...sortedBy() }, remember);
  if (api.getDisplayedRowCount() > 0) api.ensureIndexVisible(0, "top");
  api.onFilterChanged(); // the grid forgets its rows and asks anew
}

function again() {
  if (isOpen() && api) api.refreshInfiniteCache();
}

function failed(trouble) {
  const failing = request;
  request = null;
  freshness.failed(trouble);
  page.dataset.failed = String(page.dataset.ready !== "true");
  if (failing) failing.failCallback();
}

/* --- Around the grid --- */

function button(label, deed) {
  const made = document.createElement("button");
  made.type = "button";
  made.className = "button";
  made.textContent = label;
  made.addEventListener("click", deed);
  return made;
}

function empty(told) {
  const box = byId("devices-empty");
  box.hidden = !told.empty;
  if (!told.empty) return;
  const words = document.createElement("p");
  words.textContent = told.empty;
  box.replaceChildren(words, ...(told.filtered ? [button("Show all devices", clear)] : []));
}

function clear() {
  setProps("devices-search", { value: "" });
  ask({ q: null, status: "all" });
}

/* --- The devices in sight --- */

function inSight() {
  const first = Math.max(0, api.getFirstDisplayedRowIndex());
  const last = Math.min(api.getLastDisplayedRowIndex(), first + MOST_IN_SIGHT - 1);
  const { top, bottom } = api.getVerticalPixelRange();
  const ids = [];
  for (let index = first; index <= last; index += 1) {
    const node = api.getDisplayedRowAtIndex(index);
    const seen = node && node.rowTop + node.rowHeight > top && node.rowTop < bottom;
    if (seen && node.data?.active) ids.push(node.data.id);
  }
  return ids;
}

function look(afterMs) {
  clearTimeout(lookTimer);
  lookTimer = setTimeout(() => {
    if (!isOpen() || !api || document.hidden) return;
    const ids = inSight();
    if (ids.length > 0) setProps("devices-sight", { data: { ids, asked: Date.now() } });
    lookAgain();
  }, afterMs);
}

function lookAgain() {
  look(LOOK_MS * (1 - JITTER + 2 * JITTER * Math.random()));
}

/* --- The address --- */

const plain = (said, name) => (said[name] && said[name] !== USUAL[name] ? said[name] : null);

function writeAddress(said, how) {
  const told = Object.fromEntries(IN_ADDRESS.map((name) => [name, plain(said, name)]));
  controls.writeAddress(told, IN_ADDRESS, how);
}

const fromAddress = () => controls.fromAddress(IN_ADDRESS);

/* Back and forward between views of the list. Registered before Dash's own listener, which would
     lay the whole page out anew. */
window.addEventListener("popstate", (event) => {
  if (!isOpen() || !api || window.location.pathname !== page.dataset.path) return;
  event.stopImmediatePropagation();
  const { status, q, sort, order } = fromAddress();
  setProps("devices-search", { value: q || "" });
  const now = sortedBy();
  const wanted = { sort: sort || USUAL.sort, order: order || USUAL.order };
  if (now.sort !== wanted.sort || now.order !== wanted.order) {
    const state = [{ colId: wanted.sort, sort: wanted.order }];
    api.applyColumnState({ state, defaultState: { sort: null } });
  }
  ask({ status, q }, { remember: "" });
});

/* To a device without loading the dashboard anew, as Dash's own links do. The way back leads to
     the row that was left. */
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

/* --- What the reader does --- */

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
  const pressed = event.target.closest("button[data-set]");
  if (pressed && page.contains(pressed)) ask({ [pressed.dataset.set]: pressed.dataset.value });
});

document.addEventListener("input", (event) => {
  if (!isOpen() || event.target.id !== "devices-search") return;
  clearTimeout(searchTimer);
  const q = event.target.value.trim() || null;
  searchTimer = setTimeout(() => {
    if (q !== (chosen().q || null)) ask({ q }, { remember: "replace" });
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

document.addEventListener("visibilitychange", () => {
  if (isOpen() && !document.hidden) look(0);
});

narrow.addEventListener("change", () => {
  if (isOpen()) fit();
});

/* --- Answers --- */

/* A page that was just laid out: nothing of an earlier one holds. */
function opened(root) {
  page = root;
  page.dataset.path = window.location.pathname;
  api = null;
  request = null;
  states = {};
  const { top, row } = window.history.state || {};
  restore = Number.isFinite(top) ? { top, row } : null;
  [searchTimer, lookTimer].forEach(clearTimeout);
  freshness.open({ root, notice: "devices-notice", retry: again, polls: false });
  grid.ready(GRID).then(
    (ready) => begin(root, ready),
    () => root === page && freshness.failed("The list’s script can’t be loaded."),
  );
}

register("devices", {
  asking: (asked) => {
    const root = byId("devices");
    if (root !== page) opened(root);
    request = asked || null;
    if (request) freshness.asked({ changed: true });
  },
  answered: (told) => {
    if (!told || !isOpen()) return;
    if (told.error) return failed(told.error);
    request = null;
    freshness.answered();
    page.dataset.failed = "false";
    empty(told);
    const found = byId("devices-found");
    if (found.textContent !== told.found) found.textContent = told.found;
    page.dataset.ready = "true";
    if (restore) setTimeout(comeBack, 0);
    look(SETTLED_MS);
  },
  seen: (told) => {
    if (!told || !isOpen() || !api) return;
    Object.assign(states, told);
    api.refreshCells({ columns: ["state"], force: true });
    const complete = inSight().every((id) => states[id]);
    hurried = complete ? 0 : hurried + 1;
    if (!complete && hurried <= MOST_HURRIED) look(LOOK_AGAIN_MS);
  },
});
