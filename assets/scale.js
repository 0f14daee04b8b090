/* The y axis while the time axis glides over rows that are there already: it was made to fit what was
   in sight (components/charts/figure.py), and it opens where a peak comes in. The next answer fits it anew. */
import * as chart from "./chart.js";
import { openedFor } from "./scales.js";

const second = (text) => text.slice(0, 19);

/* Lowest and highest in sight, of all that is drawn by the first y axis. */
function extremes(data, [from, to]) {
  let [low, high] = [Infinity, -Infinity];
  data
    .filter((trace) => !trace.yaxis)
    .forEach(({ x, y }) =>
      x.forEach((at, index) => {
        const value = y[index];
        if (at === null || value === null || second(at) < from || second(at) > to) return;
        low = Math.min(low, value);
        high = Math.max(high, value);
      }),
    );
  return [low, high];
}

chart.onGlide.push((range) => {
  const drawn = chart.graph();
  const { range: before } = drawn.layout.yaxis;
  const opened = openedFor(before, extremes(drawn.data, range.map(second)));
  const isOpened = opened.some((end, index) => end !== before[index]);
  if (isOpened && opened.every(Number.isFinite))
    window.Plotly.relayout(drawn, { "yaxis.range": opened });
});
