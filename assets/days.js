/* The bars of days: the days of the chart's window are highlighted, and the keyboard moves between
   bars. Tab reaches one of them, the last one visited; arrows, Home and End move from there. */
import * as chart from "./chart.js";

const STEPS = {
  ArrowLeft: -1,
  ArrowRight: 1,
  ArrowUp: -7,
  ArrowDown: 7,
  Home: -Infinity,
  End: Infinity,
};
const days = () => [...document.querySelectorAll(".days .day")];
let shown = null; // [from, to] in ms
let stood = null; // data-from of the day that Tab reaches

function mark() {
  const all = days();
  const reached = all.find((day) => day.dataset.from === stood) || all[all.length - 1];
  all.forEach((day) => {
    const [from, to] = [Date.parse(day.dataset.from), Date.parse(day.dataset.to)];
    const inSight = Boolean(shown) && from <= shown[1] && to >= shown[0];
    day.classList.toggle("in", inSight);
    day.tabIndex = day === reached ? 0 : -1;
  });
}

chart.onAnswer.push((response) => {
  shown = [Date.parse(response.from), Date.parse(response.to)];
  mark();
});

document.addEventListener("weir:drawn", ({ target }) => {
  if (target.id === "device-days") mark();
});

document.addEventListener("focusin", ({ target }) => {
  if (!target.matches(".days .day")) return;
  stood = target.dataset.from;
  mark();
});

document.addEventListener("keydown", (event) => {
  const step = STEPS[event.key];
  if (!step || event.altKey || event.ctrlKey || event.metaKey) return;
  if (!event.target.matches(".days .day")) return;
  event.preventDefault();
  const all = days();
  const there = all.indexOf(event.target) + step;
  all[Math.max(0, Math.min(all.length - 1, there))].focus();
});
