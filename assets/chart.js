/* The view of a chart: what is asked of the server, when, and how it stands in the address.

   A chart is drawn by the server; here is only what the server can't know: the plot's width, where
   the reader dragged the axis, which button was pressed, whether anybody looks. All of it goes into
   one Store, the question, {device, range, from, to, metric, zone, units, theme, width_px, settled};
   the answer comes as the figure, and as what it shows: {from, to, zone, units, asked}. The parts of the
   page beside the chart are due each in its own time. A refresh has those that are due in the same
   answer; after a chart that the reader asked for they come with a second one, once it is painted. */
import * as controls from "./controls.js";
import { noUpdate, register, setProps } from "./dash.js";
import * as freshness from "./freshness.js";
import { covers } from "./scales.js";
import { draw } from "./sheets.js";
import { theme } from "./site.js";

const DEBOUNCE_MS = 120;
const WIDTH_STEP_PX = 100;
const IN_ADDRESS = ["range", "from", "to", "metric", "zone", "units", "compare", "usual"];
const REFRESH_MS = 15000;
const JITTER = 0.2;
const REST_MS = 300; // after a pan: then the words catch up with the picture
/* The parts beside the chart, by when they are due (`When` of components/device): how old they may
   get on a page that is only looked at, and on which fields of the question they depend. Those of
   the range may get as old as a pixel of it is wide. */
const OF_PLACE = ["zone", "units"];
const PARTS = {
  range: { restMs: () => rangeRestMs(shown), of: [...OF_PLACE, "range", "metric", "compare"] },
  refresh: { restMs: () => 0, of: OF_PLACE },
  steady: { restMs: () => 60000, of: [...OF_PLACE, "range", "metric"] },
  hourly: { restMs: () => 900000, of: OF_PLACE },
};
const RANGE_REST_MS = [30000, 300000];
const PIXELS = 2000;
const HOURLY = "hourly";
const ROWS = "device-rows"; // the card whose pages the reader turns
const BIAS_MS = 1000; // refreshes don't come on the dot
const NOW_MS = 120000; // a window that ends so near to now is of now

const listening = new WeakSet(); // graphs; one may serve two devices, one after the other
let plot = null; // the element around the graph, marked data-ask with its question's id
let question = null;
let at = null; // the range that the axis is known to show
let moving = null; // where the reader has moved the axis, until it has come to rest
let timer = 0;
let nextTimer = 0;
let held = false; // a pointer is down on the plot: nothing may be redrawn under it
let live = false; // the last question was asked by nobody: only to be up to date
let fresh = {}; // of PARTS: {ms, of}: when they last came, and for what question
let shown = null; // what the chart shows: the last answer to its question
let awaited = new Set(); // parts that were asked for after a chart and haven't come yet
let drawnAsked = 0; // the question of the parts that stand on the page

const isOpen = () => plot?.isConnected;
const graph = () => plot.querySelector(".js-plotly-plot");

/* Whom an answer, a glide or the button of a range of the reader's own concerns. */
const onAnswer = [];
const onGlide = [];
const onCustom = [];
const onOther = [];

/* --- The plot's size and the axis' range --- */

function widthPx() {
  const drawn = graph();
  const size = drawn?._fullLayout?._size;
  return Math.round(size ? size.w : plot.clientWidth - Number(plot.dataset.margins));
}

/* The server rounds widths up likewise: within a step the answer would be the same. */
const steps = (px) => Math.ceil(px / WIDTH_STEP_PX);

/* plotly.js writes instants as UTC without a zone: "2026-03-08 05:00:00.1234". */
function instant(text) {
  return new Date(
    text.replace(" ", "T").slice(0, 23) + (text.length > 10 ? "Z" : ""),
  ).toISOString();
}

function axisRange() {
  const range = graph().layout.xaxis.range;
  return range?.map(instant);
}

/* What the last answer holds: the window it was drawn for, and how far its rows reach. */
function answered(part) {
  const drawn = graph();
  const meta = drawn?.layout?.meta;
  return meta?.[part]?.map(instant);
}

const same = (a, b) => Boolean(a && b) && a[0] === b[0] && a[1] === b[1];

/* Whether the rows of the last answer show that range. */
function covered(range) {
  const [drawn, have] = ["window", "have"].map((part) => (answered(part) || []).map(Date.parse));
  if (!drawn.length || !have.length) return false;
  return covers({ drawn, have, nowMs: Date.now() }, range.map(Date.parse));
}

/* Moves the axis as a drag does; what is there is shown at once. */
function move(fromMs, toMs) {
  const range = [fromMs, toMs].map((ms) => new Date(ms).toISOString().slice(0, 23));
  return window.Plotly.relayout(graph(), { "xaxis.range": range });
}

/* --- Asking --- */

function ask(changes, { settled = false, remember = true, unasked = false } = {}) {
  clearTimeout(timer);
  clearTimeout(nextTimer);
  moving = null;
  live = unasked;
  const page = "from" in changes || "range" in changes ? 1 : question.page;
  question = { ...question, ...changes, settled, page, due: null, asked: Date.now() };
  if (live) question.due = due();
  setProps(plot.dataset.ask, { data: question });
  controls.press(question);
  if (remember) writeAddress();
  freshness.asked({ changed: !unasked });
}

/* After a drag, a pan or a resize: ask again once it has come to rest. */
function moved() {
  if (!isOpen() || !graph()) return;
  const range = axisRange();
  if (moving && same(range, at)) return; // a glide opened the y axis
  clearTimeout(timer);
  moving = range && hasMoved(range) ? range : null;
  const glides = range && !same(range, at) && covered(range);
  if (glides) glide(range);
  timer = setTimeout(
    () => {
      if (!isOpen() || !graph()) return;
      settle(glides);
    },
    glides ? REST_MS : DEBOUNCE_MS,
  );
}

/* By the reader. An answer in another theme or width leaves the axis where it is, though the window
     that it was drawn for goes on with the clock. */
const hasMoved = (range) => !same(range, at || answered("window"));

function settle(glided) {
  moving = null;
  const range = axisRange();
  const width_px = widthPx();
  if (range && (glided || hasMoved(range))) {
    at = range;
    ask({ from: range[0], to: range[1], width_px }, { settled: true, remember: !glided });
  } else if (steps(width_px) !== steps(question.width_px)) {
    ask({ width_px }, { settled: true, remember: false });
  }
}

/* A pan within what is there: the picture is right already. */
function glide(range) {
  at = range;
  question = { ...question, from: range[0], to: range[1] };
  setProps("chart-reset", { disabled: false });
  writeAddress();
  onGlide.forEach((listener) => listener(range));
}

const reset = () => ask({ from: null, to: null });

/* A preset ends at the last reading; a range of the reader's own may be empty for good. */
function jump() {
  const range = String(question.range).includes("..") ? null : question.range;
  ask({ range, from: null, to: null });
}

/* --- Live --- */

const endsNow = () => {
  const range = at || answered("window");
  return Boolean(range) && Date.parse(range[1]) >= Date.now() - NOW_MS;
};

function refresh() {
  if (!isOpen() || document.hidden) return; // until it is seen again
  if (held || moving) return next(1000);
  ask({}, { settled: Boolean(question.from), remember: false, unasked: true });
}

function next(afterMs) {
  clearTimeout(nextTimer);
  nextTimer = setTimeout(refresh, afterMs * (1 - JITTER + 2 * JITTER * Math.random()));
}

/* --- The parts beside the chart --- */

/* After the frame that shows the chart: its picture waits for nobody. */
const afterPaint = (then) => requestAnimationFrame(() => setTimeout(then, 0));

const dependsOn = (name) => JSON.stringify(PARTS[name].of.map((field) => question[field] || null));

function rangeRestMs({ from, to }) {
  const [least, most] = RANGE_REST_MS;
  return Math.min(most, Math.max(least, (Date.parse(to) - Date.parse(from)) / PIXELS));
}

function due() {
  if (!plot.dataset.parts) return [];
  return Object.keys(PARTS).filter((name) => {
    const last = fresh[name];
    const stands = last && last.of === dependsOn(name) && (live || name !== "range");
    return !stands || Date.now() - last.ms >= PARTS[name].restMs() - BIAS_MS;
  });
}

function follow(answer) {
  if (!isOpen() || answer.asked !== question.asked) return;
  shown = answer;
  setProps("chart-shown", { data: shown });
  const names = due().filter((name) => !question.due?.includes(name)); // those came with it
  const quick = names.filter((name) => name !== HOURLY); // it takes longest: nothing waits for it
  if (names.length) askParts(quick.length ? quick : names);
}

/* The last of a chart's parts, once the others are there. */
function followHourly(parts) {
  const rest = parts.asked === question.asked && parts.fresh.some((name) => name !== HOURLY);
  if (rest && due().includes(HOURLY)) askParts([HOURLY]);
}

/* What is awaited still is asked for again: Dash drops the answer to the earlier question. */
function askParts(names) {
  names.forEach((name) => awaited.add(name));
  setProps(plot.dataset.parts, { data: { ...shown, due: [...awaited], page: question.page } });
}

function turn(page) {
  question = { ...question, page };
  if (shown) askParts([ROWS]);
}

/* After a deed of the reader, which may have changed any part. */
function renew() {
  fresh = {};
  ask({}, { settled: Boolean(question.from), remember: false, unasked: true });
}

/* An answer with parts: those to an earlier question than what stands there are too late. */
function arrived(parts) {
  if (parts.asked < drawnAsked) return false;
  drawnAsked = parts.asked;
  awaited.clear();
  if (parts.asked === question.asked) {
    parts.fresh.forEach((name) => {
      fresh[name] = { ms: Date.now(), of: dependsOn(name) };
    });
  }
  Object.entries(parts.sheets).forEach(([id, nodes]) => draw(id, nodes));
  return true;
}

/* --- Controls: any element with data-set, and the native selects --- */

function set(field, value) {
  if (field === "range" && value === "custom") return onCustom.forEach((open) => open());
  if (field === "compare" && value === "other") return onOther.forEach((open) => open());
  const select = document.querySelector(`select[data-set="${field}"]`);
  const plain = select && select.dataset.default === value ? null : value;
  ask(field === "range" ? { range: value, from: null, to: null } : { [field]: plain || null });
}

document.addEventListener("click", (event) => {
  if (!isOpen()) return;
  const target = event.target.closest("button[data-set], [data-do], [data-from]");
  if (!target) return;
  const { set: field, value, do: deed, from, to, toggle } = target.dataset;
  if (field) set(field, toggle && question[field] === value ? null : value);
  else if (deed === "reset") reset();
  else if (deed === "jump") jump();
  else if (from) {
    ask({ from, to });
    plot.scrollIntoView({ block: "nearest" });
  }
});

document.addEventListener("change", (event) => {
  const select = event.target.closest("select[data-set]");
  if (isOpen() && select) set(select.dataset.set, select.value);
});

window.addEventListener("weir:theme", (event) => {
  if (isOpen()) ask({ theme: event.detail }, { settled: true, remember: false });
});

document.addEventListener("pointerdown", (event) => {
  held = isOpen() && Boolean(event.target.closest(".plot, .overview"));
});
["pointerup", "pointercancel"].forEach((name) =>
  document.addEventListener(name, () => {
    held = false;
  }),
);

/* --- The address --- */

const writeAddress = () => controls.writeAddress(question, IN_ADDRESS, "push");

/* Back and forward between views of one page. Registered before Dash's own listener, which would
     lay the whole page out anew. */
window.addEventListener("popstate", (event) => {
  if (!isOpen() || window.location.pathname !== plot.dataset.path) return;
  event.stopImmediatePropagation();
  ask(controls.fromAddress(IN_ADDRESS), { remember: false });
});

/* --- Opening --- */

function appeared(find) {
  const found = find();
  if (found) return Promise.resolve(found);
  return new Promise((resolve) => {
    const observer = new MutationObserver(() => {
      const element = find();
      if (!element) return;
      observer.disconnect();
      resolve(element);
    });
    observer.observe(document.body, { childList: true, subtree: true, attributes: true });
  });
}

async function listen(element) {
  const drawn = await appeared(() => {
    const inner = element.querySelector(".js-plotly-plot");
    return inner?.on ? inner : null;
  });
  if (listening.has(drawn)) return;
  listening.add(drawn);
  drawn.on("plotly_relayout", moved);
  drawn.on("plotly_doubleclick", reset);
}

/* What the other modules of the page build on. `plot` and `question` change: they are asked for. */
const currentPlot = () => plot;
const currentQuestion = () => question;
const range = () => (isOpen() && graph()?.layout ? axisRange().map(Date.parse) : null);

export {
  ask,
  currentPlot,
  currentQuestion,
  graph,
  isOpen,
  move,
  onAnswer,
  onCustom,
  onGlide,
  onOther,
  range,
  renew,
  reset,
  turn,
};

register("chart", {
  /* The first question of a page that was just laid out. */
  open: async (start) => {
    plot = await appeared(() => document.querySelector(`[data-device="${start.device}"]`));
    plot.dataset.path = window.location.pathname;
    question = { ...start, theme: theme(), width_px: widthPx(), asked: Date.now() };
    fresh = {};
    shown = null;
    awaited = new Set();
    drawnAsked = 0;
    at = null;
    listen(plot);
    controls.press(question);
    freshness.open({
      root: plot,
      notice: "chart-notice",
      retry: refresh,
      isNow: endsNow,
      zone: () => question.zone || plot.dataset.zone,
    });
    freshness.asked();
    return question;
  },

  /* Parts are there, with a refresh or after a chart; the overview among them is Dash's to hand on. */
  parts: (...answers) => {
    const changed = window.dash_clientside.callback_context.triggered.map((each) => each.prop_id);
    const refreshed = changed.includes("chart-parts.data");
    const parts = answers[refreshed ? 0 : 1];
    if (!isOpen() || !parts || !arrived(parts)) return noUpdate();
    if (!refreshed) followHourly(parts);
    return "overview" in parts ? parts.overview : noUpdate();
  },

  /* An answer is there: what it shows, or what went wrong. */
  answered: (shown, notice) => {
    if (!isOpen() || !(shown || notice)) return noUpdate();
    if (notice) {
      freshness.failed(notice);
      return noUpdate();
    }
    if (shown.asked === question.asked) {
      freshness.answered();
      if (!question.settled) at = [shown.from, shown.to];
      next(REFRESH_MS);
      afterPaint(() => follow(shown));
    }
    // An answer to what was asked before the reader moved the axis may have moved it back.
    if (moving && !same(axisRange(), moving)) move(...moving.map(Date.parse));
    onAnswer.forEach((listener) => listener(shown));
    return noUpdate();
  },
});
