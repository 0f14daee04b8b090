/* When a page checks its session, if the pages of a browser share their checks. Pure. */
const SPREAD = 0.2; // so that one page is ahead of the others, and the others get its result

/* Whether no page of the browser has had a response for as long as a check is valid. */
export const checkIsDue = (nowMs, heardMs, everyMs) => nowMs - heardMs >= everyMs;

/* The time until a check can be due, in ms; `chance` from 0 to 1. */
export function nextCheckMs(nowMs, heardMs, everyMs, chance) {
  const leftMs = Math.min(Math.max(heardMs + everyMs - nowMs, 0), everyMs);
  return (leftMs || everyMs) + everyMs * SPREAD * chance;
}
