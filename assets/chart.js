/* The view of a chart: what is asked of the server, when, and how it stands in the address.

   A chart is drawn by the server; here is only what the server can't know: the plot's width, where
   the reader dragged the axis, which button was pressed. All of it goes into one Store, the question,
   {device, range, from, to, metric, zone, theme, width_px, settled}; the answer comes as the figure. */
(function () {
  "use strict";
  const DEBOUNCE_MS = 120;
  const WIDTH_STEP_PX = 100;
  const IN_ADDRESS = ["range", "from", "to", "metric", "zone"];

  const listening = new WeakSet(); // graphs; one may serve two devices, one after the other
  let plot = null; // the element around the graph, marked data-ask with its question's id
  let question = null;
  let timer = 0;

  const isOpen = () => plot !== null && plot.isConnected;
  const graph = () => plot.querySelector(".js-plotly-plot");

  /* --- The plot's size and the axis' range --- */

  function widthPx() {
    const drawn = graph();
    const size = drawn && drawn._fullLayout && drawn._fullLayout._size;
    return Math.round(size ? size.w : plot.clientWidth - Number(plot.dataset.margins));
  }

  /* The server rounds widths up likewise: within a step the answer would be the same. */
  const steps = (px) => Math.ceil(px / WIDTH_STEP_PX);

  /* plotly.js writes instants as UTC without a zone: "2026-03-08 05:00:00.1234". */
  function instant(text) {
    return new Date(text.replace(" ", "T").slice(0, 23) + (text.length > 10 ? "Z" : "")).toISOString();
  }

  function axisRange() {
    const range = graph().layout.xaxis.range;
    return range && range.map(instant);
  }

  /* The range that the last answer was drawn for, as the figure carries it. */
  function answeredRange() {
    const meta = graph().layout.meta;
    return meta && meta.window.map(instant);
  }

  const same = (a, b) => Boolean(a && b) && a[0] === b[0] && a[1] === b[1];

  /* --- Asking --- */

  function ask(changes, { settled = false, remember = true } = {}) {
    clearTimeout(timer);
    question = { ...question, ...changes, settled, asked: Date.now() };
    window.dash_clientside.set_props(plot.dataset.ask, { data: question });
    press();
    if (remember) writeAddress();
  }

  /* After a drag, a pan or a resize: ask again once it has come to rest. */
  function moved() {
    clearTimeout(timer);
    timer = setTimeout(() => {
      if (!isOpen() || !graph()) return;
      const range = axisRange();
      const width_px = widthPx();
      if (range && !same(range, answeredRange())) {
        ask({ from: range[0], to: range[1], width_px }, { settled: true });
      } else if (steps(width_px) !== steps(question.width_px)) {
        ask({ width_px }, { settled: true, remember: false });
      }
    }, DEBOUNCE_MS);
  }

  const reset = () => ask({ from: null, to: null });

  /* --- Controls: any element with data-set, and the native select of zones --- */

  function press() {
    document.querySelectorAll("button[data-set]").forEach((button) => {
      const value = question[button.dataset.set];
      const pressed = value ? value === button.dataset.value : button.dataset.default === "true";
      button.setAttribute("aria-pressed", String(pressed));
    });
    document.querySelectorAll("select[data-set]").forEach((select) => {
      select.value = question[select.dataset.set] || "";
    });
  }

  function set(field, value) {
    ask(field === "range" ? { range: value, from: null, to: null } : { [field]: value || null });
  }

  document.addEventListener("click", (event) => {
    if (!isOpen()) return;
    const button = event.target.closest("button[data-set], button[data-do]");
    if (!button) return;
    if (button.dataset.set) set(button.dataset.set, button.dataset.value);
    if (button.dataset.do === "reset") reset();
    if (button.dataset.do === "retry") ask({}, { remember: false });
  });

  document.addEventListener("change", (event) => {
    const select = event.target.closest("select[data-set]");
    if (isOpen() && select) set(select.dataset.set, select.value);
  });

  window.addEventListener("weir:theme", (event) => {
    if (isOpen()) ask({ theme: event.detail }, { settled: true, remember: false });
  });

  /* --- The address --- */

  function writeAddress() {
    const url = new URL(window.location.href);
    IN_ADDRESS.forEach((name) => {
      if (question[name]) url.searchParams.set(name, question[name]);
      else url.searchParams.delete(name);
    });
    if (url.href !== window.location.href) window.history.pushState({}, "", url);
  }

  function fromAddress() {
    const said = new URLSearchParams(window.location.search);
    return Object.fromEntries(IN_ADDRESS.map((name) => [name, said.get(name)]));
  }

  /* Back and forward between views of one page. Registered before Dash's own listener, which would
     lay the whole page out anew. */
  window.addEventListener("popstate", (event) => {
    if (!isOpen() || window.location.pathname !== plot.dataset.path) return;
    event.stopImmediatePropagation();
    ask(fromAddress(), { remember: false });
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
      return inner && inner.on ? inner : null;
    });
    if (listening.has(drawn)) return;
    listening.add(drawn);
    drawn.on("plotly_relayout", moved);
    drawn.on("plotly_doubleclick", reset);
  }

  window.dash_clientside = window.dash_clientside || {};
  window.dash_clientside.chart = {
    /* The first question of a page that was just laid out. */
    open: async function (start) {
      plot = await appeared(() => document.querySelector(`[data-device="${start.device}"]`));
      plot.dataset.path = window.location.pathname;
      question = { ...start, theme: window.weirTheme(), width_px: widthPx(), asked: Date.now() };
      listen(plot);
      press();
      return question;
    },
  };
})();
