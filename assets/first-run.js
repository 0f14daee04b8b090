/* The ways to send first readings, on the fleet page while there is no device; with the messages
   that have arrived, below the broker's settings; and the demo fleet, which takes a minute. */
import { element } from "./element.js";

const POLL_MS = 3000;
let timer = 0;
let making = false; // then the page stays, although there are devices already
let isChecked = false;

const minute = (instant) => `${instant.slice(0, 16).replace("T", " ")} UTC`;

function words(status, quality) {
  if (status.refused) {
    const count = status.refused.toLocaleString("en-US");
    const link = element("a", { href: quality, className: "link" }, "See why");
    const rows = status.refused === 1 ? "1 reading was" : `${count} readings were`;
    return [element("strong", {}, `${rows} refused. `), link];
  }
  if (!status.writer) return ["No writer is running: weir serve starts one."];
  if (!status.broker) return ["No broker is set yet."];
  if (status.problem) return [`The broker: ${status.problem}`];
  if (status.lastMessage) {
    return [`The last message came at ${minute(status.lastMessage)}; no device is stored yet.`];
  }
  return ["Connected. Nothing received yet."];
}

/* --- The demo fleet --- */

function demoWords({ state, share, possible, writer }) {
  if (state === "none") return possible ? "" : "Only for an empty store: another has devices.";
  if (!writer) return "No writer is running: weir serve starts one.";
  if (state === "removing") return "The demo fleet is being removed.";
  return `Making the demo fleet: ${Math.round(share * 100)} %`;
}

function showDemo(demo) {
  if (making && demo.state === "complete") {
    window.location.reload(); // the wall
    return;
  }
  making = demo.state === "filling";
  document.getElementById("fleet-demo").disabled = demo.state !== "none" || !demo.possible;
  const bar = document.getElementById("fleet-demo-share");
  bar.hidden = !making;
  bar.value = demo.share;
  document.getElementById("fleet-demo-state").textContent = demoWords(demo);
}

async function lookAtDemo(section, options) {
  const response = await fetch(section.dataset.demo, options).catch(() => null);
  const body = await response?.json().catch(() => null);
  if (response?.ok) showDemo({ writer: true, ...body });
  else if (options) {
    const words = body?.detail || "The server doesn’t respond. Try again.";
    document.getElementById("fleet-demo-state").textContent = words;
  }
}

document.addEventListener("click", (event) => {
  if (!event.target.closest?.("#fleet-demo")) return;
  const section = document.getElementById("fleet-first-run");
  const headers = { "Content-Type": "application/json" };
  lookAtDemo(section, { method: "POST", headers, body: "{}" });
});

/* --- All of them --- */

async function look() {
  const section = document.getElementById("fleet-first-run");
  if (!section || section.hidden) return;
  await lookAtDemo(section);
  const response = await fetch(section.dataset.reception).catch(() => null);
  if (response?.ok) {
    const status = await response.json();
    const place = document.getElementById("fleet-reception");
    place?.replaceChildren(...words(status, section.dataset.quality));
    document.getElementById("fleet-topic").textContent = status.topic;
  }
  timer = setTimeout(look, POLL_MS);
}

/* Whether it is shown: only administrators have that section. */
export function show(isEmpty) {
  const section = document.getElementById("fleet-first-run");
  if (!section) return false;
  if (!isChecked) {
    isChecked = true; // the page may be opened while the demo fleet is being made
    if (!isEmpty) lookAtDemo(section).then(() => making && show(false));
  }
  const isShown = isEmpty || making;
  document.getElementById("fleet").dataset.first = String(isShown);
  if (section.hidden === isShown) {
    section.hidden = !isShown;
    clearTimeout(timer);
    if (isShown) look();
  }
  return isShown;
}
