/* When each part of a page beside the chart is due again. Pure: times come as arguments. */

const BIAS_MS = 1000; // refreshes don't come on the dot
const RANGE_REST_MS = [30000, 300000];
const PIXELS = 2000;
const OF_PLACE = ["zone", "units"];

/* The parts by when they are due (`When` of components/device): how old they may get on a page that
   is only looked at, and on which fields of the question they depend. */
const PARTS = {
  range: { restMs: rangeRestMs, of: [...OF_PLACE, "range", "metric", "compare"] },
  refresh: { restMs: () => 0, of: OF_PLACE },
  steady: { restMs: () => 60000, of: [...OF_PLACE, "range", "metric"] },
  hourly: { restMs: () => 900000, of: OF_PLACE },
};

/* What comes of the range may get as old as a pixel of it is wide. */
function rangeRestMs({ from, to }) {
  const [least, most] = RANGE_REST_MS;
  return Math.min(most, Math.max(least, (Date.parse(to) - Date.parse(from)) / PIXELS));
}

/* The fields of the question that a part depends on, as one text. */
export const dependsOn = (name, question) =>
  JSON.stringify(PARTS[name].of.map((field) => question[field] || null));

/* The names of the parts that are due. `fresh`: by name, {ms, of}: when it last came, and for which
   fields; `shown`: the range that the chart shows, {from, to}; `live`: nobody asked for the chart,
   which is only brought up to date. */
export function dueParts({ fresh, question, shown, live, nowMs }) {
  return Object.keys(PARTS).filter((name) => {
    const last = fresh[name];
    const stands = last && last.of === dependsOn(name, question) && (live || name !== "range");
    return !stands || nowMs - last.ms >= PARTS[name].restMs(shown) - BIAS_MS;
  });
}
