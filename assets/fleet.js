/* The wall of tiles. The server decides every word and shape (components/fleet/board.py); here they
   are drawn, kept in step with the address, and asked for anew.

   What is asked goes into one Store, the question: {window, q, status, group, sort, page, zone,
   units, held, asked}; the answer comes as one Store, the board. Tiles are kept by device id: a
   refresh changes what differs and moves nothing while the reader is among them. */
(function () {
  "use strict";
  const SVG = "http://www.w3.org/2000/svg";
  const IN_ADDRESS = ["window", "q", "status", "group", "sort", "page", "zone", "units"];
  const REFRESH_MS = 15000;
  const JITTER = 0.2;
  const PATIENCE_MS = 20000; // without an answer: something between here and the server is broken
  const STALE_MS = 45000;
  const SEARCH_MS = 150;
  const TOUCH_MS = 20000; // a finger that was on the wall is taken to be coming back
  const MOST_HURRIED = 60; // answers in a row that asked for the next at once

  let page = null; // the page's root element, while it is open
  let question = {};
  let board = null; // the last good answer
  let shownView = "";
  let updatedMs = 0;
  let trouble = "";
  let hurried = 0;
  let touchedMs = 0;
  let timer = 0;
  let searchTimer = 0;
  const tiles = new Map(); // device id → {item, parts, last}

  const byId = (id) => document.getElementById(id);
  const isOpen = () => page !== null && page.isConnected;

  function element(tag, className, parent) {
    const made = document.createElement(tag);
    if (className) made.className = className;
    if (parent) parent.append(made);
    return made;
  }

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
    const link = element("a", "tile", item);
    const head = element("span", "tile-head", link);
    const label = element("span", "tile-label", head);
    const state = element("span", "tile-state", head);
    const sub = element("span", "tile-sub", link);
    const serial = element("span", "tile-serial", sub);
    const seen = element("span", "tile-seen", sub);
    const plot = element("span", "tile-plot", link);
    const spark = picture("spark", ["gaps", "band", "line"], plot);
    const note = element("span", "tile-note", plot);
    const strip = picture("strip", ["track", "full", "part"], link);
    const numbers = element("span", "tile-numbers", link);
    const triples = [0, 1, 2].map(() => {
      const one = element("span", "tile-number", numbers);
      return { value: element("b", "", one), name: element("span", "", one) };
    });
    // What is seen is told to a screen reader in one sentence.
    [head, sub, plot, numbers].forEach((part) => part.setAttribute("aria-hidden", "true"));
    const said = element("span", "sr-only", link);
    return { item, link, said, label, state, serial, seen, plot, spark, note, strip, triples, last: {} };
  }

  /* `change` runs only where the part of the tile that it shows differs from what is shown. */
  function differs(tile, name, value, change) {
    const key = typeof value === "string" ? value : JSON.stringify(value);
    if (tile.last[name] === key) return;
    change(value);
    tile.last[name] = key;
  }

  function text(tile, name, node, value) {
    differs(tile, name, value, (words) => (node.textContent = words));
  }

  function drawTile(tile, told) {
    text(tile, "label", tile.label, told.label);
    text(tile, "serial", tile.serial, told.serial);
    text(tile, "seen", tile.seen, told.seen);
    text(tile, "state", tile.state, `${told.shape} ${told.word}`);
    text(tile, "note", tile.note, told.note);
    differs(tile, "seen_at", told.seen_at, (at) => (tile.seen.title = at));
    differs(tile, "kind", told.state, (state) => (tile.link.dataset.state = state));
    differs(tile, "href", told.href, (href) => (tile.link.href = href));
    text(tile, "summary", tile.said, told.summary);
    told.numbers.forEach(([value, name, emphasis], index) => {
      const { value: number, name: meaning } = tile.triples[index];
      text(tile, `value${index}`, number, value);
      text(tile, `name${index}`, meaning, name);
      differs(tile, `emphasis${index}`, emphasis, (word) => (number.className = word));
    });
    const same = tile.view === shownView;
    drawPaths(tile, "spark", tile.spark, told.spark, same && !told.note);
    drawPaths(tile, "strip", tile.strip, told.strip, same);
    tile.view = shownView;
    differs(tile, "pending", String(!told.spark && !told.note), (pending) => {
      tile.plot.dataset.pending = pending === "true" && !tile.last.spark;
    });
  }

  /* What wasn't asked for in time leaves standing what is there, of the same view. */
  function drawPaths(tile, name, into, told, stand) {
    if (!told && stand) return;
    differs(tile, name, told || "", () => {
      const [width, ...paths] = told || [1, "", "", ""];
      into.svg.setAttribute("viewBox", `0 0 ${width} 100`);
      into.paths.forEach((path, index) => path.setAttribute("d", paths[index]));
    });
  }

  /* One tile that can't be drawn says so, and is alone with it. */
  function drawBroken(tile, told) {
    tile.last = {};
    tile.link.dataset.state = "unknown";
    tile.label.textContent = String((told && told.label) || "A device");
    tile.state.textContent = "◌ Not shown";
    tile.note.textContent = "This tile can’t be drawn.";
    tile.said.textContent = `${tile.label.textContent}. This tile can’t be drawn.`;
  }

  /* --- The wall --- */

  function tileOf(id) {
    if (!tiles.has(id)) tiles.set(id, newTile(id));
    return tiles.get(id);
  }

  function drawWall(told) {
    const wall = byId("fleet-wall");
    const focused = document.activeElement;
    const shown = new Set();
    told.forEach((each, index) => {
      const id = String(each && each.id ? each.id : `broken-${index}`);
      const tile = tileOf(id);
      shown.add(id);
      try {
        drawTile(tile, each);
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

  /* --- Around the wall --- */

  function replace(id, made) {
    byId(id).replaceChildren(...made);
  }

  /* Rebuilt only where something differs, so that a focused button stays. */
  const built = {};
  function rebuild(id, told, make) {
    const key = JSON.stringify(told);
    const container = byId(id);
    if (built[id] === key && container.childElementCount) return;
    const hadFocus = container.contains(document.activeElement)
      ? [...container.querySelectorAll("button, select")].indexOf(document.activeElement)
      : -1;
    container.replaceChildren(...make(told));
    built[id] = key;
    if (hadFocus >= 0) {
      const again = container.querySelectorAll("button, select")[hadFocus];
      if (again) again.focus({ preventScroll: true });
    }
  }

  /* Lines break between the parts of a note, not within one. */
  function unbroken(note) {
    return note.split(" · ").map((part) => part.replaceAll(" ", "\u00a0")).join("\u00a0· ");
  }

  function totals(told) {
    return told.map(({ name, label, value, note }) => {
      const total = element("div", "total");
      total.dataset.name = name;
      element("dt", "", total).textContent = label;
      element("dd", "total-value", total).textContent = value;
      const parted = note.includes(" · ");
      element("dd", "total-note", total).textContent = parted ? unbroken(note) : note;
      return total;
    });
  }

  function chips(told) {
    return told.map(({ name, shape, word, count, pressed }) => {
      const chip = element("button", "chip");
      chip.type = "button";
      chip.dataset.status = name;
      chip.dataset.state = name;
      chip.setAttribute("aria-pressed", String(pressed));
      const sign = element("span", "shape", chip);
      sign.textContent = shape;
      sign.setAttribute("aria-hidden", "true");
      chip.append(` ${word} ${count}`);
      return chip;
    });
  }

  function pager({ page: number, last, words }) {
    const turn = (sign, name, to) => {
      const button = element("button", "button icon");
      button.type = "button";
      button.textContent = sign;
      button.disabled = to < 1 || to > last;
      button.dataset.page = String(to);
      button.setAttribute("aria-label", name);
      return button;
    };
    const where = element("span");
    where.textContent = words;
    return [turn("‹", "Previous page", number - 1), where, turn("›", "Next page", number + 1)];
  }

  function groups(names) {
    if (names.length === 0) return [];
    const select = element("select", "button select");
    select.dataset.set = "group";
    select.setAttribute("aria-label", "Group");
    ["", ...names].forEach((name) => {
      const option = element("option", "", select);
      option.value = name;
      option.textContent = name || "All groups";
    });
    select.value = question.group || "";
    return [select];
  }

  function empty(told) {
    const box = byId("fleet-empty");
    box.hidden = !told.empty;
    if (!told.empty) return;
    const words = element("p");
    words.textContent = told.empty;
    const filtered = ["q", "status", "group"].some((name) => question[name]);
    const clear = element("button", "button");
    clear.type = "button";
    clear.dataset.do = "clear";
    clear.textContent = "Show all devices";
    replace("fleet-empty", filtered ? [words, clear] : [words]);
  }

  function press() {
    page.querySelectorAll("button[data-set]").forEach((button) => {
      const value = question[button.dataset.set];
      const pressed = value ? value === button.dataset.value : button.dataset.default === "true";
      button.setAttribute("aria-pressed", String(pressed));
    });
    document.querySelectorAll("select[data-set]").forEach((select) => {
      const chosen = question[select.dataset.set] || select.dataset.default || "";
      if (select.value !== chosen) select.value = chosen;
    });
  }

  /* --- How fresh it is --- */

  const UNITS = [[86400, "d"], [3600, "h"], [60, "min"], [1, "s"]];
  function since(ms) {
    const seconds = Math.max(0, Math.round((Date.now() - ms) / 1000));
    if (seconds < 5) return "just now";
    const [size, unit] = UNITS.find(([length]) => seconds >= length) || [1, "s"];
    return `${Math.floor(seconds / size)} ${unit} ago`;
  }

  function tell() {
    if (!isOpen()) return;
    const old = updatedMs > 0 && Date.now() - updatedMs > STALE_MS;
    const bad = Boolean(trouble) || old;
    page.dataset.stale = String(bad && updatedMs > 0);
    const live = byId("fleet-live");
    live.dataset.state = bad ? "stale" : updatedMs ? "live" : "loading";
    live.textContent = updatedMs
      ? `${bad ? "Stale" : "Live"} · updated ${since(updatedMs)}`
      : bad ? "No answer" : "Loading";
    if (board) live.title = board.at_words;
    notice(bad);
  }

  function notice(bad) {
    const parts = [];
    if (trouble) parts.push(trouble);
    else if (bad) parts.push("No news from the service.");
    else if (board && board.trouble) parts.push(`${board.trouble} Some of this page is older.`);
    if (bad && board) parts.push(`Shown is ${board.at_words}. Trying again.`);
    else if (bad) parts.push("Trying again.");
    const box = byId("fleet-notice");
    const words = parts.join(" ");
    if (box.hidden === !words && box.dataset.words === words) return;
    box.dataset.words = words;
    box.hidden = !words;
    const again = element("button", "button");
    again.type = "button";
    again.dataset.do = "retry";
    again.textContent = "Try now";
    const said = element("span");
    said.textContent = words;
    box.replaceChildren(said, ...(bad ? [again] : []));
  }

  /* --- Asking --- */

  function engaged() {
    const wall = byId("fleet-wall");
    return (
      wall.matches(":hover") ||
      wall.contains(document.activeElement) ||
      Date.now() - touchedMs < TOUCH_MS
    );
  }

  const viewOf = (asked) => JSON.stringify(IN_ADDRESS.map((name) => asked[name] || null));

  function ask(changes = {}, { remember = "push", hold = false } = {}) {
    clearTimeout(timer);
    clearTimeout(searchTimer);
    question = { ...question, ...changes, asked: Date.now() };
    const keeps = hold && board !== null && viewOf(question) === shownView;
    question.held = keeps ? board.tiles.map((tile) => tile && tile.id) : [];
    if (viewOf(question) !== shownView) page.dataset.waiting = "true";
    press();
    window.dash_clientside.set_props("fleet-question", { data: question });
    if (remember) writeAddress(remember);
    timer = setTimeout(unanswered, PATIENCE_MS);
  }

  function refresh() {
    if (!isOpen()) return;
    if (document.hidden) return; // until it is seen again
    ask({}, { remember: "", hold: engaged() || hurried > 0 });
  }

  function unanswered() {
    if (!isOpen() || document.hidden) return;
    trouble = "The dashboard doesn’t answer.";
    tell();
    refresh();
  }

  function next(afterMs) {
    clearTimeout(timer);
    hurried = afterMs < REFRESH_MS ? hurried + 1 : 0;
    const pause = hurried > MOST_HURRIED ? REFRESH_MS : afterMs;
    const spread = pause < REFRESH_MS ? 1 : 1 - JITTER + 2 * JITTER * Math.random();
    timer = setTimeout(refresh, pause * spread);
  }

  function set(field, value) {
    const isDefault = (element) => element && element.dataset.default;
    const control = document.querySelector(`select[data-set="${field}"]`);
    const usual = isDefault(control) === value;
    const button = document.querySelector(`button[data-set="${field}"][data-value="${value}"]`);
    const plain = usual || (button && button.dataset.default === "true");
    ask({ [field]: plain ? null : value || null, page: null });
  }

  function toggle(status) {
    const chosen = new Set((question.status || "").split(",").filter(Boolean));
    if (!chosen.delete(status)) chosen.add(status);
    ask({ status: [...chosen].join(",") || null, page: null });
  }

  function clear() {
    window.dash_clientside.set_props("fleet-search", { value: "" });
    ask({ q: null, status: null, group: null, page: null });
  }

  /* --- The address --- */

  function writeAddress(how) {
    const url = new URL(window.location.href);
    IN_ADDRESS.forEach((name) => {
      if (question[name]) url.searchParams.set(name, question[name]);
      else url.searchParams.delete(name);
    });
    if (url.href === window.location.href) return;
    window.history[how === "replace" ? "replaceState" : "pushState"]({}, "", url);
  }

  function fromAddress() {
    const said = new URLSearchParams(window.location.search);
    return Object.fromEntries(IN_ADDRESS.map((name) => [name, said.get(name)]));
  }

  /* Back and forward between views of the wall. Registered before Dash's own listener, which would
     lay the whole page out anew. */
  window.addEventListener("popstate", (event) => {
    if (!isOpen() || window.location.pathname !== page.dataset.path) return;
    event.stopImmediatePropagation();
    const view = fromAddress();
    window.dash_clientside.set_props("fleet-search", { value: view.q || "" });
    ask(view, { remember: "" });
  });

  /* --- What the reader does --- */

  const plainClick = (event) =>
    event.button === 0 && !(event.metaKey || event.ctrlKey || event.shiftKey || event.altKey);

  /* To another page of the dashboard without loading it anew, as Dash's own links do. */
  function go(event, link) {
    if (!plainClick(event)) return;
    event.preventDefault();
    window.history.pushState({}, "", link.getAttribute("href"));
    window.dispatchEvent(new CustomEvent("_dashprivate_pushstate"));
    window.scrollTo(0, 0);
  }

  document.addEventListener("click", (event) => {
    if (!isOpen()) return;
    const link = event.target.closest("a.tile");
    if (link) return go(event, link);
    const button = event.target.closest("button");
    if (!button || !page.contains(button)) return;
    const { set: field, value, status, page: number, do: deed } = button.dataset;
    if (field) set(field, value);
    else if (status) toggle(status);
    else if (number) {
      ask({ page: Number(number) > 1 ? number : null });
      window.scrollTo(0, 0);
    } else if (deed === "clear") clear();
    else if (deed === "retry") ask({}, { remember: "" });
  });

  document.addEventListener("change", (event) => {
    const select = event.target.closest("select[data-set]");
    if (isOpen() && select) set(select.dataset.set, select.value);
  });

  document.addEventListener("input", (event) => {
    if (!isOpen() || event.target.id !== "fleet-search") return;
    clearTimeout(searchTimer);
    const q = event.target.value.trim() || null;
    searchTimer = setTimeout(() => {
      if (q !== (question.q || null)) ask({ q, page: null }, { remember: "replace" });
    }, SEARCH_MS);
  });

  document.addEventListener("keydown", (event) => {
    if (!isOpen() || event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest("input, textarea, select, [contenteditable]")) return;
    event.preventDefault();
    byId("fleet-search").focus();
    byId("fleet-search").select();
  });

  document.addEventListener(
    "touchmove",
    (event) => {
      if (isOpen() && event.target.closest("#fleet-wall")) touchedMs = Date.now();
    },
    { passive: true },
  );

  document.addEventListener("visibilitychange", () => {
    if (!isOpen() || document.hidden) return;
    tell();
    refresh();
  });

  setInterval(() => {
    if (!document.hidden) tell();
  }, 1000);

  /* --- Answers --- */

  /* A page that was just laid out: nothing of an earlier one holds. */
  function open(root) {
    page = root;
    page.dataset.path = window.location.pathname;
    question = fromAddress();
    board = null;
    shownView = "";
    updatedMs = 0;
    trouble = "";
    tiles.clear();
    Object.keys(built).forEach((id) => delete built[id]);
    press();
    tell();
  }

  function drawBoard(told) {
    performance.mark("fleet:data");
    board = told;
    Object.assign(question, told.view); // as the server understood it
    shownView = viewOf(told.view);
    drawWall(told.tiles);
    rebuild("fleet-totals", told.totals, totals);
    rebuild("fleet-chips", told.chips, chips);
    rebuild("fleet-pager", told.pages, pager);
    rebuild("fleet-group", told.groups, groups);
    empty(told);
    const said = byId("fleet-said");
    if (said.textContent !== told.found) said.textContent = told.found;
    page.dataset.ready = "true";
    performance.measure("fleet:draw", "fleet:data");
    requestAnimationFrame(() =>
      setTimeout(() => performance.measure("fleet:paint", "fleet:data"), 0),
    );
  }

  function settle(told) {
    delete page.dataset.waiting;
    if (told.error) {
      trouble = told.error;
    } else {
      trouble = "";
      updatedMs = Date.now();
      drawBoard(told);
    }
    tell();
    next(told.error ? REFRESH_MS : told.again_ms);
  }

  window.dash_clientside = window.dash_clientside || {};
  window.dash_clientside.fleet = {
    draw: function (told) {
      const root = byId("fleet");
      if (root !== page) open(root);
      if (told) settle(told);
      return window.dash_clientside.no_update;
    },
  };
})();
