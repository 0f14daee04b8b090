/* Share: copies the address of the current view. The address has everything of a view already; a
   view whose range moves with time can also be shared as a fixed one.

      A page with moving ranges registers how to fix its range: `moments` holds functions that
   return {name: value or null} for the address, or null if the page isn't open or the view doesn't
   move. */
import { withView } from "./address.js";
import * as chart from "./chart.js";
import * as menus from "./menu.js";

const STAYS_MS = 2500;
const PATIENCE_MS = 800; // a browser that asks its reader for permission may wait for ever
const isShare = (menu) => menu.matches("details.share");
let closing = 0;

export const snapshots = [];

snapshots.push(() => {
  if (!chart.isOpen() || !chart.currentQuestion() || !chart.range()) return null;
  const { from, range } = chart.currentQuestion();
  if (from || String(range).includes("..")) return null;
  const [first, last] = chart.range().map((ms) => new Date(ms).toISOString());
  return { range: `${first}..${last}`, from: null, to: null };
});

const moment = () => snapshots.reduce((result, snapshot) => result || snapshot(), null);

function link(changes) {
  const url = new URL(withView(window.location.href, changes || {}));
  url.hash = "";
  return url.href;
}

/* Without a permission: a field with the link in it, selected. */
function field(menu, text) {
  const made = menu.querySelector(".share-field") || document.createElement("input");
  Object.assign(made, { className: "share-field", readOnly: true, value: text });
  made.setAttribute("aria-label", "Link to this view");
  menu.querySelector(".menu-body").append(made);
  made.focus();
  made.select();
  return made;
}

async function copied(menu, text) {
  const late = new Promise((_, reject) => setTimeout(reject, PATIENCE_MS));
  try {
    await Promise.race([navigator.clipboard.writeText(text), late]);
    return true;
  } catch {
    const shown = field(menu, text);
    if (!document.execCommand("copy")) return false;
    shown.remove();
    menu.querySelector("summary").focus();
    return true;
  }
}

async function share(menu, changes) {
  clearTimeout(closing);
  if (!(await copied(menu, link(changes)))) {
    return menus.say(menu, "Copy this link:");
  }
  menus.say(menu, "Link copied");
  closing = setTimeout(() => menu.open && menus.close(menu), STAYS_MS);
}

function offer(menu) {
  clearTimeout(closing);
  menu.querySelectorAll(".share-field").forEach((old) => old.remove());
  const moves = moment() !== null;
  menu.querySelector(".menu-entries").hidden = !moves;
  if (!moves) share(menu, null);
}

document.addEventListener("weir:opened", (event) => {
  if (isShare(event.target)) offer(event.target);
});

document.addEventListener("click", (event) => {
  const entry = event.target.closest("[data-deed^='share-']");
  if (!entry) return;
  const menu = entry.closest("details.menu");
  share(menu, entry.dataset.deed === "share-moment" ? moment() : null);
});
