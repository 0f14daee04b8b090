/* A chart by keyboard and wheel: a cursor that says what it stands on, zoom, pan and reset.
   Arrows move the cursor (with Shift ten rows), Home and End go to its ends, + and − zoom,
   [ and ] pan, R resets, Escape lets go. The wheel zooms where the plot has the focus or Ctrl is
   held: without either it scrolls the page. */
(function () {
  "use strict";
  const LINE = 2; // the place of the line, or the bars, among the traces
  const ZOOM = 0.6;
  const PAN = 0.2;
  const WHEEL = 0.0016;
  const SHORTEST_MS = 10000;
  const SAY_MS = 150;

  let cursorMs = null;
  let sayTimer = 0;

  const chart = window.weirChart;
  const utc = (text) => Date.parse(text.replace(" ", "T") + "Z");

  /* The rows in sight: [instant, index into the line]. A run's ends repeat its first and last. */
  function rows() {
    window.weirHover.ready(chart.graph());
    const line = chart.graph().data[LINE];
    const [from, to] = chart.range();
    const found = [];
    (line ? line.x : []).forEach((x, index) => {
      if (x === null || line.y[index] === null) return;
      const ms = utc(x);
      const last = found[found.length - 1];
      if (ms < from || ms > to || (last && line.customdata[last[1]] === line.customdata[index])) return;
      found.push([ms, index]);
    });
    return found;
  }

  function point(row) {
    cursorMs = row[0];
    const drawn = chart.graph();
    window.Plotly.Fx.hover(drawn, [{ curveNumber: LINE, pointNumber: row[1] }], ["xy"]);
    clearTimeout(sayTimer);
    sayTimer = setTimeout(() => say(drawn.data[LINE], row[1]), SAY_MS);
  }

  function say(line, index) {
    const words = line.customdata[index] || [];
    document.getElementById("chart-cursor").textContent = words.filter(Boolean).join(", ");
  }

  function nearest(found, ms) {
    return found.reduce(
      (best, row, index) => (Math.abs(row[0] - ms) < Math.abs(found[best][0] - ms) ? index : best),
      0,
    );
  }

  function step(by) {
    const found = rows();
    if (found.length === 0) return;
    const here = cursorMs === null ? (by > 0 ? -1 : found.length) : nearest(found, cursorMs);
    const there = cursorMs === null && Math.abs(by) === 1 ? Math.floor(found.length / 2) : here + by;
    point(found[Math.max(0, Math.min(found.length - 1, there))]);
  }

  function let_go() {
    cursorMs = null;
    clearTimeout(sayTimer);
    window.Plotly.Fx.unhover(chart.graph());
    document.getElementById("chart-cursor").textContent = "";
  }

  /* An embed may hold its range still. */
  const isStill = () => chart.plot().dataset.still === "true";

  function zoom(factor, aboutMs) {
    if (isStill()) return;
    const [from, to] = chart.range();
    const about = aboutMs === undefined ? (cursorMs ?? (from + to) / 2) : aboutMs;
    if ((to - from) * factor < SHORTEST_MS) return;
    chart.move(about - (about - from) * factor, about + (to - about) * factor);
  }

  function pan(by) {
    if (isStill()) return;
    const [from, to] = chart.range();
    chart.move(from + (to - from) * by, to + (to - from) * by);
  }

  const KEYS = {
    ArrowLeft: (event) => step(event.shiftKey ? -10 : -1),
    ArrowRight: (event) => step(event.shiftKey ? 10 : 1),
    Home: () => step(-Infinity),
    End: () => step(Infinity),
    "+": () => zoom(ZOOM),
    "=": () => zoom(ZOOM),
    "-": () => zoom(1 / ZOOM),
    "−": () => zoom(1 / ZOOM),
    "[": () => pan(-PAN),
    "]": () => pan(PAN),
    r: () => chart.reset(),
    R: () => chart.reset(),
    Escape: let_go,
  };

  const ready = () => chart.isOpen() && chart.graph() && window.Plotly && chart.range();

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !ready()) return;
    if (!event.target.closest(".plot") || event.target.closest("button")) return;
    const act = KEYS[event.key];
    if (!act) return;
    event.preventDefault();
    act(event);
  });

  document.addEventListener(
    "wheel",
    (event) => {
      if (!ready() || !event.target.closest(".plot")) return;
      const focused = chart.plot().contains(document.activeElement);
      if (isStill() || (!focused && !event.ctrlKey && !event.metaKey)) return;
      event.preventDefault();
      const area = chart.plot().querySelector(".nsewdrag").getBoundingClientRect();
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

  /* Where the cursor stood it stands again. */
  chart.onAnswer.push(() => {
    if (cursorMs === null || !ready()) return;
    requestAnimationFrame(() => {
      const found = rows();
      if (found.length && cursorMs !== null) point(found[nearest(found, cursorMs)]);
    });
  });
})();
