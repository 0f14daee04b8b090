/* The parts around the wall's tiles: KPIs, status chips, pages, groups, the reason for an empty
   wall. */
import * as controls from "./controls.js";
import { childOf, element } from "./element.js";
import * as firstRun from "./first-run.js";

const byId = (id) => document.getElementById(id);
const FOCUSABLE = "button, select, summary";
const built = {}; // element id → the data it was made from

/* Built again only if the data differs, so that a focused button stays. */
function rebuild(id, content, make) {
  const key = JSON.stringify(content);
  const container = byId(id);
  if (built[id] === key && container.childElementCount) return;
  const hadFocus = container.contains(document.activeElement)
    ? [...container.querySelectorAll(FOCUSABLE)].indexOf(document.activeElement)
    : -1;
  container.replaceChildren(...make(content));
  built[id] = key;
  if (hadFocus >= 0) {
    const again = container.querySelectorAll(FOCUSABLE)[hadFocus];
    if (again) again.focus({ preventScroll: true });
  }
}

const LONG = 20; // characters: a longer part may break on a phone

/* Lines break between the parts of a note, not within a short part. */
function unbroken(note) {
  return note
    .split(" · ")
    .map((part) => (part.length > LONG ? part : part.replaceAll(" ", "\u00a0")))
    .join("\u00a0· ");
}

function totals(content) {
  return content.map(({ name, label, value, note, parts, aside, alarm }) => {
    const total = element("div", { className: "total" });
    total.dataset.name = name;
    total.dataset.alarm = String(Boolean(alarm));
    childOf(total, "dt").textContent = label;
    const number = childOf(total, "dd", "total-value");
    childOf(number, "span").textContent = value;
    if (aside) childOf(number, "span", "total-aside").textContent = aside;
    const line = childOf(total, "dd", "total-note");
    if (parts?.some(([, field]) => field)) filters(line, parts);
    else line.textContent = note.includes(" · ") ? unbroken(note) : note;
    return total;
  });
}

/* Each number of a note is a button that filters by it. */
function filters(line, parts) {
  parts.forEach(([words, field, value], index) => {
    if (index) line.append(" · ");
    const part = childOf(line, field ? "button" : "span", field ? "total-filter" : "");
    part.textContent = words.replaceAll(" ", "\u00a0");
    if (!field) return;
    part.type = "button";
    part.dataset.filter = field;
    part.dataset.value = value;
  });
}

function filterButton({ field, name, tone, shape, word, count, pressed }, className) {
  const button = element("button", { className, type: "button" });
  Object.assign(button.dataset, { filter: field, value: name, state: tone });
  button.setAttribute("aria-pressed", String(pressed));
  const words = childOf(button, "span");
  const sign = childOf(words, "span", "shape");
  sign.textContent = shape;
  sign.setAttribute("aria-hidden", "true");
  words.append(` ${word}`);
  button.append(
    className === "chip" ? ` ${count}` : element("span", { className: "quiet" }, count),
  );
  return button;
}

/* The states and the chosen kinds of findings are chips; the other kinds are in a menu. */
function chips(content) {
  const isChip = ({ field, pressed }) => field === "status" || pressed;
  const shown = content.filter(isChip).map((each) => filterButton(each, "chip"));
  const others = content.filter((each) => !isChip(each));
  if (!others.length) return shown;
  const menu = element("details", { className: "menu" });
  menu.open = Boolean(document.querySelector("#fleet-chips details[open]"));
  childOf(menu, "summary", "button small").textContent = "Findings";
  childOf(menu, "div", "menu-body").append(
    ...others.map((each) => filterButton(each, "menu-entry")),
  );
  return [...shown, menu];
}

function pager({ page: number, last, words }) {
  const turn = (sign, name, to) => {
    const button = element("button", { className: "button icon" });
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

const groups = ({ names, chosen }) => controls.groups(names, chosen);

function empty(content) {
  const box = byId("fleet-empty");
  const filtered = ["q", "status", "group", "finding"].some((name) => content.view[name]);
  const isFirst = firstRun.show(Boolean(content.empty) && !filtered);
  box.hidden = !content.empty || isFirst;
  if (box.hidden) return;
  const words = element("p");
  words.textContent = content.empty;
  const clear = element("button", { className: "button" });
  clear.type = "button";
  clear.dataset.do = "clear";
  clear.textContent = "Show all devices";
  if (filtered) return box.replaceChildren(words, clear);
  box.replaceChildren(words);
}

function checked({ words = "", late = false }) {
  const line = byId("fleet-checked");
  if (line.textContent !== words) line.textContent = words;
  line.dataset.late = String(late);
}

function draw(content) {
  rebuild("fleet-totals", content.totals, totals);
  rebuild("fleet-chips", content.chips, chips);
  rebuild("fleet-pager", content.pages, pager);
  rebuild("fleet-group", { names: content.groups, chosen: content.view.group || "" }, groups);
  checked(content.checked);
  empty(content);
}

const clear = () => Object.keys(built).forEach((id) => delete built[id]);

export { clear, draw };
