/* The compare page's charts, drawn from the server's data, with one cursor for all. It moves by
   mouse, by finger and by keyboard; a card shows the values under it. */
import { element } from "./element.js";

const SVG = "http://www.w3.org/2000/svg";
const APART_PX = 12;
const MARKS_APART_PX = 6;

let hover = null; // {times, edges, unit, lines: [{place, label, values, texts}]}
let at = -1; // the bucket under the cursor

const plots = () => [...document.querySelectorAll("#compare-pictures .compare-plot")];

function shape(tag, attributes) {
  const made = document.createElementNS(SVG, tag);
  Object.entries(attributes).forEach(([name, value]) => made.setAttribute(name, value));
  return made;
}

const parts = (text) =>
  text
    .split("|")
    .filter(Boolean)
    .map((each) => [each.slice(0, each.indexOf(" ")), each.slice(each.indexOf(" ") + 1)]);

function mark(kind, side, share, text) {
  const made = element("span", { className: kind });
  text.split("\n").forEach((line) => made.append(element("span", { textContent: line })));
  made.style[side] = `${share}%`;
  return made;
}

/* Labels that would overlap the previous one are left out. */
function thin(plot) {
  let end = -Infinity;
  plot.querySelectorAll(".column-mark").forEach((each) => {
    each.hidden = false;
    const { left, right } = each.getBoundingClientRect();
    each.hidden = left < end + MARKS_APART_PX;
    if (!each.hidden) end = right;
  });
}

function draw(plot) {
  const { lines, rows, columns } = plot.dataset;
  const svg = shape("svg", {
    viewBox: "0 0 1000 100",
    preserveAspectRatio: "none",
    "aria-hidden": "true",
  });
  parts(rows).forEach(([y]) =>
    svg.append(shape("path", { class: "grid-line", d: `M0 ${y}H1000` })),
  );
  parts(lines).forEach(([place, d]) => {
    const line = shape("path", { class: "line", d });
    line.style.stroke = `var(--series-${place})`;
    svg.append(line);
  });
  plot.replaceChildren(
    svg,
    ...parts(rows).map(([y, text]) => mark("row-mark", "top", y, text)),
    ...parts(columns).map(([x, text]) => mark("column-mark", "left", x / 10, text)),
  );
  thin(plot);
}

window.addEventListener("resize", () => plots().forEach(thin));

/* --- The cursor --- */

function bucketAt(share) {
  const next = hover.edges.findIndex((edge) => edge > share);
  return next < 0 ? hover.times.length - 1 : Math.max(0, next - 1);
}

function clear() {
  at = -1;
  document.querySelectorAll(".compare-line, .compare-card").forEach((old) => old.remove());
}

function row(line) {
  const made = element("p", {});
  const name = element("span", {});
  const swatch = element("span", { className: "swatch" });
  swatch.style.background = `var(--series-${line.place + 1})`;
  name.append(swatch, line.label);
  made.append(name, element("b", { textContent: `${line.texts[at]} ${hover.unit}` }));
  return made;
}

function there() {
  const value = (line) => line.values[at] ?? -Infinity;
  return [...hover.lines].sort((a, b) => value(b) - value(a));
}

function card(plot, share) {
  const made = element("div", { className: "hover-card compare-card" });
  made.append(element("strong", { textContent: hover.times[at] }), ...there().map(row));
  plot.append(made);
  const { width } = plot.getBoundingClientRect();
  const px = share * width;
  const right = px + APART_PX + made.offsetWidth <= width;
  const left = right ? px + APART_PX : Math.max(0, px - APART_PX - made.offsetWidth);
  made.style.left = `${left}px`;
}

function point(plot, index) {
  if (!hover?.times.length) return;
  clear();
  at = index;
  const share = (hover.edges[at] + hover.edges[at + 1]) / 2;
  plots().forEach((each) => each.append(mark("compare-line", "left", share * 100, "")));
  card(plot, share);
}

function say() {
  const place = document.getElementById("compare-cursor");
  const words = there().map((line) => `${line.label} ${line.texts[at]} ${hover.unit}`);
  if (place) place.textContent = [hover.times[at], ...words].join(", ");
}

document.addEventListener("pointermove", (event) => {
  const plot = event.target.closest?.(".compare-plot");
  if (!plot) {
    if (at >= 0 && !document.activeElement?.matches(".compare-plot")) clear();
    return;
  }
  if (!hover?.times.length) return;
  const { left, width } = plot.getBoundingClientRect();
  const share = (event.clientX - left) / width;
  if (share >= 0 && share <= 1) point(plot, bucketAt(share));
});

const STEPS = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity };

document.addEventListener("keydown", (event) => {
  const plot = event.target.closest?.(".compare-plot");
  if (!plot || event.altKey || event.ctrlKey || event.metaKey) return;
  if (event.key === "Escape") return clear();
  const step = STEPS[event.key];
  if (!step || !hover?.times.length) return;
  event.preventDefault();
  const last = hover.times.length - 1;
  const from = at < 0 ? (step > 0 ? -1 : last + 1) : at;
  point(plot, Math.max(0, Math.min(last, from + step * (event.shiftKey ? 10 : 1))));
  say();
});

document.addEventListener("focusout", (event) => {
  if (event.target.matches?.(".compare-plot")) clear();
});

/* --- Replies --- */

document.addEventListener("weir:received", (event) => {
  if (event.target.id !== "compare") return;
  clear();
  hover = event.detail.hover;
});

document.addEventListener("weir:drawn", (event) => {
  if (event.target.id !== "compare-pictures") return;
  clear();
  plots().forEach(draw);
});
