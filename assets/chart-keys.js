/* The keys of a chart: [action, amount] of each. assets/cursor.js carries it out. */
const ZOOM = 0.6;
const PAN = 0.2;
const ROWS_WITH_SHIFT = 10;

const DEEDS = {
  ArrowLeft: ["step", -1],
  ArrowRight: ["step", 1],
  Home: ["step", -Infinity],
  End: ["step", Infinity],
  "+": ["zoom", ZOOM],
  "=": ["zoom", ZOOM],
  "-": ["zoom", 1 / ZOOM],
  "−": ["zoom", 1 / ZOOM],
  "[": ["pan", -PAN],
  "]": ["pan", PAN],
  c: ["compare"],
  C: ["compare"],
  u: ["usual"],
  U: ["usual"],
  r: ["reset"],
  R: ["reset"],
  Escape: ["leave"],
};

/* null for a key without an action, and for the browser's own shortcuts. */
export function deedOf({ key, shiftKey, ctrlKey, metaKey, altKey }) {
  if (ctrlKey || metaKey || altKey || !Object.hasOwn(DEEDS, key)) return null;
  const [deed, amount] = DEEDS[key];
  return [deed, deed === "step" && shiftKey ? amount * ROWS_WITH_SHIFT : amount];
}
