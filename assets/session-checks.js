/* When a page checks its session, if the pages of a browser share their checks. Pure. */
const SPREAD = 0.2; // so that one page is ahead of the others, and the others hear of it

/* Whether no page of the browser has heard from the server for as long as a check is good. */
export const checkIsDue = (nowMs, heardMs, everyMs) => nowMs - heardMs >= everyMs;

/* How long to wait until a check can be due; `chance` from 0 to 1. */
export function nextCheckMs(nowMs, heardMs, everyMs, chance) {
  const leftMs = Math.min(Math.max(heardMs + everyMs - nowMs, 0), everyMs);
  return (leftMs || everyMs) + everyMs * SPREAD * chance;
}
