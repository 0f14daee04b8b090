/* A page's controls and its address say the same, the page's question: {name: value}, where what is
   usual is null. A control is any button or select with data-set. */
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
    const asked = question[select.dataset.set];
    const value = String(asked).startsWith("device:") ? "other" : asked; // what it is compared with
    const there = value && [...select.options].some((option) => option.value === value);
    const chosen = there ? value : select.dataset.default || "";
    if (select.value !== chosen) select.value = chosen; // one that is open stays as it is
  });
}

/* The choice of a group, where there is any, to stand among the controls. */
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

/* `how`: "push" where the way back leads to what was, else "replace". */
function writeAddress(question, names, how) {
  const href = withView(window.location.href, question, names);
  keep(question);
  if (href === window.location.href) return;
  window.history[how === "replace" ? "replaceState" : "pushState"]({}, "", href);
}

const fromAddress = (names) => viewOf(window.location.search, names);

export { fromAddress, groups, press, writeAddress };
