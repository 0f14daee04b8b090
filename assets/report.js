/* The report's page: its charts, which the server draws one by one, printing, and the PDF.
   html-json.js builds the document from the server's data. */
import * as serverImage from "./server-image.js";
import { siteRoot } from "./site.js";

const IN_FILE = ["range", "zone", "units", "devices", "q", "group", "metric", "compare", "paper"];
const AT_ONCE = 3;
const ATTEMPTS = 6;
const WIDTH_STEP = 40;
const WIDTHS = [320, 1200];
const STAYS_MS = 2500;

const cache = new Map(); // address → the chart from the server
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
  const message = document.createElement("span");
  const again = document.createElement("button");
  box.className = "chart-trouble";
  message.textContent = words;
  Object.assign(again, { type: "button", className: "button small", textContent: "Try again" });
  again.addEventListener("click", () => {
    figure.replaceChildren();
    fill();
  });
  box.append(message, again);
  figure.replaceChildren(box);
  figure.dataset.state = "failed";
}

async function draw(figure) {
  const url = address(figure);
  try {
    const answer = await serverImage.fetchWithRetries(() => {}, url, { attempts: ATTEMPTS });
    cache.set(url, (await answer.json()).html);
    if (figure.isConnected && address(figure) === url) show(figure, cache.get(url));
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

/* The empty figures; after a new document all of them are. */
function fill() {
  waiting = [];
  figures().forEach((figure) => {
    if (figure.childNodes.length) return;
    delete figure.dataset.state;
    const html = cache.get(address(figure));
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

document.addEventListener("weir:received", (event) => {
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
  const status = document.getElementById("report-status");
  if (status) status.textContent = words;
}

async function save(button) {
  const params = new URLSearchParams(window.location.search);
  const wanted = new URLSearchParams();
  IN_FILE.forEach((name) => params.has(name) && wanted.set(name, params.get(name)));
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
