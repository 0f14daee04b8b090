/* What stands around the wall of tiles: sums, status chips, pages, groups, why it is empty. */
import * as controls from "./controls.js";
import { element } from "./fleet-tiles.js";

const byId = (id) => document.getElementById(id);
const built = {}; // element id → what it was made of

/* Rebuilt only where something differs, so that a focused button stays. */
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
  return note
    .split(" · ")
    .map((part) => part.replaceAll(" ", "\u00a0"))
    .join("\u00a0· ");
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

const groups = ({ names, chosen }) => controls.groups(names, chosen);

function empty(told) {
  const box = byId("fleet-empty");
  box.hidden = !told.empty;
  if (!told.empty) return;
  const words = element("p");
  words.textContent = told.empty;
  const filtered = ["q", "status", "group"].some((name) => told.view[name]);
  const clear = element("button", "button");
  clear.type = "button";
  clear.dataset.do = "clear";
  clear.textContent = "Show all devices";
  box.replaceChildren(...(filtered ? [words, clear] : [words]));
}

function draw(told) {
  rebuild("fleet-totals", told.totals, totals);
  rebuild("fleet-chips", told.chips, chips);
  rebuild("fleet-pager", told.pages, pager);
  rebuild("fleet-group", { names: told.groups, chosen: told.view.group || "" }, groups);
  empty(told);
}

const clear = () => Object.keys(built).forEach((id) => delete built[id]);

export { clear, draw };
