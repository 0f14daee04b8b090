/* The browser's side of a session: an answer that says "signed out" leads to the sign-in page, and
   an open page asks whether its session still stands, once no page of this browser has had an
   answer for a few seconds. Each answer also tells why no reading comes in, where that is known: a
   page that only grows older looks well. */
import * as freshness from "./freshness.js";
import { checkIsDue, nextCheckMs } from "./session-checks.js";
import { siteRoot } from "./site.js";

const CHECK = `${siteRoot}/session`;
const CHECK_EVERY_MS = 2500; // 3 s at most; with the service's own 5 s, a revoked key is out within 10 s
const CHECK_WITHIN_MS = 5000;
const HEADER = "Weir-Sign-In";
const OUTAGE = "Weir-Outage"; // of each answer to a session that stands

const fetched = window.fetch.bind(window);
const others =
  "BroadcastChannel" in window ? new BroadcastChannel(`weir-session${siteRoot}`) : null;
let leaving = false;
let heardMs = 0; // when a page of this browser last heard that the session stands

function leave(signIn) {
  leaving = true;
  others?.postMessage({ again: true });
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
    if (answer.headers.has(OUTAGE)) {
      const outage = decodeURIComponent(answer.headers.get(OUTAGE));
      heard({ outage });
      others?.postMessage({ outage });
    }
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

/* `told`: another page asked for it, which found that something is wrong. */
async function check(told = false) {
  if (leaving || document.hidden) return;
  try {
    await window.fetch(CHECK, {
      cache: "no-store",
      signal: AbortSignal.timeout(CHECK_WITHIN_MS),
    });
  } catch {
    /* no connection: the page itself says so, and the others shall see for themselves */
    if (!told) others?.postMessage({ again: true });
  }
}

/* One page of the browser hears for all of its pages: the others check themselves where it failed,
   or where nothing was heard for as long as a check is good. */
function heard({ outage }) {
  heardMs = Date.now();
  tell(outage);
}

if (others) {
  others.onmessage = ({ data }) => {
    if (data.again) return check(true);
    freshness.reached(true);
    heard(data);
  };
}

function tell(words) {
  const place = document.getElementById("outage");
  if (place && place.textContent !== words) place.textContent = words;
}

async function keepChecking() {
  if (checkIsDue(Date.now(), heardMs, CHECK_EVERY_MS)) await check();
  setTimeout(keepChecking, nextCheckMs(Date.now(), heardMs, CHECK_EVERY_MS, Math.random()));
}

setTimeout(keepChecking, CHECK_EVERY_MS);
document.addEventListener("visibilitychange", () => check());

/* A page kept by the browser for "back" may be of a session that is over. */
window.addEventListener("pageshow", (event) => {
  if (event.persisted) check();
});
