/* The tiles of a wall, reused by device id, so that a refresh updates what differs and moves
   nothing. Every text and shape comes from the server (components/fleet/tiles.py). A sparkline that
   is drawn already isn't sent again: its `mark` names it. */

import { childOf, element } from "./element.js";

const SVG = "http://www.w3.org/2000/svg";
const tiles = new Map(); // device id → {item, parts, last}

function drawing(tag, className, parent) {
  const made = document.createElementNS(SVG, tag);
  if (className) made.setAttribute("class", className);
  parent.append(made);
  return made;
}

/* --- One tile --- */

function picture(className, paths, parent) {
  const svg = drawing("svg", className, parent);
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("aria-hidden", "true");
  return { svg, paths: paths.map((name) => drawing("path", name, svg)) };
}

function newTile(id) {
  const item = element("li");
  item.dataset.id = id;
  const link = childOf(item, "a", "tile");
  const head = childOf(link, "span", "tile-head");
  const label = childOf(head, "span", "tile-label");
  const state = childOf(head, "span", "tile-state");
  const sub = childOf(link, "span", "tile-sub");
  const serial = childOf(sub, "span", "tile-serial");
  const seen = childOf(sub, "span", "tile-seen");
  const mark = childOf(seen, "span", "tile-mark");
  const age = childOf(seen, "span");
  const plot = childOf(link, "span", "tile-plot");
  const spark = picture("spark", ["span", "noted", "gaps", "band", "usual", "line"], plot);
  const note = childOf(plot, "span", "tile-note");
  const strip = picture("strip", ["track", "full", "part"], link);
  const numbers = childOf(link, "span", "tile-numbers");
  const triples = [0, 1, 2].map(() => {
    const one = childOf(numbers, "span", "tile-number");
    return { value: childOf(one, "b"), name: childOf(one, "span") };
  });
  const health = childOf(link, "span", "tile-health");
  const pairs = [0, 1].map(() => {
    const one = childOf(health, "span");
    const name = childOf(one, "span");
    return { value: childOf(one, "b"), name };
  });
  // A screen reader gets the whole tile in one sentence.
  [head, sub, plot, numbers, health].forEach((part) => part.setAttribute("aria-hidden", "true"));
  const summary = childOf(link, "span", "sr-only");
  return {
    item,
    link,
    summary,
    label,
    state,
    serial,
    seen,
    mark,
    age,
    pairs,
    plot,
    spark,
    note,
    strip,
    triples,
    last: {},
  };
}

/* `change` runs only if its part of the tile differs from what is shown. */
function differs(tile, name, value, change) {
  const key = typeof value === "string" ? value : JSON.stringify(value);
  if (tile.last[name] === key) return;
  change(value);
  tile.last[name] = key;
}

function text(tile, name, node, value) {
  differs(tile, name, value, (words) => (node.textContent = words));
}

/* In a frame on another site a tile isn't a link. */
function point(link, href) {
  if (href) link.href = href;
  else link.removeAttribute("href");
}

function drawTile(tile, data, view) {
  text(tile, "label", tile.label, data.label);
  text(tile, "serial", tile.serial, data.serial);
  text(tile, "age", tile.age, data.seen);
  /* The finding stands above; the state beside the time of the last reading. */
  const above = data.finding || data;
  text(tile, "state", tile.state, `${above.shape} ${above.word}`);
  text(tile, "mark", tile.mark, data.finding ? `${data.shape} ${data.word} · ` : "");
  text(tile, "note", tile.note, data.note);
  const severity = data.finding ? data.finding.severity : "";
  differs(tile, "severity", severity, (name) => (tile.link.dataset.severity = name));
  differs(tile, "seen_at", data.seen_at, (at) => (tile.seen.title = at));
  differs(tile, "kind", data.state, (state) => (tile.link.dataset.state = state));
  differs(tile, "href", data.href, (href) => point(tile.link, href));
  text(tile, "summary", tile.summary, data.summary);
  data.health.forEach(([value, name, emphasis], index) => {
    const { value: number, name: meaning } = tile.pairs[index];
    text(tile, `health${index}`, number, value);
    text(tile, `healthName${index}`, meaning, `${name} `);
    differs(tile, `healthEmphasis${index}`, emphasis, (word) => (number.className = word));
  });
  data.numbers.forEach(([value, name, emphasis], index) => {
    const { value: number, name: meaning } = tile.triples[index];
    text(tile, `value${index}`, number, value);
    text(tile, `name${index}`, meaning, name);
    differs(tile, `emphasis${index}`, emphasis, (word) => (number.className = word));
  });
  const same = tile.view === view;
  const drawn = Boolean(data.mark) && data.mark === tile.drawn;
  if (!drawn) drawPaths(tile, "spark", tile.spark, data.spark, same && !data.note);
  differs(tile, "span", data.span || "", (path) => tile.spark.paths[0].setAttribute("d", path));
  differs(tile, "noted", data.noted || "", (path) => tile.spark.paths[1].setAttribute("d", path));
  differs(tile, "notes", data.notes || "", (words) => (tile.plot.title = words));
  drawPaths(tile, "strip", tile.strip, data.strip, same);
  if (data.spark || data.note) tile.drawn = data.mark;
  tile.view = view;
  differs(tile, "pending", String(!drawn && !data.spark && !data.note), (pending) => {
    tile.plot.dataset.pending = pending === "true" && !tile.last.spark;
  });
}

/* A part that wasn't loaded in time stays as it is, within the same view. */
function drawPaths(tile, name, into, data, stand) {
  if (!data && stand) return;
  differs(tile, name, data || "", () => {
    const [width, ...paths] = data || [1, "", "", "", ""];
    into.svg.setAttribute("viewBox", `0 0 ${width} 100`);
    into.paths.slice(-paths.length).forEach((path, index) => path.setAttribute("d", paths[index]));
  });
}

/* A tile that can't be drawn shows an error and doesn't affect the others. */
function drawBroken(tile, data) {
  tile.last = {};
  delete tile.drawn;
  tile.link.dataset.state = "unknown";
  tile.label.textContent = String(data?.label || "A device");
  tile.state.textContent = "◌ Not shown";
  tile.note.textContent = "This tile can’t be drawn.";
  tile.summary.textContent = `${tile.label.textContent}. This tile can’t be drawn.`;
}

/* --- The wall --- */

function tileOf(id) {
  if (!tiles.has(id)) tiles.set(id, newTile(id));
  return tiles.get(id);
}

/* Draws the tiles of `data`, in that order. `view` names what they show: within one view a part
   that is missing stays as it is. */
function draw(wall, data, view) {
  const focused = document.activeElement;
  const shown = new Set();
  data.forEach((each, index) => {
    const id = String(each?.id ? each.id : `broken-${index}`);
    const tile = tileOf(id);
    shown.add(id);
    try {
      drawTile(tile, each, view);
    } catch {
      drawBroken(tile, each);
    }
    if (wall.children[index] !== tile.item) {
      wall.insertBefore(tile.item, wall.children[index] || null);
    }
  });
  for (const [id, tile] of tiles) {
    if (shown.has(id)) continue;
    tile.item.remove();
    tiles.delete(id);
  }
  if (focused !== document.activeElement && focused && wall.contains(focused)) {
    focused.focus({ preventScroll: true });
  }
}

/* The drawn lines, device id → mark. */
function marks() {
  const drawn = [...tiles].filter(([, tile]) => tile.drawn);
  return Object.fromEntries(drawn.map(([id, tile]) => [id, tile.drawn]));
}

const clear = () => tiles.clear();

export { clear, draw, marks };
