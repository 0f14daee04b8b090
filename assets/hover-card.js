/* The card beside the pointer with the values of the row under it. It reads the drawn rows alone,
   so it stays right while the chart zooms, is reset or refreshed under a resting pointer.

   The card stands beside the cursor on the side with more space between the lines; without space
   it docks above the plot, so that it never covers its row. */
import * as hover from "./hover.js";
import { plotlyMs } from "./scales.js";

const LINE = 2; // the index of the line, or the bars, among the traces
const APART_PX = 14; // from the cursor, and from the lines
const REACH_PX = 40; // a row further from the pointer isn't selected

let at = null; // {graph, ms}: the place of the pointer or of the keyboard's cursor
let isPointer = false;
const listening = new WeakSet();

function part(plot, className) {
  const existing = plot.querySelector(`:scope > .${className}`);
  if (existing) return existing;
  const made = document.createElement("div");
  made.className = className;
  made.setAttribute("aria-hidden", "true"); // the cursor's text is read out (assets/cursor.js)
  plot.append(made);
  return made;
}

/* The plot area and its axes, in pixels of the graph. */
function axes(graph) {
  const { xaxis, yaxis } = graph._fullLayout;
  const [from, to] = graph.layout.xaxis.range.map(plotlyMs);
  const [bottom, top] = yaxis.range;
  return {
    left: xaxis._offset,
    width: xaxis._length,
    top: yaxis._offset,
    height: yaxis._length,
    from,
    to,
    x: (ms) => xaxis._offset + ((ms - from) / (to - from)) * xaxis._length,
    y: (value) => yaxis._offset + (1 - (value - bottom) / (top - bottom)) * yaxis._length,
    ms: (px) => from + ((px - xaxis._offset) / xaxis._length) * (to - from),
  };
}

/* The vertical extent of the lines between two pixels. */
function reach(series, frame, left, right) {
  const { rows } = series;
  let [top, bottom] = [frame.top + frame.height, frame.top];
  const first = Math.max(0, hover.nearest(rows, frame.ms(left)) - 1);
  for (let index = first; index < rows.length; index += 1) {
    const { ms, value, low = value, high = value } = rows[index];
    top = Math.min(top, frame.y(high));
    bottom = Math.max(bottom, frame.y(low));
    if (frame.x(ms) > right) break;
  }
  const beside = series.second ? series.second.rows : [];
  beside.forEach(({ ms, value }) => {
    if (frame.x(ms) < left || frame.x(ms) > right) return;
    top = Math.min(top, frame.y(value));
    bottom = Math.max(bottom, frame.y(value));
  });
  return [top, series.isBars ? frame.top + frame.height : bottom];
}

/* A place where the card fits: {left, top}, or null. */
function room(series, frame, x, width, height) {
  const sides = [x + APART_PX, x - APART_PX - width]
    .filter((left) => left >= frame.left && left + width <= frame.left + frame.width)
    .flatMap((left) => {
      const [top, bottom] = reach(series, frame, left - APART_PX, left + width + APART_PX);
      return [
        { left, free: top - frame.top, top: frame.top },
        {
          left,
          free: frame.top + frame.height - bottom,
          top: frame.top + frame.height - height - 4,
        },
      ];
    })
    .filter(({ free }) => free >= height + APART_PX);
  return sides.sort((a, b) => b.free - a.free)[0] || null;
}

function fill(card, { title, lines }) {
  const key = JSON.stringify([title, lines]);
  if (card.dataset.key === key) return;
  card.dataset.key = key;
  const made = (tag, text) => Object.assign(document.createElement(tag), { textContent: text });
  const rows = lines.map(([label, value]) => {
    const line = document.createElement("p");
    line.append(made("span", label), " ", made("b", value));
    return line;
  });
  card.replaceChildren(made("strong", title), ...rows);
}

function hide(graph) {
  const plot = graph.closest(".plot");
  if (plot)
    ["hover-card", "hover-line", "hover-dot"].forEach((name) => (part(plot, name).hidden = true));
}

function draw() {
  if (!at?.graph.isConnected || !at.graph._fullLayout) return;
  const { graph } = at;
  const plot = graph.closest(".plot");
  const series = hover.read(graph);
  const frame = axes(graph);
  if (isPointer) at.ms = frame.ms(at.px);
  const row = series?.rows[hover.nearest(series.rows, at.ms)];
  if (!row) return hide(graph);
  const x = frame.x(row.ms);
  const half = (series.says.length_ms / 2 / (frame.to - frame.from)) * frame.width;
  const isFar = isPointer && Math.abs(x - at.px) > Math.max(REACH_PX, half);
  if (isFar || x < frame.left - 1 || x > frame.left + frame.width + 1) return hide(graph);
  const [card, line, dot] = ["hover-card", "hover-line", "hover-dot"].map((name) =>
    part(plot, name),
  );
  fill(card, hover.words(series, row));
  [card, line, dot].forEach((each) => (each.hidden = false));
  Object.assign(line.style, { left: `${x}px`, top: `${frame.top}px`, height: `${frame.height}px` });
  Object.assign(dot.style, { left: `${x}px`, top: `${frame.y(row.value)}px` });
  place(card, { ...series, isBars: graph.data[LINE].type === "bar" }, frame, x);
}

function place(card, series, frame, x) {
  card.dataset.docked = "false";
  card.removeAttribute("style");
  const { offsetWidth: width, offsetHeight: height } = card;
  const spot = room(series, frame, x, width, height);
  if (spot) return Object.assign(card.style, { left: `${spot.left}px`, top: `${spot.top}px` });
  card.dataset.docked = "true";
  Object.assign(card.style, {
    left: `${frame.left}px`,
    width: `${frame.width}px`,
    bottom: `calc(100% - ${frame.top - 2}px)`,
  });
}

/* After a redraw or a move of the axis the card shows what is under the pointer then. */
function listen(graph) {
  if (listening.has(graph) || !graph.on) return;
  listening.add(graph);
  graph.on("plotly_afterplot", draw);
  graph.on("plotly_relayouting", () => hide(graph));
}

document.addEventListener("mousemove", (event) => {
  const drag = event.target.closest?.(".js-plotly-plot .nsewdrag");
  if (!drag) {
    if (isPointer && at) leave();
    return;
  }
  const graph = drag.closest(".js-plotly-plot");
  if (event.buttons) return hide(graph); // a span is being selected
  listen(graph);
  isPointer = true;
  at = { graph, px: event.clientX - graph.getBoundingClientRect().x };
  draw();
});

document.addEventListener("mouseleave", () => isPointer && at && leave());

function leave() {
  if (at) hide(at.graph);
  at = null;
  isPointer = false;
}

/* Moves the keyboard's cursor to the row nearest to an instant. */
function show(graph, ms) {
  listen(graph);
  isPointer = false;
  at = { graph, ms };
  draw();
}

export { leave, show };
