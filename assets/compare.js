/* The comparison of a chart: the field for another device, and the keys. */
import * as chart from "./chart.js";

const WITH = ["", "day", "week", "month", "year", "usual"];
const DEVICE = "device:";

const form = () => document.getElementById("chart-other");
const select = () => document.querySelector('select[data-set="compare"]');

function field() {
  const place = document.getElementById("chart-other-field");
  if (!place.firstChild) {
    const input = document.createElement("input");
    Object.assign(input, { type: "text", className: "moment", maxLength: 100, required: true });
    input.placeholder = "Serial number or network id";
    input.setAttribute("aria-label", "Compare with the device");
    place.append(input);
  }
  return place.firstChild;
}

function open() {
  form().hidden = false;
  const { compare } = chart.currentQuestion();
  if (compare?.startsWith(DEVICE)) field().value = compare.slice(DEVICE.length);
  field().focus();
}

function close() {
  form().hidden = true;
  const { compare } = chart.currentQuestion();
  if (select()) select().value = compare?.startsWith(DEVICE) ? "other" : compare || "";
}

chart.onOther.push(open);

document.addEventListener("submit", (event) => {
  if (event.target.id !== "chart-other" || !chart.isOpen()) return;
  event.preventDefault();
  const name = field().value.trim();
  if (name) chart.request({ compare: DEVICE + name });
  close();
});

document.addEventListener("click", (event) => {
  if (chart.isOpen() && event.target.closest('[data-do="no-other"]')) close();
});

/* By keyboard: the next comparison. */
export function next() {
  if (!select()) return;
  const now = WITH.indexOf(chart.currentQuestion().compare || "");
  const compare = WITH[(now + 1) % WITH.length];
  select().value = compare;
  chart.request({ compare: compare || null });
}

export function usual() {
  if (!select()) return;
  chart.request({ usual: chart.currentQuestion().usual ? null : "1" });
}
