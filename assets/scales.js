/* Ranges of a chart's axes as pure functions: a range is [from, to], in milliseconds or values. */

/* In ms: plotly.js writes instants as UTC without a zone, "2026-03-08 05:00:00.1234", or as a day. */
export const plotlyMs = (text) =>
  Date.parse(text.replace(" ", "T").slice(0, 23) + (text.length > 10 ? "Z" : ""));

const HEADROOM = 0.05;
const SAME_LENGTH = 0.02;

export const lengthOf = ([from, to]) => to - from;

/* Zoomed around an instant that keeps its place. */
export const zoomed = ([from, to], factor, about = (from + to) / 2) => [
  about - (about - from) * factor,
  about + (to - about) * factor,
];

export const panned = ([from, to], share) => [from, to].map((end) => end + (to - from) * share);

/* Moved into the whole range; its length stays. */
export function movedInto([start, end], [from, to]) {
  const by = Math.max(start - from, Math.min(0, end - to));
  return [from + by, to + by];
}

/* Whether rows drawn for `drawn`, which cover `have`, show that range completely and as finely. A
   range may reach beyond rows that end now. */
export function covers({ drawn, have, nowMs }, range) {
  if (Math.abs(lengthOf(range) / lengthOf(drawn) - 1) > SAME_LENGTH) return false;
  return range[0] >= have[0] && (range[1] <= have[1] || have[1] > nowMs);
}

/* The y axis extended for newly visible values, with some room; unchanged if all fit. */
export function openedFor([bottom, top], [low, high]) {
  if (low >= bottom && high <= top) return [bottom, top];
  const room = (Math.max(top, high) - Math.min(bottom, low)) * HEADROOM;
  return [low < bottom ? low - room : bottom, high > top ? high + room : top];
}
