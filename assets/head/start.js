/* Runs before anything is painted: the theme, and the scripts that only some pages need. */
(function () {
  "use strict";
  const KEY = "weir-theme";
  const root = document.documentElement;
  const prefersDark = window.matchMedia("(prefers-color-scheme: dark)");

  function kept() {
    try {
      return window.localStorage.getItem(KEY);
    } catch {
      return null; // storage may be forbidden, in a frame for instance
    }
  }

  function keep(theme) {
    try {
      if (theme) window.localStorage.setItem(KEY, theme);
      else window.localStorage.removeItem(KEY);
    } catch {
      /* then it lasts as long as the page */
    }
  }

  function system() {
    return prefersDark.matches ? "dark" : "light";
  }

  function shown() {
    return root.dataset.theme || system();
  }

  function choose(theme) {
    const ownChoice = theme === system() ? null : theme;
    keep(ownChoice);
    if (ownChoice) root.dataset.theme = ownChoice;
    else delete root.dataset.theme;
    const url = new URL(window.location.href);
    if (ownChoice) url.searchParams.set("theme", ownChoice);
    else url.searchParams.delete("theme");
    window.history.replaceState(window.history.state, "", url);
    announce();
  }

  function announce() {
    window.dispatchEvent(new CustomEvent("weir:theme", { detail: shown() }));
  }

  const asked = new URLSearchParams(window.location.search).get("theme") || kept();
  if (asked === "dark" || asked === "light") root.dataset.theme = asked;
  window.weirTheme = shown;
  prefersDark.addEventListener("change", announce);
  document.addEventListener("click", (event) => {
    if (event.target.closest("#theme-switch")) choose(shown() === "dark" ? "light" : "dark");
  });

  /* Dash loads the whole of plotly.js when the first chart appears, from an address that it sets
     itself. Weir's charts are cartesian: the smaller bundle, named by the index, is loaded instead;
     early where the page is a chart's, when the browser is idle elsewhere. */
  const bundle = document.getElementById("plotly-bundle");
  Object.defineProperty(window, "_dashPlotlyJSURL", { get: () => bundle.href, set: () => {} });
  if (window.location.pathname.startsWith("/devices/")) bundle.rel = "preload";

  /* assets/grid.js loads the grid's scripts where a page shows a grid; they are on their way sooner
     where the address says that it will. */
  const grid = document.querySelector('meta[name="grid-scripts"]');
  if (grid && window.location.pathname === "/devices") {
    grid.content.split(" ").forEach((href) => {
      const link = document.createElement("link");
      Object.assign(link, { rel: "preload", as: "script", href });
      document.head.append(link);
    });
  }
})();
