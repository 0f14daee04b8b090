/* Draws the coming week's forecast on a device's page: a line, and the bands of 80 and 95 %. */
const SVG = "http://www.w3.org/2000/svg";

function shape(tag, attributes) {
  const made = document.createElementNS(SVG, tag);
  Object.entries(attributes).forEach(([name, value]) => made.setAttribute(name, value));
  return made;
}

function marks(kind, text, side, whole) {
  return text
    .split("|")
    .filter(Boolean)
    .map((each) => {
      const at = each.slice(0, each.indexOf(" "));
      const label = document.createElement("span");
      label.className = kind;
      label.textContent = each.slice(at.length + 1);
      label.style[side] = `${(Number(at) / whole) * 100}%`;
      return label;
    });
}

function draw(place) {
  const { line, band80, band95, rows, columns, unit } = place.dataset;
  const svg = shape("svg", {
    viewBox: "0 0 1000 100",
    preserveAspectRatio: "none",
    "aria-hidden": "true",
  });
  rows.split("|").forEach((each) => {
    svg.append(shape("path", { class: "grid-line", d: `M0 ${each.split(" ")[0]}H1000` }));
  });
  if (band95) svg.append(shape("path", { class: "band-95", d: band95 }));
  if (band80) svg.append(shape("path", { class: "band-80", d: band80 }));
  svg.append(shape("path", { class: "line", d: line }));
  const plot = document.createElement("div");
  plot.className = "forecast-plot";
  plot.append(
    svg,
    ...marks("row-mark", rows, "top", 100),
    ...marks("column-mark", columns, "left", 1000),
  );
  const name = document.createElement("span");
  name.className = "quiet";
  name.textContent = unit;
  place.replaceChildren(name, plot);
}

document.addEventListener("weir:drawn", (event) => {
  if (event.target.id !== "device-forecast") return;
  event.target.querySelectorAll(".forecast-figure").forEach(draw);
});
