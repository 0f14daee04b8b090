/* Runs before anything is painted: the theme, and the scripts that only some pages need. */
(() => {
  "use strict";
  /* The site's path on its host, "" or a path with which every address of the site begins. */
  const siteRoot = new URL(document.currentScript.src).pathname.split("/assets/")[0];
  const KEY = "weir-theme";
  const root = document.documentElement;
  const prefersDark = window.matchMedia("(prefers-color-scheme: dark)");

  function storedTheme() {
    try {
      return window.localStorage.getItem(KEY);
    } catch {
      return null; // storage may be forbidden, in a frame for instance
    }
  }

  function keepTheme(theme) {
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
    keepTheme(ownChoice);
    if (ownChoice) root.dataset.theme = ownChoice;
    else delete root.dataset.theme;
    const url = new URL(window.location.href);
    if (ownChoice) url.searchParams.set("theme", ownChoice);
    else url.searchParams.delete("theme");
    window.history.replaceState(window.history.state, "", url);
    announce();
  }

  /* Units and zone are the reader's on every page: stored in the browser, and added to the address
     of each page that lacks them, so that a shared link has them too. */
  const OWN = ["units", "zone"];
  const HAVE_THEM = /^\/($|wall$|usage$|compare$|report$|findings$|devices$|devices\/.)/;

  function own(name) {
    try {
      return window.localStorage.getItem(`weir-${name}`);
    } catch {
      return null;
    }
  }

  /* The reader's choice; null for the default. */
  function keep(question) {
    OWN.filter((name) => name in question).forEach((name) => {
      try {
        if (question[name]) window.localStorage.setItem(`weir-${name}`, question[name]);
        else window.localStorage.removeItem(`weir-${name}`);
      } catch {
        /* then it lasts as long as the page */
      }
    });
  }

  function withOwn(href) {
    const url = new URL(href, window.location.href);
    const isOurs = url.origin === window.location.origin && url.pathname.startsWith(siteRoot);
    if (!isOurs || !HAVE_THEM.test(url.pathname.slice(siteRoot.length))) return href;
    OWN.filter((name) => own(name) && !url.searchParams.has(name)).forEach((name) =>
      url.searchParams.set(name, own(name)),
    );
    return url.pathname + url.search + url.hash;
  }

  const pushed = window.history.pushState.bind(window.history);
  window.history.pushState = (state, title, href) => {
    const leads = href && new URL(href, window.location.href).pathname !== window.location.pathname;
    return pushed(state, title, leads ? withOwn(href) : href);
  };

  function announce() {
    window.dispatchEvent(new CustomEvent("weir:theme", { detail: shown() }));
  }

  const theme = new URLSearchParams(window.location.search).get("theme") || storedTheme();
  if (theme === "dark" || theme === "light") root.dataset.theme = theme;
  window.weir = { siteRoot, theme: shown, keep }; // assets/site.js provides it
  prefersDark.addEventListener("change", announce);
  document.addEventListener("click", (event) => {
    if (event.target.closest("#theme-switch")) choose(shown() === "dark" ? "light" : "dark");
  });

  function ahead(rel, href) {
    const link = document.createElement("link");
    Object.assign(link, { rel, as: "script", href });
    document.head.append(link);
  }

  const named = (name) => document.querySelector(`meta[name="${name}"]`).content;

  /* Dash loads all of plotly.js when the first chart appears, from an address that it sets itself.
     Weir's charts are cartesian, so the smaller bundle, named by the index, is loaded instead:
     early if the page has a chart, otherwise once the page is loaded and the browser is idle. */
  function charts() {
    const bundle = named("plotly-script");
    Object.defineProperty(window, "_dashPlotlyJSURL", { get: () => bundle, set: () => {} });
    if (window.location.pathname.startsWith(`${siteRoot}/devices/`))
      return ahead("preload", bundle);
    const idle = window.requestIdleCallback || ((then) => setTimeout(then, 500));
    window.addEventListener("load", () =>
      setTimeout(() => idle(() => ahead("prefetch", bundle)), 1000),
    );
  }

  /* assets/grid.js loads the grid's scripts when a page shows a grid; this preloads them if the
     address is of such a page. */
  function grids() {
    if (window.location.pathname !== `${siteRoot}/devices`) return;
    named("grid-scripts")
      .split(" ")
      .forEach((href) => ahead("preload", href));
  }

  if (document.querySelector('meta[name="plotly-script"]')) {
    const here = window.location.pathname + window.location.search + window.location.hash;
    if (withOwn(here) !== here)
      window.history.replaceState(window.history.state, "", withOwn(here));
    charts();
    grids();
  } // the sign-in page has neither
})();
