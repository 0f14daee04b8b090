/* Keeps a page's controls and its address equal to the page's question: {name: value}, with null
   for defaults. A control is any button or select with data-set. */
import { viewOf, withView } from "./address.js";
import { keep } from "./site.js";

function press(question) {
  document.querySelectorAll("button[data-set]").forEach((button) => {
    const value = question[button.dataset.set];
    const own = button.dataset.value === "custom" && String(value).includes("..");
    const isZoomed = button.dataset.set === "range" && Boolean(question.from);
    const pressed = isZoomed
      ? false
      : value
        ? own || value === button.dataset.value
        : button.dataset.default === "true";
    button.setAttribute("aria-pressed", String(pressed));
  });
  document.querySelectorAll("select[data-set]").forEach((select) => {
    const setting = question[select.dataset.set];
    const value = String(setting).startsWith("device:") ? "other" : setting; // the comparison
    const there = value && [...select.options].some((option) => option.value === value);
    const chosen = there ? value : select.dataset.default || "";
    if (select.value !== chosen) select.value = chosen; // an open one stays as it is
  });
}

/* Adds the choice of a group to the controls, if there are groups. */
function groups(names, chosen) {
  if (!names.length) return [];
  const select = document.createElement("select");
  select.className = "button select";
  select.dataset.set = "group";
  select.setAttribute("aria-label", "Group");
  ["", ...names].forEach((name) => select.add(new Option(name || "All groups", name)));
  select.value = chosen || "";
  return [select];
}

/* `how`: "push" if the back button should return to the previous view, otherwise "replace". */
function writeAddress(question, names, how) {
  const href = withView(window.location.href, question, names);
  keep(question);
  if (href === window.location.href) return;
  window.history[how === "replace" ? "replaceState" : "pushState"]({}, "", href);
}

const fromAddress = (names) => viewOf(window.location.search, names);

export { fromAddress, groups, press, writeAddress };

/* A row of tabs that is wider than the screen shows its current one. */
const CURRENT = ".bar nav .current, .admin-tabs [aria-current], .segments > .current";
const shown = new WeakSet();

function showCurrent() {
  for (const tab of document.querySelectorAll(CURRENT)) {
    const row = tab.parentElement;
    if (shown.has(tab) || row.scrollWidth <= row.clientWidth) continue;
    shown.add(tab);
    const [outer, inner] = [row, tab].map((each) => each.getBoundingClientRect());
    row.scrollLeft += inner.left - outer.left - (outer.width - inner.width) / 2;
  }
}

let scrolling = 0;
new MutationObserver(() => {
  cancelAnimationFrame(scrolling);
  scrolling = requestAnimationFrame(showCurrent);
}).observe(document, { childList: true, subtree: true });
