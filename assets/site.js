/* What the page's first script (head/start.js; in an embed's frame web/embed/assets/frame.js) and the
   server (web/static.py) put into the one global name, `weir`. An embed has a theme alone. */
const {
  siteRoot = "",
  theme = () => "light",
  keep = () => {},
  zoneNames = [],
} = globalThis.weir || {};

export { keep, siteRoot, theme, zoneNames };
