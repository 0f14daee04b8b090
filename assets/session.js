/* The browser's side of a session: an answer that says "signed out" leads to the sign-in page, and
   an open page asks whether its session still stands, once no page of this browser has had an
   answer for a few seconds. Each answer also tells why no reading comes in, where that is known: a
   page that only grows older looks well. */
import { restMs } from "./check-pause.js";
import * as freshness from "./freshness.js";
import { siteRoot } from "./site.js";

const CHECK = `${siteRoot}/session`;
const CHECK_EVERY_MS = 3000; // with the service's own 5 s, a revoked key is out within 10 s
const CHECK_WITHIN_MS = 5000;
const HEADER = "Weir-Sign-In";
const OUTAGE = "Weir-Outage"; // of answers to a session that stands
const HEARD = "weir-heard"; // the last such answer to any page of this browser: {ms, outage}

const fetched = window.fetch.bind(window);
let leaving = false;

function leave(signIn) {
  leaving = true;
  const url = new URL(signIn, window.location.origin);
  url.searchParams.set("next", window.location.pathname + window.location.search);
  window.location.assign(url);
}

const AWAY = new Set([502, 504]); // said by what stands before a server that has gone
const LOST = new Set(["TypeError", "TimeoutError"]);

/* Each request tells the page's freshness whether the server is there. */
async function answerOf(asked) {
  try {
    const answer = await fetched(...asked);
    freshness.reached(!AWAY.has(answer.status));
    if (answer.headers.has(OUTAGE)) heard(decodeURIComponent(answer.headers.get(OUTAGE)));
    return answer;
  } catch (error) {
    if (LOST.has(error.name)) freshness.reached(false);
    throw error;
  }
}

/* Dash asks by fetch and would draw an error for a 401. The page is about to go: its callbacks
     are left waiting. */
window.fetch = async (...asked) => {
  const answer = await answerOf(asked);
  const signIn = answer.status === 401 && answer.headers.get(HEADER);
  if (!signIn) return answer;
  if (!leaving) leave(signIn);
  return new Promise(() => {});
};

async function check() {
  if (leaving || document.hidden) return;
  try {
    await window.fetch(CHECK, {
      cache: "no-store",
      signal: AbortSignal.timeout(CHECK_WITHIN_MS),
    });
  } catch {
    /* no connection: the page itself says so */
  }
}

function heard(outage) {
  tell(outage);
  try {
    localStorage.setItem(HEARD, JSON.stringify({ ms: Date.now(), outage }));
  } catch {
    /* no storage: this page checks for itself */
  }
}

function lastHeard() {
  try {
    return JSON.parse(localStorage.getItem(HEARD));
  } catch {
    return null;
  }
}

function tell(words) {
  const place = document.getElementById("outage");
  if (place && place.textContent !== words) place.textContent = words;
}

async function keepChecking() {
  const last = lastHeard();
  const pauseMs = restMs(last?.ms, Date.now(), CHECK_EVERY_MS);
  if (pauseMs > 0) tell(last.outage);
  else await check();
  setTimeout(keepChecking, pauseMs > 0 ? pauseMs : CHECK_EVERY_MS);
}

setTimeout(keepChecking, CHECK_EVERY_MS);
document.addEventListener("visibilitychange", check);

/* A page kept by the browser for "back" may be of a session that is over. */
window.addEventListener("pageshow", (event) => {
  if (event.persisted) check();
});
