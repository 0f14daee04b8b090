/* A chart by keyboard and wheel: a cursor that reads out its row, zoom, pan and reset. Arrows move
   the cursor (with Shift by ten rows), Home and End go to the ends, + and − zoom, [ and ] pan, R
   resets, C changes the comparison, U shows usual values, Escape hides the cursor. The wheel zooms
   if the plot has the focus or Ctrl is held; otherwise it scrolls the page. */
import * as chart from "./chart.js";
import { deedOf } from "./chart-keys.js";
import * as compare from "./compare.js";
import * as hover from "./hover.js";
import * as hoverCard from "./hover-card.js";
import { lengthOf, panned, zoomed } from "./scales.js";

const WHEEL = 0.0016;
const SHORTEST_MS = 10000;
const SAY_MS = 150;

let cursorMs = null;
let sayTimer = 0;

/* The visible rows. */
function rows() {
  const series = hover.read(chart.graph());
  const [from, to] = chart.range();
  return series ? series.rows.filter(({ ms }) => ms >= from && ms <= to) : [];
}

function point(row) {
  cursorMs = row.ms;
  hoverCard.show(chart.graph(), row.ms);
  clearTimeout(sayTimer);
  sayTimer = setTimeout(() => say(row), SAY_MS);
}

function say(row) {
  const series = hover.read(chart.graph());
  const { title, lines } = hover.words(series, row);
  const words = [title, ...lines.map((line) => line.join(" "))].join(", ");
  document.getElementById("chart-cursor").textContent = words;
}

const nearest = (points, ms) => hover.nearest(points, ms);

function step(by) {
  const points = rows();
  if (points.length === 0) return;
  const here = cursorMs === null ? (by > 0 ? -1 : points.length) : nearest(points, cursorMs);
  const there = cursorMs === null && Math.abs(by) === 1 ? Math.floor(points.length / 2) : here + by;
  point(points[Math.max(0, Math.min(points.length - 1, there))]);
}

function let_go() {
  cursorMs = null;
  clearTimeout(sayTimer);
  hoverCard.leave();
  document.getElementById("chart-cursor").textContent = "";
}

/* An embed may have a fixed range. */
const isStill = () => chart.currentPlot().dataset.still === "true";

function zoom(factor, aboutMs) {
  if (isStill()) return;
  const range = chart.range();
  if (lengthOf(range) * factor < SHORTEST_MS) return;
  chart.move(...zoomed(range, factor, aboutMs ?? cursorMs ?? undefined));
}

function pan(by) {
  if (isStill()) return;
  chart.move(...panned(chart.range(), by));
}

const DEEDS = {
  step,
  zoom,
  pan,
  reset: () => chart.reset(),
  compare: compare.next,
  usual: compare.usual,
  leave: let_go,
};

const ready = () => chart.isOpen() && chart.graph() && window.Plotly && chart.range();

document.addEventListener("keydown", (event) => {
  const act = deedOf(event);
  if (!act || !ready()) return;
  if (!event.target.closest(".plot") || event.target.closest("button")) return;
  event.preventDefault();
  const [deed, amount] = act;
  DEEDS[deed](amount);
});

document.addEventListener(
  "wheel",
  (event) => {
    if (!ready() || !event.target.closest(".plot")) return;
    const focused = chart.currentPlot().contains(document.activeElement);
    if (isStill() || (!focused && !event.ctrlKey && !event.metaKey)) return;
    event.preventDefault();
    const area = chart.currentPlot().querySelector(".nsewdrag").getBoundingClientRect();
    const [from, to] = chart.range();
    const share = Math.max(0, Math.min(1, (event.clientX - area.x) / area.width));
    if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) pan(event.deltaX / area.width);
    else zoom(Math.exp(event.deltaY * WHEEL), from + share * (to - from));
  },
  { passive: false },
);

document.addEventListener("focusout", (event) => {
  if (cursorMs !== null && event.target.closest(".plot") && ready()) let_go();
});

/* Puts the cursor back to its place. */
chart.onAnswer.push(() => {
  if (cursorMs === null || !ready()) return;
  requestAnimationFrame(() => {
    const points = rows();
    if (points.length && cursorMs !== null) point(points[nearest(points, cursorMs)]);
  });
});
