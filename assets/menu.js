/* Menus, the account's and every other: they close by Escape, by a click or focus elsewhere and by
   a choice; the arrow keys move through their entries; they open to the side with room. */

const MENUS = "details.account, details.menu";
const ENTRIES = ".menu-entry";
const EDGE_PX = 8;

function closeMenus(except) {
  document.querySelectorAll("details.account[open], details.menu[open]").forEach((menu) => {
    if (menu !== except) menu.open = false;
  });
}

function close(menu) {
  menu.open = false;
  menu.querySelector("summary").focus();
}

/* A message under the entries of a menu, read out by screen readers. */
function say(menu, words) {
  const status = menu.querySelector(".menu-status");
  if (status) status.textContent = words;
  if (words) menu.open = true;
}

export { close, say };

document.addEventListener("click", (event) => {
  closeMenus(event.target.closest(MENUS));
  // After the click was handled. Share shows a message first.
  const entry = event.target.closest("a.menu-entry, button.menu-entry");
  const menu = entry?.closest("details.menu:not(.share)");
  if (menu) setTimeout(() => close(menu), 0);
});

document.addEventListener("focusin", (event) => closeMenus(event.target.closest(MENUS)));

function walk(menu, key) {
  const entries = [...menu.querySelectorAll(ENTRIES)];
  if (!entries.length) return;
  const here = entries.indexOf(document.activeElement);
  const steps = { ArrowDown: here + 1, ArrowUp: here < 0 ? -1 : here - 1, Home: 0, End: -1 };
  entries.at(steps[key] % entries.length).focus();
}

document.addEventListener("keydown", (event) => {
  const within = event.target.closest("details.menu");
  if (event.key === "Escape") {
    const open = document.querySelector("details.account[open], details.menu[open]");
    if (open) close(open);
  } else if (within && ["ArrowDown", "ArrowUp", "Home", "End"].includes(event.key)) {
    if (event.target.matches("input")) return;
    event.preventDefault();
    within.open = true;
    walk(within, event.key);
  }
});

/* The toggle event of a details element doesn't bubble. */
document.addEventListener(
  "toggle",
  (event) => {
    const menu = event.target;
    if (!menu.matches("details.menu")) return;
    if (!menu.open) return say(menu, "");
    delete menu.dataset.side;
    menu.querySelectorAll("a[data-here]").forEach((entry) => {
      entry.setAttribute(
        "href",
        `${entry.getAttribute("href").split("?")[0]}${window.location.search}`,
      );
    });
    menu.dispatchEvent(new CustomEvent("weir:opened", { bubbles: true }));
    const { left } = menu.querySelector(".menu-body").getBoundingClientRect();
    if (left < EDGE_PX) menu.dataset.side = "left";
  },
  true,
);
