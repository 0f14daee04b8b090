/* Charts of findings: the sparklines of the list, and the larger chart with axes. */
import { element } from "./element.js";

const SVG = "http://www.w3.org/2000/svg";

function shape(tag, attributes) {
  const made = document.createElementNS(SVG, tag);
  Object.entries(attributes).forEach(([name, value]) => made.setAttribute(name, value));
  return made;
}

function box(width) {
  return shape("svg", {
    viewBox: `0 0 ${width} 100`,
    preserveAspectRatio: "none",
    "aria-hidden": "true",
  });
}

function span(svg, left, right) {
  svg.append(shape("rect", { class: "span", x: left, y: 0, width: right - left, height: 100 }));
  svg.append(shape("path", { class: "onset", d: `M${left} 0V100` }));
}

export function drawSmall(place) {
  const { line, gaps, width, span: ends } = place.dataset;
  const svg = box(width);
  if (ends) span(svg, ...ends.split(" ").map(Number));
  if (gaps) svg.append(shape("path", { class: "gap", d: gaps }));
  svg.append(shape("path", { class: "line", d: line }));
  place.replaceChildren(svg);
}

function marks(kind, list, side) {
  return list.map(([at, text]) => {
    const label = element("span", { className: kind });
    label.style[side] = side === "left" ? `${at / 10}%` : `${at}%`;
    [].concat(text).forEach((line) => label.append(element("span", { textContent: line })));
    return label;
  });
}

export function drawLarge(place, figure) {
  if (!figure)
    return place.replaceChildren(
      element("p", { className: "empty", textContent: "No readings in this span." }),
    );
  const svg = box(1000);
  span(svg, ...figure.span);
  figure.rows.forEach(([at]) =>
    svg.append(shape("path", { class: "grid-line", d: `M0 ${at}H1000` })),
  );
  if (figure.limit !== null)
    svg.append(shape("path", { class: "limit", d: `M0 ${figure.limit}H1000` }));
  svg.append(shape("path", { class: "line", d: figure.line }));
  const plot = element("div", { className: "finding-plot" }, svg);
  plot.append(
    ...marks("row-mark", figure.rows, "top"),
    ...marks("column-mark", figure.columns, "left"),
  );
  const key = element("p", { className: "finding-legend quiet" });
  key.append(
    element("span", { className: "key-line" }),
    "measured",
    element("span", { className: "key-span" }),
    "the finding",
  );
  if (figure.limit !== null) key.append(element("span", { className: "key-limit" }), "limit");
  place.replaceChildren(
    element("span", { className: "quiet", textContent: figure.unit }),
    plot,
    key,
  );
}
