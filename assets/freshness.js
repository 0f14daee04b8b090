/* How fresh the open page is: one state, one badge and one notice, the same on every page.

   A page reports its requests: requested, received, failed. Every request of the browser shows
   whether the server responds, among them the session check every 3 s (assets/session.js): a
   stopped server is noticed within seconds, not at the next refresh.

   States: loading, live, still (not current), waiting (a change by the reader has had no reply
   for 1 s), stale. The page's <main> has the state as data-freshness, by which the stylesheets dim.
   */
import { ago } from "./ago.js";

const LATE_MS = 1000;
const STALE_MS = 45000;
const PATIENCE_MS = 20000; // then the request counts as lost
const RETRY_MS = [3000, 6000, 12000, 24000];
const JITTER = 0.2;
const DAY_MS = 86400000;
const UNREACHABLE = "Can’t reach the server.";

let page = null; // {root, notice, retry, isNow, polls, zone, remark}
let updatedMs = 0; // when the last good reply arrived
let askedMs = 0; // of the current request, 0 without one
let isUnmet = false; // the reader changed something that isn't shown yet
let trouble = "";
let failures = 0;
let isReachable = true;
let retryTimer = 0;
let patienceTimer = 0;
let lateTimer = 0;

const isOpen = () => page?.root.isConnected;

/* Registers a new page. `root`: its element. `notice`: the id of its notice. `retry`: sends the
   request again. `isNow`: whether the shown data reaches up to now. `polls`: false for a page that
   requests only when the reader acts. `zone`: of its times. `remark`: a failure of one part, shown
   while the page as a whole is fresh. */
function open(described) {
  page = { isNow: () => true, polls: true, zone: () => null, remark: () => "", ...described };
  updatedMs = askedMs = failures = 0;
  isUnmet = false;
  trouble = "";
  [retryTimer, patienceTimer, lateTimer].forEach(clearTimeout);
  update();
}

/* `changed`: the reader wants another view than the shown one. */
function requested({ changed = false } = {}) {
  clearTimeout(retryTimer);
  clearTimeout(patienceTimer);
  if (changed && updatedMs) isUnmet = true;
  if (changed || !askedMs) askedMs = Date.now();
  patienceTimer = setTimeout(() => !document.hidden && failed(UNREACHABLE), PATIENCE_MS);
  clearTimeout(lateTimer);
  lateTimer = setTimeout(update, Math.max(0, askedMs + LATE_MS - Date.now()));
}

function received() {
  clearTimeout(patienceTimer);
  clearTimeout(retryTimer);
  updatedMs = Date.now();
  askedMs = failures = 0;
  isUnmet = false;
  isReachable = true;
  trouble = "";
  update();
}

function failed(why) {
  clearTimeout(patienceTimer);
  clearTimeout(retryTimer);
  askedMs = 0;
  trouble = why;
  update();
  const pause = RETRY_MS[Math.min(failures, RETRY_MS.length - 1)];
  failures += 1;
  retryTimer = setTimeout(retry, pause * (1 - JITTER + 2 * JITTER * Math.random()));
}

function retry() {
  if (isOpen() && !document.hidden) page.retry();
}

/* Every request shows whether the server responds. */
function reached(ok) {
  const was = isReachable;
  isReachable = ok;
  if (!isOpen() || document.hidden) return;
  if (!ok && (was || !trouble)) failed(UNREACHABLE);
  else if (ok && !was && trouble) retry();
}

/* --- Texts --- */

const isOld = () => page.polls && updatedMs > 0 && Date.now() - updatedMs > STALE_MS;

function state() {
  if (trouble || isOld()) return "stale";
  if (!updatedMs) return "loading";
  if (isUnmet && askedMs && Date.now() - askedMs >= LATE_MS) return "waiting";
  return page.polls && page.isNow() ? "live" : "still";
}

/* "14:03 MST"; with the date if it is another day. */
function time(ms) {
  const day =
    Date.now() - ms > DAY_MS / 2 ? { weekday: "short", day: "numeric", month: "short" } : {};
  const form = {
    ...day,
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
    timeZoneName: "short",
  };
  return new Intl.DateTimeFormat("en", { ...form, timeZone: page.zone() || undefined }).format(ms);
}

function badge(now) {
  if (!updatedMs) return now === "stale" ? "No response" : "Loading";
  const age = ago(updatedMs);
  return (
    { stale: `Stale · ${age}`, live: `Live · ${age}`, waiting: "Waiting for the server" }[now] ||
    `Updated ${age}`
  );
}

function noticeWords(now) {
  if (now !== "stale") return page.remark() || "";
  const view = isUnmet ? "Showing the previous view, with data from" : "Showing data from";
  const shown = updatedMs ? ` ${view} ${time(updatedMs)}.` : "";
  return `${trouble || "No new data from the server."}${shown} Retrying…`;
}

function update() {
  if (!isOpen()) return;
  const now = state();
  const main = page.root.closest("main") || page.root;
  if (main.dataset.freshness !== now) main.dataset.freshness = now;
  main.dataset.empty = String(!updatedMs);
  const live = document.querySelector(".live");
  if (live) {
    live.dataset.state = now;
    if (live.textContent !== badge(now)) live.textContent = badge(now);
    live.title = updatedMs ? time(updatedMs) : "";
  }
  notice(noticeWords(now), now === "stale");
  late(now === "waiting" ? "Waiting for the server. Showing the previous view." : "");
}

function notice(words, canRetry) {
  const box = document.getElementById(page.notice);
  if (!box || (box.dataset.words || "") === words) return;
  box.dataset.words = words;
  box.hidden = !words;
  const message = document.createElement("span");
  message.textContent = words;
  const again = document.createElement("button");
  Object.assign(again, { type: "button", className: "button", textContent: "Try now" });
  again.addEventListener("click", retry);
  box.replaceChildren(...(words ? [message] : []), ...(canRetry ? [again] : []));
}

/* Lies over the page, so that a passing delay doesn't push the page down. */
function late(words) {
  let box = document.getElementById("freshness-late");
  if (!box && !words) return;
  if (!box) {
    box = document.createElement("div");
    Object.assign(box, { id: "freshness-late", className: "freshness-late" });
    box.setAttribute("role", "status");
    document.body.append(box);
  }
  if (box.textContent !== words) box.textContent = words;
}

setInterval(() => {
  if (!document.hidden) update();
}, 1000);

document.addEventListener("visibilitychange", () => {
  if (document.hidden) return;
  update();
  if (isOpen() && page.polls) page.retry();
});

export { failed, open, reached, received, requested, update };
