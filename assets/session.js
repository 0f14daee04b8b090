/* The browser's part of a session. A response that says "signed out" opens the sign-in page. An
   open page checks whether its session is still valid, unless a page of this browser has had a
   response within a few seconds. Each response also has the reason why no readings are stored, if
   there is one: a page that only grows older would look well. */
import * as freshness from "./freshness.js";
import { checkIsDue, nextCheckMs } from "./session-checks.js";
import { siteRoot } from "./site.js";

const CHECK = `${siteRoot}/session`;
const CHECK_EVERY_MS = 2500; // at most 3 s; with the service's 5 s, a revoked key ends in 10 s
const CHECK_WITHIN_MS = 5000;
const HEADER = "Weir-Sign-In";
const OUTAGE = "Weir-Outage"; // of each response to a valid session

const fetched = window.fetch.bind(window);
const others =
  "BroadcastChannel" in window ? new BroadcastChannel(`weir-session${siteRoot}`) : null;
let leaving = false;
let heardMs = 0; // when a page of this browser last had a response with a valid session

function leave(signIn) {
  leaving = true;
  others?.postMessage({ again: true });
  const url = new URL(signIn, window.location.origin);
  url.searchParams.set("next", window.location.pathname + window.location.search);
  window.location.assign(url);
}

const AWAY = new Set([502, 504]); // from a proxy in front of a stopped server
const LOST = new Set(["TypeError", "TimeoutError"]);

/* Each request tells the page's freshness whether the server responds. */
async function answerOf(request) {
  try {
    const answer = await fetched(...request);
    freshness.reached(!AWAY.has(answer.status));
    if (answer.headers.has(OUTAGE)) {
      const outage = decodeURIComponent(answer.headers.get(OUTAGE));
      onChecked({ outage });
      others?.postMessage({ outage });
    }
    return answer;
  } catch (error) {
    if (LOST.has(error.name)) freshness.reached(false);
    throw error;
  }
}

/* Dash uses fetch and would show an error for a 401. The page is about to be left, so its callbacks
   never get a response. */
window.fetch = async (...request) => {
  const answer = await answerOf(request);
  const signIn = answer.status === 401 && answer.headers.get(HEADER);
  if (!signIn) return answer;
  if (!leaving) leave(signIn);
  return new Promise(() => {});
};

/* `isRelayed`: another page asked for the check because it found a problem. */
async function check(isRelayed = false) {
  if (leaving || document.hidden) return;
  try {
    await window.fetch(CHECK, {
      cache: "no-store",
      signal: AbortSignal.timeout(CHECK_WITHIN_MS),
    });
  } catch {
    /* no connection: the page shows that itself, and the others check for themselves */
    if (!isRelayed) others?.postMessage({ again: true });
  }
}

/* One page of the browser checks for all of its pages; the others check themselves if that failed,
   or if nothing was shared for as long as a check is valid. */
function onChecked({ outage }) {
  heardMs = Date.now();
  showOutage(outage);
}

if (others) {
  others.onmessage = ({ data }) => {
    if (data.again) return check(true);
    freshness.reached(true);
    onChecked(data);
  };
}

function showOutage(words) {
  const place = document.getElementById("outage");
  if (place && place.textContent !== words) place.textContent = words;
}

async function keepChecking() {
  if (checkIsDue(Date.now(), heardMs, CHECK_EVERY_MS)) await check();
  setTimeout(keepChecking, nextCheckMs(Date.now(), heardMs, CHECK_EVERY_MS, Math.random()));
}

setTimeout(keepChecking, CHECK_EVERY_MS);
document.addEventListener("visibilitychange", () => check());

/* A page that the browser restores for "back" may be of an ended session. */
window.addEventListener("pageshow", (event) => {
  if (event.persisted) check();
});
