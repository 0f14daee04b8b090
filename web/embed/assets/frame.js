/* A frame on somebody else's page. Runs before anything else of it.

   Who may look is said by a token. It comes in the address' fragment (#t=…), which no server sees, or
   by postMessage from the page around the frame; it is kept in this script's memory alone and sent as
   a bearer with the questions that tell data. No cookie, no storage.

   The page around: {type: "weir:token", token} to the frame gives it a token, {type: "weir:renew",
   embed} from the frame asks for one: before the one at hand ends, and when it was refused. */
import { ago } from "../../../assets/ago.js";
import { register, setProps } from "../../../assets/dash.js";

const CHECK_MS = 3000; // with the service's own 5 s, a revoked embed stops within 10 s
const RENEWAL_MS = 3000; // so long may the page around take before the reader is told
const ASK_AGAIN_MS = 15000;
const FINAL = /^embed-/; // the embed itself has ended: no other token helps
const LEAD_MS = 60000; // before a token ends, or a fifth of its time where that is less
const LONGEST_TIMER_MS = 86400000;
const NO_TOKEN =
  "This view needs a token: its address must end in #t=…, or the page around it must send one.";
const NOT_VALID = "This view’s token isn’t valid.";
const NO_ANSWER = "The service doesn’t respond.";
const SPREAD_MS = 2000; // whom the server has asked to wait don't all come back at once

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
let ended = ""; // why nothing is asked any more, until another token comes
let trouble = ""; // why the last question wasn't answered; it is asked again
let restUntilMs = 0; // the server has asked for a pause; 0 once it answers again
let updatedMs = 0;
let askedParentMs = 0;
let renewTimer = 0;
let ready = false; // Dash has laid the page out
const waiting = new Set(); // who goes on as soon as there is a token

/* --- The token --- */

/* Out of the address before anything could read it there. */
function take() {
  const found = new URLSearchParams(window.location.hash.slice(1)).get("t");
  if (!window.location.hash) return;
  window.history.replaceState(null, "", window.location.pathname + window.location.search);
  if (found) receive(found);
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
  tell();
}

/* How long the token says that it is good for; the server alone decides. */
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

/* There is nothing secret in it; still only who may frame this is asked. */
function askParent() {
  if (!isFramed) return;
  askedParentMs = Date.now();
  const nearest = window.location.ancestorOrigins?.[0];
  const asked = nearest ? [nearest].filter((origin) => allowed.has(origin)) : [...allowed];
  asked.forEach((origin) => window.parent.postMessage({ type: "weir:renew", embed }, origin));
}

window.addEventListener("message", ({ source, origin, data }) => {
  if (!isFramed || source !== window.parent || !allowed.has(origin)) return;
  if (data && data.type === "weir:token" && typeof data.token === "string") receive(data.token);
});

window.addEventListener("hashchange", take);

/* --- Asking --- */

const fetched = window.fetch.bind(window);
const nothing = () => new Response(null, { status: 204 }); // Dash leaves everything as it is

const send = (resource, options) =>
  fetched(resource, {
    ...options,
    credentials: "omit",
    headers: { "Content-Type": "application/json", Authorization: `Bearer ${token}` },
  });

async function ask(resource, options) {
  if (!token || ended) return nothing();
  const used = token;
  try {
    const answer = await send(resource, options);
    if (answer.ok) return answered(answer);
    const told = await answer.json().catch(() => ({}));
    if (answer.status === 429) restUntilMs = Date.now() + restMs(answer);
    if (answer.status !== 401) return failed(told.detail);
    if (FINAL.test(told.reason)) return refused(told);
    if (token === used) askParent();
    if (token !== used || (await tokenWithin(isFramed ? RENEWAL_MS : 1)))
      return ask(resource, options);
    return refused(told);
  } catch {
    return failed();
  }
}

const restMs = (answer) =>
  (Number(answer.headers.get("Retry-After")) || 1) * 1000 + Math.random() * SPREAD_MS;

/* That the token still holds doesn't end a pause: only what is shown does. */
function answered(answer) {
  if (answer.status === 200) restUntilMs = 0;
  if (!restUntilMs) trouble = "";
  if (answer.status === 200) updatedMs = Date.now();
  tell();
  return answer;
}

function failed(why) {
  trouble = why || NO_ANSWER;
  tell();
  return nothing();
}

function refused({ reason, detail }) {
  ended = (reason && detail) || NOT_VALID;
  tell();
  return nothing();
}

window.fetch = (resource, options) => {
  const url = new URL(resource instanceof Request ? resource.url : resource, window.location.href);
  const guarded = url.pathname === `${place}/_dash-update-component`;
  if (guarded && Date.now() < restUntilMs) return Promise.resolve(nothing());
  return guarded ? ask(resource, options) : fetched(resource, options);
};

/* Whether the token still holds, though nothing new was asked for. */
async function check() {
  if (document.hidden) return;
  if (token && !ended) {
    const before = trouble;
    const answer = await ask(`${place}/standing`, { cache: "no-store" });
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

/* --- What is shown --- */

const view = () => document.getElementById("embed-view");
const isBare = () => {
  const shown = view()?.firstElementChild;
  return !shown || shown.dataset.again === "true";
};

/* The view asks as it does when it comes into sight; one that never came is asked for. */
function refresh() {
  if (!ready) return;
  if (!isBare()) document.dispatchEvent(new Event("visibilitychange"));
  else setProps("embed-asked", { data: Date.now() });
}

function words() {
  const why = !token ? NO_TOKEN : ended || trouble;
  if (!why) return "";
  const age = updatedMs && !isBare() ? ` Showing data from ${ago(updatedMs)}.` : "";
  return why + age;
}

function tell() {
  const main = document.getElementById("embed");
  if (!main || !ready) return;
  const said = document.getElementById("embed-said");
  const text = words();
  if (said.textContent !== text) said.textContent = text;
  said.hidden = !text;
  main.dataset.state =
    !token || ended ? "ended" : trouble ? "trouble" : isBare() ? "loading" : "shown";
  main.dataset.bare = String(isBare());
}

setInterval(() => {
  if (!document.hidden) tell();
}, 1000);
setInterval(() => {
  if (!document.hidden && token && !ended && isBare()) refresh();
}, ASK_AGAIN_MS);

register("embed", {
  /* The page is laid out: its view is asked for as soon as there is a token. */
  open: async () => {
    ready = true;
    if (!token) askParent();
    setTimeout(tell, token ? 0 : RENEWAL_MS);
    setTimeout(keepChecking, CHECK_MS);
    return token ? Date.now() : tokenWithin(0).then(() => Date.now());
  },
});

/* --- What the dashboard's scripts expect of a page --- */

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

/* Dash sets the address of plotly.js itself; ours is the smaller bundle. */
const bundle = meta("plotly-script");
Object.defineProperty(window, "_dashPlotlyJSURL", { get: () => bundle, set: () => {} });

/* What a viewer has changed lasts as long as the frame: its host's "back" isn't ours. */
window.history.pushState = () => {};

take();
