/* The fleet page on a wall display (/?wall=1): no navigation, larger type, and one page after the
   other, 20 s each: the whole fleet first, then each group, or the further pages if there are no
   groups. Devices with a problem come first and stay on every page. The pointer or Esc shows the
   exit. */

import { nextStep, troublesFirst, wallSteps } from "./wall-steps.js";

const PAGE_MS = 20000;
const WAY_BACK_MS = 4000;
const TROUBLES = new Set(["silent", "degraded", "unknown"]);
const GRAVE = new Set(["critical", "warning"]);
const MOST_TROUBLES = 20; // so that a page has room for others

let fleet = null; // {request, question, isOpen}
let own = {}; // the reader's filters: the rotation stays within them
let troubles = [];
let steps = [];
let at = 0;
let turnedMs = 0;
let wayBackTimer = 0;

const byId = (id) => document.getElementById(id);
const isAsked = () => new URLSearchParams(window.location.search).get("wall") === "1";
const isOn = () =>
  Boolean(fleet) && fleet.isOpen() && document.documentElement.dataset.wall === "true";

function show(on) {
  document.documentElement.dataset.wall = String(on);
  if (on) turnedMs = Date.now();
}

function open(page) {
  fleet = page;
  const { group, q, status, finding } = page.question();
  own = {
    group: group || null,
    q: q || null,
    status: status || null,
    finding: finding || null,
  };
  troubles = [];
  steps = [];
  at = 0;
  show(isAsked());
}

function address(on) {
  const url = new URL(window.location.href);
  if (on) url.searchParams.set("wall", "1");
  else url.searchParams.delete("wall");
  window.history.replaceState(window.history.state, "", url);
}

function enter() {
  address(true);
  open(fleet);
  const full = document.documentElement.requestFullscreen;
  if (full) full.call(document.documentElement).catch(() => {});
  fleet.request({ page: null }, { remember: "" });
}

function leave() {
  address(false);
  show(false);
  if (document.fullscreenElement) document.exitFullscreen();
  fleet.request({ ...own, page: null }, { remember: "" });
}

/* The tiles of a reply, with problem devices of any page first. Also updates the list of pages. */
function tiles(response) {
  if (!isOn()) return response.tiles;
  const isWhole = (response.view.group || null) === own.group;
  const bad = response.tiles.filter(
    (tile) => tile && (TROUBLES.has(tile.state) || GRAVE.has(tile.finding?.severity)),
  );
  if (isWhole && response.pages.page === 1) {
    troubles = bad.slice(0, MOST_TROUBLES);
    steps = wallSteps(own.group, response.groups, response.pages.last);
  }
  const merged = troublesFirst(troubles, response.tiles);
  troubles = merged.troubles;
  return merged.tiles;
}

function turn() {
  turnedMs = Date.now();
  if (steps.length < 2) return;
  at = nextStep(at, steps.length);
  fleet.request({ ...steps[at] }, { remember: "" });
}

function tick() {
  if (!isOn()) {
    // Other pages have no wall.
    if (document.documentElement.dataset.wall === "true" && !fleet?.isOpen()) show(false);
    return;
  }
  const zone = fleet.question().zone || undefined;
  const time = (form) =>
    new Intl.DateTimeFormat("en-GB", { timeZone: zone, ...form }).format(Date.now());
  byId("wall-clock").textContent = time({ hour: "2-digit", minute: "2-digit" });
  const live = document.querySelector(".live");
  const isStale = live.dataset.state === "stale";
  const fresh = isStale ? `▲ Stale since ${live.title || "the start"}` : `● ${live.textContent}`;
  byId("wall-clock-line").textContent =
    `${time({ weekday: "short", day: "numeric", month: "short", timeZoneName: "short" })} · ${fresh}`;
  byId("wall-clock-line").dataset.state = live.dataset.state;
  const left = Math.max(0, Math.ceil((turnedMs + PAGE_MS - Date.now()) / 1000));
  const where = fleet.question().group || "All devices";
  const words = document.querySelector("#fleet-pager > span");
  const pages = words ? ` · ${words.textContent}` : "";
  byId("wall-foot").textContent =
    `${where}${pages}${steps.length > 1 ? ` · next in ${left} s` : ""}`;
  if (!left && !document.hidden) turn();
}

function wayBack() {
  const button = byId("wall-leave");
  button.dataset.shown = "true";
  clearTimeout(wayBackTimer);
  wayBackTimer = setTimeout(() => (button.dataset.shown = "false"), WAY_BACK_MS);
}

document.addEventListener("pointermove", () => isOn() && wayBack());
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || !isOn()) return;
  if (byId("wall-leave").dataset.shown === "true") return leave();
  wayBack();
  byId("wall-leave").focus();
});
document.addEventListener("click", (event) => {
  if (isOn() && event.target.closest("#wall-leave")) leave();
});

setInterval(tick, 500);

export { enter, isOn, open, tiles };
