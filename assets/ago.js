/* The age of something by this machine's clock: "38 s ago", "2 h ago". */

const UNITS = [
  [86400, "d"],
  [3600, "h"],
  [60, "min"],
  [1, "s"],
];

export function ago(ms) {
  const seconds = Math.max(0, Math.round((Date.now() - ms) / 1000));
  if (seconds < 5) return "just now";
  const [size, unit] = UNITS.find(([length]) => seconds >= length);
  return `${Math.floor(seconds / size)} ${unit} ago`;
}
