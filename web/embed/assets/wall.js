/* Tiles in a frame: asked for, drawn (assets/fleet-tiles.js), asked for anew. The server says every
   word of them (web/embed/tiles.py). The question: {window, zone, units, drawn, asked}. */
(function () {
  "use strict";
  const JITTER = 0.2;
  const STALE_MS = 45000;
  const PATIENCE_MS = 20000;
  const HURRY_MS = 5000; // a shorter pause isn't worth spreading
  const MOST_HURRIED = 40; // answers in a row that asked for the next at once
  const USUAL_MS = 15000;

  let root = null;
  let question = {};
  let board = null;
  let updatedMs = 0;
  let trouble = "";
  let hurried = 0;
  let timer = 0;

  const byId = (id) => document.getElementById(id);
  const isOpen = () => root !== null && root.isConnected;

  function ask(changes = {}) {
    clearTimeout(timer);
    question = { ...question, ...changes, drawn: window.weirTiles.marks(), asked: Date.now() };
    window.weirControls.press(question);
    window.dash_clientside.set_props("wall-question", { data: question });
    timer = setTimeout(unanswered, PATIENCE_MS);
  }

  function refresh() {
    if (isOpen() && !document.hidden) ask();
  }

  function unanswered() {
    if (!isOpen() || document.hidden) return;
    trouble = "The dashboard doesn’t answer.";
    tell();
    refresh();
  }

  function next(afterMs) {
    clearTimeout(timer);
    hurried = afterMs < HURRY_MS ? hurried + 1 : 0;
    const pause = hurried > MOST_HURRIED ? USUAL_MS : afterMs;
    const spread = pause < HURRY_MS ? 1 : 1 - JITTER + 2 * JITTER * Math.random();
    timer = setTimeout(refresh, pause * spread);
  }

  function tell() {
    if (!isOpen()) return;
    const bad = Boolean(trouble) || (updatedMs > 0 && Date.now() - updatedMs > STALE_MS);
    root.dataset.stale = String(bad && updatedMs > 0);
    const live = byId("wall-live");
    const age = updatedMs ? window.weirAgo(updatedMs) : "";
    live.dataset.state = bad ? "stale" : updatedMs ? "live" : "loading";
    live.textContent = updatedMs ? `${bad ? "Stale" : "Live"} · updated ${age}` : bad ? "No answer" : "Loading";
    if (board) live.title = board.at_words;
    const words = trouble ? `${trouble} ${updatedMs ? `Shown is what was known ${age}. ` : ""}Trying again.` : (board && (board.trouble || board.empty)) || "";
    const notice = byId("wall-notice");
    if (notice.textContent !== words) notice.textContent = words;
    notice.hidden = !words;
  }

  function settle(told) {
    if (told.error) {
      trouble = told.error;
      next(USUAL_MS);
    } else {
      trouble = "";
      board = told;
      updatedMs = Date.now();
      window.weirTiles.draw(byId("wall-tiles"), told.tiles, told.view);
      if (byId("wall-line").textContent !== told.line) byId("wall-line").textContent = told.line;
      root.dataset.ready = "true";
      next(told.again_ms);
    }
    tell();
  }

  document.addEventListener("click", (event) => {
    const button = isOpen() && event.target.closest("button[data-set]");
    if (!button) return;
    const { set: field, value, default: usual } = button.dataset;
    ask({ [field]: usual === "true" ? null : value });
  });

  document.addEventListener("change", (event) => {
    const select = isOpen() && event.target.closest("select[data-set]");
    if (!select) return;
    const { set: field, default: usual } = select.dataset;
    ask({ [field]: select.value === usual ? null : select.value });
  });

  document.addEventListener("visibilitychange", () => {
    tell();
    refresh();
  });

  setInterval(() => {
    if (!document.hidden) tell();
  }, 1000);

  window.dash_clientside = window.dash_clientside || {};
  window.dash_clientside.embedWall = {
    draw: function (told) {
      if (!isOpen()) {
        root = byId("wall");
        window.weirControls.press(question);
        tell();
      }
      if (told) settle(told);
      return window.dash_clientside.no_update;
    },
  };
})();
