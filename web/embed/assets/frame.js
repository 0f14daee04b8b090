/* A frame on another site. Runs before its other scripts.

   A token gives access. It comes in the address' fragment (#t=…), which no server sees, or by
   postMessage from the page around the frame. It stays in this script's memory and is sent as a
   bearer token with requests for data. No cookie, no storage.

   The page around it: {type: "weir:token", token} to the frame gives it a token; {type:
   "weir:renew", embed} from the frame requests one, before the present one ends and after it was
   refused. */
import { ago } from "../../../assets/ago.js";
import { register, setProps } from "../../../assets/dash.js";

const CHECK_MS = 3000; // with the service's own 5 s, a revoked embed stops within 10 s
const RENEWAL_MS = 3000; // the time that the page around has before a message appears
const ASK_AGAIN_MS = 15000;
const FINAL = /^embed-/; // the embed itself has ended: no other token helps
const LEAD_MS = 60000; // before a token ends, or a fifth of its lifetime if that is less
const LONGEST_TIMER_MS = 86400000;
const NO_TOKEN =
  "This view needs a token: its address must end in #t=…, or the page around it must send one.";
const NOT_VALID = "This view’s token isn’t valid.";
const NO_ANSWER = "The service doesn’t respond.";
const SPREAD_MS = 2000; // so that clients who were told to wait don't all return at once

const root = document.documentElement;
const embed = root.dataset.embed;
const place = window.location.pathname.replace(/\/$/, ""); // …/embed/<id>
const meta = (name) => document.querySelector(`meta[name="${name}"]`).content;
const allowed = new Set([
  window.location.origin,
  ...meta("embed-origins").split(" ").filter(Boolean),
]);
const isFramed = window.parent !== window;

let token = "";
let ended = ""; // why requests have stopped, until another token comes
let trouble = ""; // why the last request failed; it is repeated
let restUntilMs = 0; // the server's requested pause; 0 once it responds again
let updatedMs = 0;
let askedParentMs = 0;
let renewTimer = 0;
let ready = false; // Dash has built the page
const waiting = new Set(); // callbacks that wait for a token

/* --- The token --- */

/* Removes it from the address before anything can read it there. */
function take() {
  const passed = new URLSearchParams(window.location.hash.slice(1)).get("t");
  if (!window.location.hash) return;
  window.history.replaceState(null, "", window.location.pathname + window.location.search);
  if (passed) receive(passed);
}

function receive(another) {
  const first = !token;
  token = another;
  ended = "";
  clearTimeout(renewTimer);
  const left = leftMs(another);
  if (left > 0 && left < LONGEST_TIMER_MS) {
    renewTimer = setTimeout(askParent, left - Math.min(LEAD_MS, left / 5));
  }
  waiting.forEach((go) => go(true));
  waiting.clear();
  if (!first) refresh();
  update();
}

/* The lifetime in the token itself; the server alone decides. */
function leftMs(text) {
  try {
    const claims = JSON.parse(atob(text.split(".")[1].replace(/-/g, "+").replace(/_/g, "/")));
    return claims.exp * 1000 - Date.now() || 0;
  } catch {
    return 0;
  }
}

const tokenWithin = (ms) =>
  new Promise((resolve) => {
    waiting.add(resolve);
    if (ms) setTimeout(() => waiting.delete(resolve) && resolve(false), ms);
  });

/* The message has no secret; still it goes only to pages that may frame this. */
function askParent() {
  if (!isFramed) return;
  askedParentMs = Date.now();
  const nearest = window.location.ancestorOrigins?.[0];
  const targets = nearest ? [nearest].filter((origin) => allowed.has(origin)) : [...allowed];
  targets.forEach((origin) => window.parent.postMessage({ type: "weir:renew", embed }, origin));
}

window.addEventListener("message", ({ source, origin, data }) => {
  if (!isFramed || source !== window.parent || !allowed.has(origin)) return;
  if (data && data.type === "weir:token" && typeof data.token === "string") receive(data.token);
});

window.addEventListener("hashchange", take);

/* --- Requests --- */

const fetched = window.fetch.bind(window);
const nothing = () => new Response(null, { status: 204 }); // Dash leaves everything unchanged

const send = (resource, options) =>
  fetched(resource, {
    ...options,
    credentials: "omit",
    headers: { "Content-Type": "application/json", Authorization: `Bearer ${token}` },
  });

async function fetchWithToken(resource, options) {
  if (!token || ended) return nothing();
  const used = token;
  try {
    const answer = await send(resource, options);
    if (answer.ok) return succeeded(answer);
    const problem = await answer.json().catch(() => ({}));
    if (answer.status === 429) restUntilMs = Date.now() + restMs(answer);
    if (answer.status !== 401) return failed(problem.detail);
    if (FINAL.test(problem.reason)) return refused(problem);
    if (token === used) askParent();
    if (token !== used || (await tokenWithin(isFramed ? RENEWAL_MS : 1)))
      return fetchWithToken(resource, options);
    return refused(problem);
  } catch {
    return failed();
  }
}

const restMs = (answer) =>
  (Number(answer.headers.get("Retry-After")) || 1) * 1000 + Math.random() * SPREAD_MS;

/* A valid token doesn't end a pause; only shown data does. */
function succeeded(answer) {
  if (answer.status === 200) restUntilMs = 0;
  if (!restUntilMs) trouble = "";
  if (answer.status === 200) updatedMs = Date.now();
  update();
  return answer;
}

function failed(why) {
  trouble = why || NO_ANSWER;
  update();
  return nothing();
}

function refused({ reason, detail }) {
  ended = (reason && detail) || NOT_VALID;
  update();
  return nothing();
}

window.fetch = (resource, options) => {
  const url = new URL(resource instanceof Request ? resource.url : resource, window.location.href);
  const guarded = url.pathname === `${place}/_dash-update-component`;
  if (guarded && Date.now() < restUntilMs) return Promise.resolve(nothing());
  return guarded ? fetchWithToken(resource, options) : fetched(resource, options);
};

/* Whether the token is still valid, when no data is due. */
async function check() {
  if (document.hidden) return;
  if (token && !ended) {
    const before = trouble;
    const answer = await fetchWithToken(`${place}/standing`, { cache: "no-store" });
    const over = restUntilMs ? Date.now() >= restUntilMs : !trouble;
    if (before && over && !ended && answer.status === 204) refresh();
  } else if (Date.now() - askedParentMs >= (token ? ASK_AGAIN_MS : CHECK_MS)) {
    askParent();
  }
}

async function keepChecking() {
  await check();
  setTimeout(keepChecking, CHECK_MS);
}

/* --- The view --- */

const view = () => document.getElementById("embed-view");
const isBare = () => {
  const shown = view()?.firstElementChild;
  return !shown || shown.dataset.again === "true";
};

/* The view refreshes as when it becomes visible; one that never arrived is requested. */
function refresh() {
  if (!ready) return;
  if (!isBare()) document.dispatchEvent(new Event("visibilitychange"));
  else setProps("embed-opened", { data: Date.now() });
}

function words() {
  const why = !token ? NO_TOKEN : ended || trouble;
  if (!why) return "";
  const age = updatedMs && !isBare() ? ` Showing data from ${ago(updatedMs)}.` : "";
  return why + age;
}

function update() {
  const main = document.getElementById("embed");
  if (!main || !ready) return;
  const notice = document.getElementById("embed-notice");
  const text = words();
  if (notice.textContent !== text) notice.textContent = text;
  notice.hidden = !text;
  main.dataset.state =
    !token || ended ? "ended" : trouble ? "trouble" : isBare() ? "loading" : "shown";
  main.dataset.bare = String(isBare());
}

setInterval(() => {
  if (!document.hidden) update();
}, 1000);
setInterval(() => {
  if (!document.hidden && token && !ended && isBare()) refresh();
}, ASK_AGAIN_MS);

register("embed", {
  /* The page is built: its view is requested as soon as there is a token. */
  open: async () => {
    ready = true;
    if (!token) askParent();
    setTimeout(update, token ? 0 : RENEWAL_MS);
    setTimeout(keepChecking, CHECK_MS);
    return token ? Date.now() : tokenWithin(0).then(() => Date.now());
  },
});

/* --- For the dashboard's scripts --- */

const prefersDark = window.matchMedia("(prefers-color-scheme: dark)");
const announce = () => window.dispatchEvent(new CustomEvent("weir:theme", { detail: theme() }));
const theme = () => root.dataset.theme || (prefersDark.matches ? "dark" : "light");
window.weir = { theme };
prefersDark.addEventListener("change", () => {
  if (!root.dataset.theme) announce();
});
document.addEventListener("change", ({ target }) => {
  if (target.id !== "embed-theme") return;
  if (target.value) root.dataset.theme = target.value;
  else delete root.dataset.theme;
  announce();
});

/* Dash sets the address of plotly.js itself; this sets the smaller bundle. */
const bundle = meta("plotly-script");
Object.defineProperty(window, "_dashPlotlyJSURL", { get: () => bundle, set: () => {} });

/* A viewer's changes last as long as the frame: "back" belongs to the host. */
window.history.pushState = () => {};

take();
