/* The administration: tabs above one area, which is filled from the service's responses. */
import { groups, keys } from "./admin-access.js";
import * as devices from "./admin-devices.js";
import { organization, quality } from "./admin-organization.js";
import { attempt, page, say } from "./admin-shared.js";
import { register } from "./dash.js";

const TABS = { devices: devices.open, groups, keys, organization, quality };

const tabNow = () => {
  const name = new URLSearchParams(window.location.search).get("tab");
  return Object.hasOwn(TABS, name) ? name : "devices";
};

async function show() {
  const root = page();
  if (!root) return;
  const name = tabNow();
  for (const tab of root.querySelectorAll("[data-tab]")) {
    if (tab.dataset.tab === name) tab.setAttribute("aria-current", "page");
    else tab.removeAttribute("aria-current");
  }
  root.dataset.shown = name;
  say("");
  const body = document.getElementById("admin-body");
  body.replaceChildren();
  await attempt(() => TABS[name](body));
  root.dataset.ready = name;
}

document.addEventListener("click", (event) => {
  const tab = event.target.closest?.("#admin [data-tab]");
  if (!tab || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  window.history.pushState({}, "", `?tab=${tab.dataset.tab}`);
  show();
});

window.addEventListener("popstate", () => page() && show());

register("admin", {
  opened: () => {
    show();
    return true;
  },
});
