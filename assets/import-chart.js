/* The chart of an import's preview: one meter's values by time, as an SVG. */
const NS = "http://www.w3.org/2000/svg";
const [WIDTH, HEIGHT, LEFT, BOTTOM, TOP] = [440, 190, 44, 22, 8];

function shape(tag, attributes, text = "") {
  const made = document.createElementNS(NS, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.textContent = text;
  return made;
}

function steps(most) {
  const rough = most / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].find((each) => each * power >= rough) * power;
  return Array.from({ length: Math.floor(most / step) + 1 }, (_, index) => index * step);
}

/* `unit`: {name, factor} in which values are shown. Points are [ms, value or null]; a null, or a gap of three typical steps, breaks the line. */
export function chart({ points, device }, zone, unit) {
  const measured = points
    .filter(([, value]) => value != null)
    .map(([ms, value]) => [ms, value * unit.factor]);
  if (measured.length < 2) return null;
  const [from, to] = [measured[0][0], measured.at(-1)[0]];
  const most = Math.max(...measured.map(([, value]) => value), 0) || 1;
  const x = (ms) => LEFT + ((ms - from) / (to - from || 1)) * (WIDTH - LEFT - 6);
  const y = (value) => TOP + (1 - Math.max(0, value) / (most * 1.05)) * (HEIGHT - TOP - BOTTOM);
  const gaps = measured.slice(1).map(([ms], index) => ms - measured[index][0]);
  const usual = [...gaps].sort((a, b) => a - b)[gaps.length >> 1];
  const path = measured
    .map(([ms, value], index) => {
      const isBroken = index && ms - measured[index - 1][0] > 3 * usual;
      return `${!index || isBroken ? "M" : "L"}${x(ms).toFixed(1)} ${y(value).toFixed(1)}`;
    })
    .join("");
  const svg = shape("svg", {
    viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
    role: "img",
    "aria-label": `${device}: ${measured.length} values up to ${most.toPrecision(3)} ${unit.name}`,
  });
  for (const step of steps(most)) {
    svg.append(
      shape("line", { x1: LEFT, x2: WIDTH - 6, y1: y(step), y2: y(step), class: "grid" }),
      shape(
        "text",
        { x: LEFT - 6, y: y(step) + 4, "text-anchor": "end" },
        String(+step.toPrecision(3)),
      ),
    );
  }
  const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", timeZone: zone });
  const clock = new Intl.DateTimeFormat("en-GB", {
    hour: "2-digit",
    minute: "2-digit",
    timeZone: zone,
  });
  const format = to - from > 2 * 86_400_000 ? day : clock;
  for (const part of [0, 1 / 3, 2 / 3]) {
    const at = from + part * (to - from);
    const text = part
      ? format.format(at)
      : `${day.format(at)} ${format === clock ? clock.format(at) : ""}`;
    svg.append(shape("text", { x: x(at), y: HEIGHT - 6 }, text.trim()));
  }
  svg.append(shape("path", { d: path, class: "flow" }), shape("text", { x: 0, y: 16 }, unit.name));
  return svg;
}
