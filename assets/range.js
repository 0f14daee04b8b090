/* Ranges of a chart: a custom one in the chosen zone's local time, and the strip of the whole range
   below a zoom. Also the pages of the rows below. */
import * as chart from "./chart.js";
import { noUpdate, register, setProps } from "./dash.js";
import { childOf, element } from "./element.js";
import { movedInto, panned } from "./scales.js";
import { wallTime } from "./wall-time.js";

const SVG = "http://www.w3.org/2000/svg";
const byId = (id) => document.getElementById(id);
const NAMES = { first: "From", last: "To" };

/* --- The custom range --- */

const zone = () =>
  chart.currentQuestion().zone || byId("chart-custom-fields").dataset.zone || "UTC";

function fields() {
  const holder = byId("chart-custom-fields");
  if (holder.childElementCount) return;
  Object.entries(NAMES).forEach(([name, label]) => {
    const field = childOf(holder, "label", "field");
    childOf(field, "span").textContent = label;
    const input = childOf(field, "input", "moment");
    input.type = "datetime-local";
    input.required = true;
    input.dataset.name = name;
    const fold = childOf(holder, "select", "button select");
    fold.dataset.fold = name;
    fold.hidden = true;
    fold.setAttribute("aria-label", `${label}: zone name`);
  });
  childOf(holder, "span", "in-zone");
}

function open() {
  const form = byId("chart-custom");
  fields();
  form.hidden = false;
  const [from, to] = chart.range() || [Date.now() - 864e5, Date.now()];
  const name = zone();
  form.querySelector("[data-name=first]").value = wallTime(from, name);
  form.querySelector("[data-name=last]").value = wallTime(to + 1, name);
  form.querySelector(".in-zone").textContent = `local time (${name})`;
  form.querySelectorAll("[data-fold]").forEach((fold) => {
    fold.hidden = true;
  });
  setProps("chart-custom-message", { children: "" });
  form.querySelector("input").focus();
}

function close() {
  byId("chart-custom").hidden = true;
  const button = document.querySelector('button[data-value="custom"]');
  if (button) button.focus();
}

chart.onCustom.push(() => (byId("chart-custom").hidden ? open() : close()));

function submit(form) {
  const fields = { zone: chart.currentQuestion().zone, request_id: Date.now() };
  form.querySelectorAll("[data-name]").forEach((input) => {
    fields[input.dataset.name] = input.value;
  });
  form.querySelectorAll("[data-fold]").forEach((fold) => {
    fields[`${fold.dataset.fold}_fold`] = fold.hidden ? null : fold.value;
  });
  setProps("chart-custom-request", { data: fields });
}

function offer(form, twice) {
  form.querySelectorAll("[data-fold]").forEach((fold) => {
    const names = twice[fold.dataset.fold];
    if (fold.hidden && names) {
      fold.replaceChildren(
        ...["", "0", "1"].map((value, index) => {
          const option = element("option");
          option.value = value;
          option.textContent = index ? names[index - 1] : `choose ${names.join(" or ")}`;
          return option;
        }),
      );
    }
    fold.hidden = !names;
  });
}

document.addEventListener("submit", (event) => {
  if (event.target.id !== "chart-custom" || !chart.isOpen()) return;
  event.preventDefault();
  submit(event.target);
});

document.addEventListener("click", (event) => {
  if (!chart.isOpen()) return;
  if (event.target.closest('[data-do="cancel"]')) close();
  const turn = event.target.closest("[data-rows-page]");
  if (turn) chart.turn(Number(turn.dataset.rowsPage));
});

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || !chart.isOpen() || !event.target.closest("#chart-custom")) return;
  close();
});

/* --- The whole range --- */

let whole = null; // {from, to, width, line, band, gaps}
let drag = null; // {x, from, to} where a pointer went down

const span = () => [Date.parse(whole.from), Date.parse(whole.to)];

function draw(strip) {
  if (!strip.querySelector("svg")) {
    const svg = document.createElementNS(SVG, "svg");
    svg.setAttribute("preserveAspectRatio", "none");
    svg.setAttribute("aria-hidden", "true");
    ["gaps", "band", "line"].forEach((name) => {
      const path = document.createElementNS(SVG, "path");
      path.setAttribute("class", name);
      svg.append(path);
    });
    const brush = element("div", { className: "brush" });
    brush.tabIndex = 0;
    brush.setAttribute("role", "slider");
    brush.setAttribute("aria-label", "The part of the range that is shown");
    brush.setAttribute("aria-valuemin", "0");
    brush.setAttribute("aria-valuemax", "100");
    strip.replaceChildren(svg, brush);
  }
  strip.querySelector("svg").setAttribute("viewBox", `0 0 ${whole.width} 100`);
  ["gaps", "band", "line"].forEach((name) =>
    strip.querySelector(`path.${name}`).setAttribute("d", whole[name]),
  );
}

function place(from, to) {
  const [start, end] = span();
  const brush = byId("chart-overview").querySelector(".brush");
  const share = (ms) => Math.max(0, Math.min(1, (ms - start) / (end - start)));
  brush.style.left = `${share(from) * 100}%`;
  brush.style.width = `${(share(to) - share(from)) * 100}%`;
  brush.setAttribute("aria-valuenow", String(Math.round(share((from + to) / 2) * 100)));
  brush.setAttribute(
    "aria-valuetext",
    `${wallTime(from, zone()).replace("T", " ")} to ${wallTime(to, zone()).replace("T", " ")}`,
  );
}

const held = (from, to) => movedInto(span(), [from, to]);

function go(from, to) {
  const [a, b] = held(from, to);
  place(a, b);
  chart.move(a, b);
}

document.addEventListener("pointerdown", (event) => {
  const strip = event.target.closest(".overview");
  if (!strip || !whole || !chart.isOpen() || event.button !== 0) return;
  event.preventDefault();
  let [from, to] = chart.range();
  if (!event.target.closest(".brush")) {
    const box = strip.getBoundingClientRect();
    const [start, end] = span();
    const about = start + ((event.clientX - box.x) / box.width) * (end - start);
    const half = (to - from) / 2;
    [from, to] = held(about - half, about + half);
    place(from, to);
  }
  drag = { x: event.clientX, from, to };
  strip.setPointerCapture(event.pointerId);
});

function dragged(event) {
  const [start, end] = span();
  const by = ((event.clientX - drag.x) / byId("chart-overview").clientWidth) * (end - start);
  return held(drag.from + by, drag.to + by);
}

document.addEventListener("pointermove", (event) => {
  if (drag) place(...dragged(event));
});

document.addEventListener("pointerup", (event) => {
  if (!drag) return;
  const there = dragged(event);
  drag = null;
  const [from, to] = chart.range();
  if (Math.abs(there[0] - from) > 1000 || Math.abs(there[1] - to) > 1000) go(...there);
});

document.addEventListener("keydown", (event) => {
  if (!whole || !chart.isOpen() || !event.target.closest(".brush")) return;
  const by = { ArrowLeft: -0.25, ArrowDown: -0.25, ArrowRight: 0.25, ArrowUp: 0.25 }[event.key];
  if (!by) return;
  event.preventDefault();
  go(...panned(chart.range(), by));
});

register("range", {
  received: (response) => {
    const form = byId("chart-custom");
    if (!response || !form) return noUpdate();
    offer(form, response.twice);
    if (response.range) {
      form.hidden = true;
      chart.request({ range: response.range, from: null, to: null });
    }
    return response.problems.join(" ");
  },

  overview: (response, shown) => {
    const strip = byId("chart-overview");
    if (!strip || !chart.isOpen() || !byId("chart-custom-fields")) return noUpdate();
    whole = response || null;
    strip.dataset.empty = String(!whole);
    if (!whole) return "";
    draw(strip);
    if (shown && !drag) place(Date.parse(shown.from), Date.parse(shown.to));
    return "";
  },
});
