/* Images by the server, of the view in the page's address: saved as a file, or as a signed link to
   copy. The progress is shown under the menu's entries: preparing, busy and retrying, or an error.
   */
import * as menus from "./menu.js";
import { siteRoot } from "./site.js";

const CHART = ["range", "from", "to", "metric", "zone", "units", "compare", "usual"];
const CARD = ["zone", "units"];
const COMPARISON = ["range", "zone", "units", "items", "by", "layout"];
const WALL = ["window", "q", "status", "group", "sort", "page", "zone", "units"];
const WIDTHS = [320, 2000];
const HEIGHTS = [240, 1500];
const CAPTION_PX = 70; // the space around the plot that an image has and the screen doesn't
const SCALE = 2;
const ATTEMPTS = 3;
const LONGEST_WAIT_S = 15;
const CLOSED_MS = 20; // a click closes the menu; a message opens it again
const STAYS_MS = 2500;
const PATIENCE_MS = 800; // a browser that asks its reader for permission may wait for ever

const pause = (ms) => new Promise((done) => setTimeout(done, ms));
const within = (px, [least, most]) => String(Math.round(Math.min(most, Math.max(least, px))));

function theme() {
  const dark = window.matchMedia("(prefers-color-scheme: dark)").matches;
  return document.documentElement.dataset.theme || (dark ? "dark" : "light");
}

/* The image's address: the page's own, with the view on this screen. A card has the image's default
   size, since on the page it may be as narrow as a phone. */
function address(kind, card) {
  const plot = document.querySelector(".plot[data-device]");
  const page = new URLSearchParams(window.location.search);
  const params = new URLSearchParams();
  const compared = document.querySelector("[data-picture]");
  const names = card ? CARD : plot ? CHART : compared ? COMPARISON : WALL;
  names.forEach((name) => page.has(name) && params.set(name, page.get(name)));
  params.set("theme", theme());
  if (card) {
    if (kind === "png") params.set("scale", String(SCALE));
    return `/export/devices/${encodeURIComponent(plot.dataset.device)}/${card}.${kind}?${params}`;
  }
  if (compared) {
    if (kind === "png") params.set("scale", String(SCALE));
    return `${compared.dataset.picture}.${kind}?${params}`;
  }
  if (plot) {
    params.set("width", within(plot.clientWidth, WIDTHS));
    params.set("height", within(plot.clientHeight + CAPTION_PX, HEIGHTS));
  } else {
    params.set("width", within(document.getElementById("fleet-wall").clientWidth, WIDTHS));
  }
  if (kind === "png") params.set("scale", String(SCALE));
  const device = plot && encodeURIComponent(plot.dataset.device);
  return `/export/${plot ? `devices/${device}/chart` : "fleet"}.${kind}?${params}`;
}

/* Also for other scripts that save files from the server. */
export { fetchWithRetries, save };

/* A good response; otherwise throws an error with the server's message. */
async function fetchWithRetries(say, url, { attempts = ATTEMPTS, ...options } = {}) {
  for (let attempt = 1; ; attempt += 1) {
    const answer = await fetch(url, options);
    if (answer.ok) return answer;
    const again = Math.min(LONGEST_WAIT_S, Number(answer.headers.get("Retry-After")) || 0);
    if (answer.status !== 503 || !again || attempt === attempts)
      throw new Error(await words(answer));
    say(`Busy. Retrying in ${again} s …`);
    await pause(again * 1000);
    say("Preparing …");
  }
}

async function words(answer) {
  if (answer.status === 401) return "You are signed out: reload the page.";
  const problem = await answer.json().catch(() => ({}));
  const parts = (problem.errors || []).map((each) => `${each.parameter} ${each.detail}`);
  return parts.join("; ") || problem.detail || `The server responded ${answer.status}.`;
}

function fileName(answer, kind) {
  const header = answer.headers.get("Content-Disposition") || "";
  const [, full] = header.match(/filename\*=UTF-8''([^;]+)/) || [];
  const [, plain] = header.match(/filename="([^"]+)"/) || [];
  return full ? decodeURIComponent(full) : plain || `weir.${kind}`;
}

async function save(say, url, kind) {
  say("Preparing …");
  const answer = await fetchWithRetries(say, url);
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await answer.blob());
  link.download = fileName(answer, kind);
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
  return "Saved";
}

async function copy(say, menu, days) {
  say("Preparing …");
  const answer = await fetchWithRetries(say, `${siteRoot}/export/links`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ address: address("png"), days }),
  });
  const href = new URL((await answer.json()).href, window.location.origin).href;
  const late = new Promise((_, reject) => setTimeout(reject, PATIENCE_MS));
  try {
    await Promise.race([navigator.clipboard.writeText(href), late]);
    return "Link copied";
  } catch {
    field(menu, href);
    return "";
  }
}

/* Without a permission: the link in a field, selected. */
function field(menu, text) {
  const made = document.createElement("input");
  Object.assign(made, { className: "share-field", readOnly: true, value: text });
  made.setAttribute("aria-label", "Link to this image");
  menu.querySelector(".menu-body").append(made);
  made.focus();
  made.select();
  menus.say(menu, "Copy this link:");
}

async function doing(menu, deed, detail, card) {
  const say = (message) => menus.say(menu, message);
  menu.querySelectorAll(".share-field").forEach((old) => old.remove());
  await pause(CLOSED_MS);
  try {
    const done = await (deed === "server"
      ? save(say, siteRoot + address(detail, card), detail)
      : copy(say, menu, Number(detail)));
    if (!done) return;
    say(done);
    await pause(STAYS_MS);
    if (menu.querySelector(".menu-status").textContent === done) menus.close(menu);
  } catch (error) {
    say(error instanceof TypeError ? "Can’t reach the server." : error.message);
  }
}

document.addEventListener("click", (event) => {
  const entry = event.target.closest("[data-deed^='server-'], [data-deed^='signed-']");
  if (entry) doing(entry.closest("details.menu"), ...entry.dataset.deed.split("-"));
});
