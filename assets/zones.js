/* The names of all time zones, added to each choice of a zone when the browser is idle. A page has
   only the default and the chosen one: six hundred more would delay its tiles. */
import { zoneNames } from "./site.js";

const EMPTY = "select.zone:not([data-filled])";
const later = window.requestIdleCallback || ((then) => setTimeout(then, 200));

function fill(select) {
  select.dataset.filled = "true";
  const chosen = select.value;
  const there = new Set([...select.options].map((option) => option.value));
  const missing = zoneNames.filter((name) => !there.has(name));
  select.append(...missing.map((name) => new Option(name, name)));
  select.value = chosen;
}

const fillAll = () => document.querySelectorAll(EMPTY).forEach(fill);

let coming = false;
new MutationObserver(() => {
  if (coming || !document.querySelector(EMPTY)) return;
  coming = true;
  later(
    () => {
      coming = false;
      fillAll();
    },
    { timeout: 2000 },
  );
}).observe(document.documentElement, { childList: true, subtree: true });

/* A reader who opens a choice earlier gets them at once. */
["pointerdown", "focusin"].forEach((name) =>
  document.addEventListener(name, ({ target }) => target.matches(EMPTY) && fill(target), true),
);
