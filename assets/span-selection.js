/* Selecting a span by dragging over the chart, for a note, maintenance or a correction. The button
   "Select" or S turns it on and off, Escape ends it. */
import * as chart from "./chart.js";
import { element } from "./element.js";
import { wallTime } from "./wall-time.js";

const LEAST_PX = 4; // a shorter drag selects nothing
const MINUTE_MS = 60000;
const DEEDS = [
  ["note", "", "Add note…"],
  ["correction", "exclude", "Exclude…"],
  ["correction", "scale", "Scale…"],
  ["maintenance", "", "Plan maintenance…"],
];

let layer = null; // over the plot area, while selecting
let from = null; // where a pointer went down, in pixels of the layer
let span = null; // [fromMs, toMs]

const button = () => document.querySelector('[data-do="select-span"]');
const isOn = () => Boolean(layer?.isConnected);
const selected = () => (isOn() ? span : null);
const zone = () => chart.currentQuestion().zone || chart.currentPlot().dataset.zone;

function place() {
  const { xaxis, yaxis } = chart.graph()._fullLayout;
  Object.assign(layer.style, {
    left: `${xaxis._offset}px`,
    width: `${xaxis._length}px`,
    top: `${yaxis._offset}px`,
    height: `${yaxis._length}px`,
  });
}

/* The selected span at its place on the axis. */
function draw() {
  if (!isOn()) return;
  place();
  const box = layer.querySelector(".span-selected");
  box.hidden = !span;
  if (!span) return;
  const [first, last] = chart.range();
  const share = (ms) => Math.max(0, Math.min(1, (ms - first) / (last - first)));
  box.style.left = `${share(span[0]) * 100}%`;
  box.style.width = `${(share(span[1]) - share(span[0])) * 100}%`;
}

/* The possible actions: those that the panel of notes offers to this reader. */
function offer() {
  layer.querySelector(".span-bar")?.remove();
  if (!span) return;
  const [first, last] = span.map((ms) => wallTime(ms, zone()).replace("T", " "));
  const sameDay = first.slice(0, 10) === last.slice(0, 10);
  const bar = element(
    "div",
    { className: "span-bar" },
    element("span", { textContent: `${first} – ${sameDay ? last.slice(11) : last}` }),
  );
  bar.setAttribute("role", "toolbar");
  bar.setAttribute("aria-label", "With the selected span");
  DEEDS.forEach(([kind, effect, textContent]) => {
    if (!document.querySelector(`#annotations [data-annotate=${kind}]`)) return;
    const one = element("button", { type: "button", className: "button small", textContent });
    one.dataset.annotate = kind;
    one.dataset.effect = effect;
    bar.append(one);
  });
  layer.append(bar);
}

function begin() {
  layer = element(
    "div",
    { className: "span-layer" },
    element("div", { className: "span-selected", hidden: true }),
    element("p", { className: "span-hint", textContent: "Drag over the span" }),
  );
  span = null;
  chart.currentPlot().append(layer);
  button()?.setAttribute("aria-pressed", "true");
  layer.addEventListener("pointerdown", grab);
  layer.addEventListener("pointermove", pull);
  layer.addEventListener("pointerup", drop);
  draw();
}

function end() {
  layer?.remove();
  layer = null;
  span = null;
  button()?.setAttribute("aria-pressed", "false");
}

const toggle = () => (isOn() ? end() : chart.range() && begin());

const at = (event) => event.clientX - layer.getBoundingClientRect().left;

function timeAt(px) {
  const [first, last] = chart.range();
  const share = Math.max(0, Math.min(1, px / layer.clientWidth));
  return first + share * (last - first);
}

function grab(event) {
  if (event.button !== 0 || event.target.closest(".span-bar")) return;
  event.preventDefault();
  from = at(event);
  layer.querySelector(".span-hint")?.remove();
  layer.querySelector(".span-bar")?.remove();
  layer.setPointerCapture(event.pointerId);
}

/* Whole minutes, as the form's fields have them. */
function pull(event) {
  if (from === null) return;
  const [left, right] = [from, at(event)].sort((a, b) => a - b);
  const wide = right - left >= LEAST_PX;
  span = wide
    ? [
        Math.floor(timeAt(left) / MINUTE_MS) * MINUTE_MS,
        Math.ceil(timeAt(right) / MINUTE_MS) * MINUTE_MS,
      ]
    : null;
  draw();
}

function drop(event) {
  if (from === null) return;
  pull(event);
  from = null;
  offer();
}

chart.onAnswer.push(draw);
chart.onGlide.push(draw);
window.addEventListener("resize", () => requestAnimationFrame(draw));

document.addEventListener("click", (event) => {
  if (chart.isOpen() && event.target.closest('[data-do="select-span"]')) toggle();
});

document.addEventListener("keydown", (event) => {
  if (!chart.isOpen() || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest("input, textarea, select, dialog, [contenteditable]")) return;
  if (event.key === "Escape" && isOn()) end();
  if ((event.key === "s" || event.key === "S") && button()) toggle();
});

export { end, selected };
