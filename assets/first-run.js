/* The ways to the first readings, on the fleet page while there is no device; below the broker's
   settings, what has arrived so far. */
import { element } from "./element.js";

const POLL_MS = 3000;
let timer = 0;

const minute = (instant) => `${instant.slice(0, 16).replace("T", " ")} UTC`;

function words(found, quality) {
  if (found.refused) {
    const count = found.refused.toLocaleString("en-US");
    const link = element("a", { href: quality, className: "link" }, "See why");
    const rows = found.refused === 1 ? "1 reading was" : `${count} readings were`;
    return [element("strong", {}, `${rows} refused. `), link];
  }
  if (!found.writer) return ["No writer is running: weir serve starts one."];
  if (!found.broker) return ["No broker is set yet."];
  if (found.problem) return [`The broker: ${found.problem}`];
  if (found.lastMessage) {
    return [`The last message came at ${minute(found.lastMessage)}; no device is stored yet.`];
  }
  return ["Connected. Nothing received yet."];
}

async function look() {
  const section = document.getElementById("fleet-first-run");
  if (!section || section.hidden) return;
  const response = await fetch(section.dataset.reception).catch(() => null);
  if (response?.ok) {
    const found = await response.json();
    const place = document.getElementById("fleet-reception");
    place?.replaceChildren(...words(found, section.dataset.quality));
    document.getElementById("fleet-topic").textContent = found.topic;
  }
  timer = setTimeout(look, POLL_MS);
}

/* Whether it is shown: readers who may not administer have no such section. */
export function show(isShown) {
  const section = document.getElementById("fleet-first-run");
  if (!section) return false;
  document.getElementById("fleet").dataset.first = String(isShown);
  if (section.hidden === isShown) {
    section.hidden = !isShown;
    clearTimeout(timer);
    if (isShown) look();
  }
  return isShown;
}
