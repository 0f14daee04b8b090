/* The view of a chart: what is requested from the server, when, and how it is written to the
   address.

   The server draws the chart. This script adds what the server can't know: the plot's width,
   where the reader dragged the axis, which button was pressed, whether the page is visible. All of
   it goes into one Store, the question, {device, range, from, to, metric, zone, units, theme,
   width_px, settled}. The reply is the figure, and the state of the chart: {from, to, zone, units,
   request_id}.

   The other parts of the page have intervals of their own. A refresh includes the parts that are
   due. After a chart that the reader requested they come with a second reply, once the chart is
   painted. */
import * as controls from "./controls.js";
import { noUpdate, register, setProps } from "./dash.js";
import { appeared } from "./element.js";
import * as freshness from "./freshness.js";
import { draw } from "./html-json.js";
import { dependsOn, dueParts } from "./part-schedule.js";
import { covers, plotlyMs } from "./scales.js";
import { theme } from "./site.js";

const DEBOUNCE_MS = 120;
const WIDTH_STEP_PX = 100;
const IN_ADDRESS = ["range", "from", "to", "metric", "zone", "units", "compare", "usual"];
const REFRESH_MS = 15000;
const JITTER = 0.2;
const REST_MS = 300; // after a pan: then the texts follow
const HOURLY = "hourly";
const ROWS = "device-rows"; // the card whose page the reader changes
const NOW_MS = 120000; // a window that ends this close to now counts as current

const listening = new WeakSet(); // graphs; one may show two devices in turn
let plot = null; // the element around the graph, with its question's id in data-question
let question = null;
let at = null; // the range that the axis shows, if known
let moving = null; // where the reader has moved the axis, until it is at rest
let timer = 0;
let nextTimer = 0;
let held = false; // a pointer is down on the plot: nothing may be redrawn
let live = false; // the last question was a refresh, not the reader's
let fresh = {}; // as `dueParts` takes it
let shown = null; // the state of the chart in its last reply
let awaited = new Set(); // parts that were requested after a chart and haven't arrived yet
let drawnAsked = 0; // the question of the shown parts

const isOpen = () => plot?.isConnected;
const graph = () => plot.querySelector(".js-plotly-plot");

/* Listeners of other modules: for a reply, a pan, a custom range, the choice of another device. */
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

/* The server rounds widths up in the same way: within a step the reply would be the same. */
const steps = (px) => Math.ceil(px / WIDTH_STEP_PX);

const instant = (text) => new Date(plotlyMs(text)).toISOString();

function axisRange() {
  const range = graph().layout.xaxis.range;
  return range?.map(instant);
}

/* The last reply's window, and the range of its rows. */
function responseRange(part) {
  const drawn = graph();
  const meta = drawn?.layout?.meta;
  return meta?.[part]?.map(instant);
}

const same = (a, b) => Boolean(a && b) && a[0] === b[0] && a[1] === b[1];

/* Whether the rows of the last reply cover that range. */
function covered(range) {
  const [drawn, have] = ["window", "have"].map((part) =>
    (responseRange(part) || []).map(Date.parse),
  );
  if (!drawn.length || !have.length) return false;
  return covers({ drawn, have, nowMs: Date.now() }, range.map(Date.parse));
}

/* Moves the axis as a drag does; loaded rows are shown at once. */
function move(fromMs, toMs) {
  const range = [fromMs, toMs].map((ms) => new Date(ms).toISOString().slice(0, 23));
  return window.Plotly.relayout(graph(), { "xaxis.range": range });
}

/* --- Requests --- */

function request(changes, { settled = false, remember = true, unasked = false } = {}) {
  clearTimeout(timer);
  clearTimeout(nextTimer);
  moving = null;
  live = unasked;
  const page = "from" in changes || "range" in changes ? 1 : question.page;
  question = { ...question, ...changes, settled, page, due: null, request_id: Date.now() };
  if (live) question.due = due();
  setProps(plot.dataset.question, { data: question });
  controls.press(question);
  if (remember) writeAddress();
  freshness.requested({ changed: !unasked });
}

/* After a drag, a pan or a resize: request again once it is at rest. */
function moved() {
  if (!isOpen() || !graph()) return;
  const range = axisRange();
  if (moving && same(range, at)) return; // a pan extended the y axis
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

/* A change by the reader. A reply in another theme or width leaves the axis unchanged, even though
   its window moves with the clock. */
const hasMoved = (range) => !same(range, at || responseRange("window"));

function settle(glided) {
  moving = null;
  const range = axisRange();
  const width_px = widthPx();
  if (range && (glided || hasMoved(range))) {
    at = range;
    request({ from: range[0], to: range[1], width_px }, { settled: true, remember: !glided });
  } else if (steps(width_px) !== steps(question.width_px)) {
    request({ width_px }, { settled: true, remember: false });
  }
}

/* A pan within the loaded rows: the chart is right already. */
function glide(range) {
  at = range;
  question = { ...question, from: range[0], to: range[1] };
  setProps("chart-reset", { disabled: false });
  writeAddress();
  onGlide.forEach((listener) => listener(range));
}

const reset = () => request({ from: null, to: null });

/* A preset ends at the last reading; a custom range may stay empty. */
function jump() {
  const range = String(question.range).includes("..") ? null : question.range;
  request({ range, from: null, to: null });
}

/* --- Live --- */

const endsNow = () => {
  const range = at || responseRange("window");
  return Boolean(range) && Date.parse(range[1]) >= Date.now() - NOW_MS;
};

function refresh() {
  if (!isOpen() || document.hidden) return; // until it is visible again
  if (held || moving) return next(1000);
  request({}, { settled: Boolean(question.from), remember: false, unasked: true });
}

function next(afterMs) {
  clearTimeout(nextTimer);
  nextTimer = setTimeout(refresh, afterMs * (1 - JITTER + 2 * JITTER * Math.random()));
}

/* --- The parts beside the chart --- */

/* Runs after the frame that shows the chart, so that the chart isn't delayed. */
const afterPaint = (then) => requestAnimationFrame(() => setTimeout(then, 0));

function due() {
  if (!plot.dataset.parts) return [];
  return dueParts({ fresh, question, shown, live, nowMs: Date.now() });
}

function follow(answer) {
  if (!isOpen() || answer.request_id !== question.request_id) return;
  shown = answer;
  setProps("chart-shown", { data: shown });
  const names = due().filter((name) => !question.due?.includes(name)); // those came with it
  const quick = names.filter((name) => name !== HOURLY); // it is slow: nothing waits for it
  if (names.length) askParts(quick.length ? quick : names);
}

/* The last of the parts, after the others have arrived. */
function followHourly(parts) {
  const rest =
    parts.request_id === question.request_id && parts.fresh.some((name) => name !== HOURLY);
  if (rest && due().includes(HOURLY)) askParts([HOURLY]);
}

/* Parts that are still awaited are requested again, since Dash drops the reply to the earlier
   request. */
function askParts(names) {
  names.forEach((name) => awaited.add(name));
  setProps(plot.dataset.parts, { data: { ...shown, due: [...awaited], page: question.page } });
}

function turn(page) {
  question = { ...question, page };
  if (shown) askParts([ROWS]);
}

/* After a change by the reader, which may affect any part. */
function renew() {
  fresh = {};
  request({}, { settled: Boolean(question.from), remember: false, unasked: true });
}

/* A reply with parts. Those of an earlier question than the shown ones are too late. */
function arrived(parts) {
  if (parts.request_id < drawnAsked) return false;
  drawnAsked = parts.request_id;
  awaited.clear();
  if (parts.request_id === question.request_id) {
    parts.fresh.forEach((name) => {
      fresh[name] = { ms: Date.now(), of: dependsOn(name, question) };
    });
  }
  Object.entries(parts.nodes).forEach(([id, nodes]) => draw(id, nodes));
  return true;
}

/* --- Controls: any element with data-set, and native selects --- */

function set(field, value) {
  if (field === "range" && value === "custom") return onCustom.forEach((open) => open());
  if (field === "compare" && value === "other") return onOther.forEach((open) => open());
  const select = document.querySelector(`select[data-set="${field}"]`);
  const plain = select && select.dataset.default === value ? null : value;
  request(field === "range" ? { range: value, from: null, to: null } : { [field]: plain || null });
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
    request({ from, to });
    plot.scrollIntoView({ block: "nearest" });
  }
});

document.addEventListener("change", (event) => {
  const select = event.target.closest("select[data-set]");
  if (isOpen() && select) set(select.dataset.set, select.value);
});

window.addEventListener("weir:theme", (event) => {
  if (isOpen()) request({ theme: event.detail }, { settled: true, remember: false });
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
   build the whole page again. */
window.addEventListener("popstate", (event) => {
  if (!isOpen() || window.location.pathname !== plot.dataset.path) return;
  event.stopImmediatePropagation();
  request(controls.fromAddress(IN_ADDRESS), { remember: false });
});

/* --- Start --- */

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

/* For the other modules of the page. `plot` and `question` change, so they are functions. */
const currentPlot = () => plot;
const currentQuestion = () => question;
const range = () => (isOpen() && graph()?.layout ? axisRange().map(Date.parse) : null);

export {
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
  request,
  reset,
  turn,
};

register("chart", {
  /* The first request of a new page. */
  open: async (start) => {
    plot = await appeared(() => document.querySelector(`[data-device="${start.device}"]`));
    plot.dataset.path = window.location.pathname;
    question = { ...start, theme: theme(), width_px: widthPx(), request_id: Date.now() };
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
    freshness.requested();
    return question;
  },

  /* Parts have arrived, with a refresh or after a chart; Dash passes on those of the overview. */
  parts: (...answers) => {
    const changed = window.dash_clientside.callback_context.triggered.map((each) => each.prop_id);
    const refreshed = changed.includes("chart-parts.data");
    const parts = answers[refreshed ? 0 : 1];
    if (!isOpen() || !parts || !arrived(parts)) return noUpdate();
    if (!refreshed) followHourly(parts);
    return "overview" in parts ? parts.overview : noUpdate();
  },

  /* A reply has arrived: the chart's state, or an error. */
  received: (shown, notice) => {
    if (!isOpen() || !(shown || notice)) return noUpdate();
    if (notice) {
      freshness.failed(notice);
      return noUpdate();
    }
    if (shown.request_id === question.request_id) {
      freshness.received();
      if (!question.settled) at = [shown.from, shown.to];
      next(REFRESH_MS);
      afterPaint(() => follow(shown));
    }
    // A reply to a request from before the reader moved the axis may have moved it back.
    if (moving && !same(axisRange(), moving)) move(...moving.map(Date.parse));
    onAnswer.forEach((listener) => listener(shown));
    return noUpdate();
  },
});
