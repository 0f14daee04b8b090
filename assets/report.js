/* The report's page: its charts, which the server draws one after the other, printing, and the PDF.
   The document itself is built by sheets.js from what the server says. */
import * as serverImage from "./server-image.js";
import { siteRoot } from "./site.js";

const IN_FILE = ["range", "zone", "units", "devices", "q", "group", "metric", "compare", "paper"];
const AT_ONCE = 3;
const ATTEMPTS = 6;
const WIDTH_STEP = 40;
const WIDTHS = [320, 1200];
const STAYS_MS = 2500;

const kept = new Map(); // address → what the server drew
let waiting = [];
let underWay = 0;

const isOpen = () => document.getElementById("report") !== null;
const figures = () => [...document.querySelectorAll("#report-body figure[data-chart]")];

function address(figure) {
  const [least, most] = WIDTHS;
  const px = Math.ceil(figure.clientWidth / WIDTH_STEP) * WIDTH_STEP;
  return `${figure.dataset.chart}&width=${Math.min(most, Math.max(least, px))}`;
}

/* --- Charts --- */

function show(figure, html) {
  const made = new DOMParser().parseFromString(html, "text/html");
  figure.replaceChildren(...made.body.childNodes);
  figure.dataset.state = "drawn";
}

function trouble(figure, words) {
  const box = document.createElement("div");
  const said = document.createElement("span");
  const again = document.createElement("button");
  box.className = "chart-trouble";
  said.textContent = words;
  Object.assign(again, { type: "button", className: "button small", textContent: "Try again" });
  again.addEventListener("click", () => {
    figure.replaceChildren();
    fill();
  });
  box.append(said, again);
  figure.replaceChildren(box);
  figure.dataset.state = "failed";
}

async function draw(figure) {
  const url = address(figure);
  try {
    const answer = await serverImage.asked(() => {}, url, { attempts: ATTEMPTS });
    kept.set(url, (await answer.json()).html);
    if (figure.isConnected && address(figure) === url) show(figure, kept.get(url));
  } catch (error) {
    const words = error instanceof TypeError ? "Can’t reach the server." : error.message;
    if (figure.isConnected) trouble(figure, words);
  }
}

function next() {
  while (underWay < AT_ONCE && waiting.length) {
    const figure = waiting.shift();
    if (!figure.isConnected) continue;
    underWay += 1;
    draw(figure).finally(() => {
      underWay -= 1;
      next();
    });
  }
}

/* The figures that are empty: of a document that was told anew, all are. */
function fill() {
  waiting = [];
  figures().forEach((figure) => {
    if (figure.childNodes.length) return;
    delete figure.dataset.state;
    const html = kept.get(address(figure));
    if (html) show(figure, html);
    else waiting.push(figure);
  });
  next();
}

document.addEventListener("weir:drawn", (event) => {
  if (event.target.id === "report-body") fill();
});

/* --- Paper --- */

function rules(css) {
  let style = document.getElementById("report-paper");
  if (!style) {
    style = document.createElement("style");
    style.id = "report-paper";
    document.head.append(style);
  }
  style.textContent = css;
}

document.addEventListener("weir:answered", (event) => {
  if (event.target.id === "report") rules(event.detail.page || "");
});
window.addEventListener("beforeprint", () => {
  if (!isOpen()) rules("");
});

const settled = () => figures().every((figure) => figure.dataset.state);

async function print() {
  say("Preparing …");
  while (isOpen() && !settled()) await new Promise((done) => setTimeout(done, 100));
  say("");
  if (isOpen()) window.print();
}

function say(words) {
  const said = document.getElementById("report-said");
  if (said) said.textContent = words;
}

async function save(button) {
  const said = new URLSearchParams(window.location.search);
  const wanted = new URLSearchParams();
  IN_FILE.forEach((name) => said.has(name) && wanted.set(name, said.get(name)));
  button.disabled = true;
  say("Preparing …");
  try {
    await serverImage.save(say, `${siteRoot}/export/report.pdf?${wanted}`, "pdf");
    say("Saved");
    setTimeout(() => say(""), STAYS_MS);
  } catch (error) {
    say(error instanceof TypeError ? "Can’t reach the server." : error.message);
  } finally {
    button.disabled = false;
  }
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("#report button[data-do]");
  if (!button) return;
  if (button.dataset.do === "print") print();
  if (button.dataset.do === "pdf") save(button);
});
