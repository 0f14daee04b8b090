/* The y axis while the time axis moves over loaded rows. It was computed for the visible rows
   (components/charts/figure.py), and it is extended when a peak becomes visible. The next reply
   fits it again. */
import * as chart from "./chart.js";
import { openedFor } from "./scales.js";

const second = (text) => text.slice(0, 19);

/* Lowest and highest visible value of all lines on the first y axis. */
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
