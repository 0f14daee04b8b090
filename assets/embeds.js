/* Embeds: the link to create one includes the view; the snippet is copied to the clipboard; the
   field for a zone offers all names; lists of choices get accessible names. */
import { siteRoot, zoneNames } from "./site.js";

const SAID_MS = 2500;
const PATIENCE_MS = 800; // a browser that asks its reader for permission may wait for ever
const MOST = 50; // devices of a wall

/* The view is in the address; the devices of the wall are on the screen only. */
function takeAlong(link) {
  const to = new URL(link.href);
  new URLSearchParams(window.location.search).forEach((value, name) => {
    if (!to.searchParams.has(name)) to.searchParams.set(name, value);
  });
  if (link.dataset.embed === "wall") {
    const tiles = document.querySelectorAll(`#fleet-wall a[href^='${siteRoot}/devices/']`);
    const ids = [...tiles].map((tile) => decodeURIComponent(tile.pathname.split("/").pop()));
    if (ids.length) to.searchParams.set("device", [...new Set(ids)].slice(0, MOST).join(","));
  }
  link.href = to.pathname + to.search;
}

async function copied(field) {
  const late = new Promise((_, reject) => setTimeout(reject, PATIENCE_MS));
  try {
    await Promise.race([navigator.clipboard.writeText(field.value), late]);
    return true;
  } catch {
    field.focus();
    field.select();
    return document.execCommand("copy");
  }
}

async function copy(button) {
  const id = button.dataset.copy;
  const field = document.getElementById(id);
  const status = document.querySelector(`[data-copied="${id}"]`);
  const done = await copied(field);
  status.textContent = done ? "Copied" : "Press Ctrl+C to copy";
  if (done) setTimeout(() => (status.textContent = ""), SAID_MS);
}

function offerZones(field) {
  const list = document.getElementById(field.getAttribute("list"));
  if (!list || list.childElementCount) return;
  list.append(
    ...zoneNames.map((name) => {
      const option = document.createElement("option");
      option.value = name;
      return option;
    }),
  );
}

/* Dash gives its lists of radios and checkboxes the role of list boxes, which may not contain such
   controls, and no name. They become named groups instead. */
const LISTS = ".embed-choices, .embed-devices";
function plain(panel) {
  panel.querySelectorAll(LISTS).forEach((list) => {
    [list, ...list.querySelectorAll("[role=option], [aria-selected]")].forEach((part) => {
      part.removeAttribute("role");
      part.removeAttribute("aria-selected");
    });
  });
}

const watched = new WeakSet();
new MutationObserver(() => {
  const panel = document.getElementById("embeds-panel");
  if (!panel || watched.has(panel)) return;
  watched.add(panel);
  plain(panel);
  new MutationObserver(() => plain(panel)).observe(panel, {
    subtree: true,
    childList: true,
    attributeFilter: ["role", "aria-selected"],
  });
}).observe(document.documentElement, { childList: true, subtree: true });

document.addEventListener(
  "click",
  (event) => {
    const link = event.target.closest("a[data-embed]");
    if (link) takeAlong(link);
    const button = event.target.closest("button[data-copy]");
    if (button) copy(button);
  },
  true,
);
document.addEventListener("focusin", (event) => {
  if (event.target.matches("#embed-zone")) offerZones(event.target);
});
