/* The one global name, `weir`, filled by the page's first script (head/start.js; in an embed's
   frame web/embed/assets/frame.js) and by the server (web/static.py). An embed has only a theme. */
const {
  siteRoot = "",
  theme = () => "light",
  keep = () => {},
  zoneNames = [],
} = globalThis.weir || {};

export { keep, siteRoot, theme, zoneNames };
