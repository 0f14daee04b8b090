/* Ranges of a chart's axes, by numbers alone: a range is [from, to], of milliseconds or of values. */

const HEADROOM = 0.05;
const SAME_LENGTH = 0.02;

export const lengthOf = ([from, to]) => to - from;

/* Around an instant that stays where it is. */
export const zoomed = ([from, to], factor, about = (from + to) / 2) => [
  about - (about - from) * factor,
  about + (to - about) * factor,
];

export const panned = ([from, to], share) => [from, to].map((end) => end + (to - from) * share);

/* Moved into the whole range; the length stays. */
export function movedInto([start, end], [from, to]) {
  const by = Math.max(start - from, Math.min(0, end - to));
  return [from + by, to + by];
}

/* Whether rows drawn for `drawn`, which reach over `have`, show that range as they should: all of it,
   as finely. A range may reach beyond rows that end now. */
export function covers({ drawn, have, nowMs }, range) {
  if (Math.abs(lengthOf(range) / lengthOf(drawn) - 1) > SAME_LENGTH) return false;
  return range[0] >= have[0] && (range[1] <= have[1] || have[1] > nowMs);
}

/* The y axis opened for what comes in sight beyond it, with room; as it was where all fits. */
export function openedFor([bottom, top], [low, high]) {
  if (low >= bottom && high <= top) return [bottom, top];
  const room = (Math.max(top, high) - Math.min(bottom, low)) * HEADROOM;
  return [low < bottom ? low - room : bottom, high > top ? high + room : top];
}
