/* The hover texts of a chart's rows, made from the figure's numbers as components/formatting.py
   does: a figure's line has `meta.says` (components/charts/labels.py). assets/hover-card.js and
   assets/cursor.js show them. */
import { plotlyMs } from "./scales.js";

const BAND = 1; // the indices of the traces
const LINE = 2;
const DAY_MS = 86400000;
const WEEKDAYS = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const DURATIONS = [
  [DAY_MS, "d", 100],
  [3600000, "h", 48],
  [60000, "min", 10],
  [1000, "s", 0],
];
const NOTHING = "–";

/* --- Numbers --- */

/* With that many decimals; a tie is rounded to the even digit. */
function fixed(size, digits) {
  if (size >= 1e21) return String(BigInt(size)); // above it toFixed uses exponents
  const text = size.toFixed(digits);
  const scaled = size * 10 ** digits;
  const between =
    scaled % 1 === 0.5 &&
    /^50*$/.test(
      size
        .toFixed(digits + 20)
        .split(".")[1]
        .slice(digits),
    );
  if (!between) return text;
  return ((Math.floor(scaled) + (Math.floor(scaled) % 2)) / 10 ** digits).toFixed(digits);
}

/* Three significant digits below a thousand, whole numbers with separators above. */
function number(value) {
  if (value === null || value === undefined || !Number.isFinite(value)) return NOTHING;
  const size = Math.abs(value);
  const sign = value < 0 ? "−" : "";
  if (size >= 999.5) return sign + fixed(size, 0).replace(/\B(?=(\d{3})+$)/g, ",");
  const digits =
    size >= 100
      ? 0
      : size >= 10
        ? 1
        : size >= 1
          ? 2
          : size
            ? Math.min(9, 2 - Math.floor(Math.log10(size)))
            : 0;
  let text = fixed(size, digits);
  if (text.includes(".")) text = text.replace(/0+$/, "").replace(/\.$/, "");
  return text === "0" ? text : sign + text;
}

function span(low, high) {
  if (number(low) === number(high)) return number(low);
  const places = decimals([low, high]);
  const [first, last] = [low, high].map((end) => (end ? exact(end, places) : number(end)));
  if (first === last) return first;
  return (first + last).includes("−") ? `${first} to ${last}` : `${first}–${last}`;
}

/* The number of decimals for all of these: three digits of the largest, and enough for the smallest
   to be visible, at most two. As in components/formatting.py. */
function decimals(values) {
  const sizes = values
    .filter(Number.isFinite)
    .map(Math.abs)
    .filter((size) => size > 0);
  if (!sizes.length || sizes.every(Number.isInteger)) return 0;
  const [least, most] = [Math.min(...sizes), Math.max(...sizes)];
  if (most >= 999.5) return 0;
  const digits = (size, figures) =>
    Math.max(0, Math.min(9, figures - 1 - Math.floor(Math.log10(size))));
  return Math.max(digits(most, 3), Math.min(2, digits(least, 1)));
}

/* With that many decimals, and separators. */
function exact(value, places) {
  if (!Number.isFinite(value)) return NOTHING;
  const [whole, part] = fixed(Math.abs(value), places).split(".");
  const text = whole.replace(/\B(?=(\d{3})+$)/g, ",") + (part ? `.${part}` : "");
  return value < 0 && Number(fixed(Math.abs(value), places)) ? `−${text}` : text;
}

function volume(gallons, steps) {
  const [, per, unit] = steps.find(([least]) => Math.abs(gallons) >= least);
  return `${number(gallons / per)} ${unit}`;
}

/* The two largest units, the second one only if the first is small. */
function duration(ms) {
  const at = DURATIONS.findIndex(([size]) => ms >= size);
  if (at < 0) return "0 s";
  const [size, unit, telling] = DURATIONS[at];
  const count = Math.floor(ms / size);
  const next = DURATIONS[at + 1];
  const rest = next && count < telling ? Math.floor((ms % size) / next[0]) : 0;
  return rest ? `${count} ${unit} ${rest} ${next[1]}` : `${count} ${unit}`;
}

/* --- Times, by the offsets of a zone --- */

const two = (count) => String(count).padStart(2, "0");

function pieceAt(clock, ms) {
  let index = clock.length - 1;
  while (index > 0 && clock[index][0] > ms) index -= 1;
  return clock[index];
}

const days = new Map();
function dayText(day) {
  if (!days.has(day)) {
    const date = new Date(day * DAY_MS);
    const [weekday, month] = [WEEKDAYS[date.getUTCDay()], MONTHS[date.getUTCMonth()]];
    days.set(day, `${weekday} ${date.getUTCDate()} ${month} ${date.getUTCFullYear()}`);
  }
  return days.get(day);
}

const inDay = (local) => ((local % DAY_MS) + DAY_MS) % DAY_MS;
const minuteText = (local) =>
  `${two(Math.floor(inDay(local) / 3600000))}:${two(Math.floor(inDay(local) / 60000) % 60)}`;

/* The span of a row; an instant with its seconds if it has no length. */
function title(startMs, lengthMs, clock) {
  const [, offset, name] = pieceAt(clock, startMs);
  const local = startMs + offset;
  const day = dayText(Math.floor(local / DAY_MS));
  if (!lengthMs)
    return `${day}, ${minuteText(local)}:${two(Math.floor(inDay(local) / 1000) % 60)} ${name}`;
  const [, after, nameAfter] = pieceAt(clock, startMs + lengthMs);
  const first = minuteText(local) + (name === nameAfter ? "" : ` ${name}`);
  return `${day}, ${first}–${minuteText(startMs + lengthMs + after)} ${nameAfter}`;
}

/* --- A figure's rows --- */

/* An instant of an axis: UTC without a zone, or epoch milliseconds. */
const utc = (at) => (typeof at === "number" ? at : plotlyMs(at));

/* Bars stand in the middle of their spans. */
function ofBars({ x, y, meta }) {
  return x.map((at, row) => ({
    ms: utc(at),
    startMs: utc(at) - meta.says.length_ms / 2,
    value: y[row],
    row,
  }));
}

/* A line's run begins and ends with its spans; its rows stand in the middle of theirs. The run's
   band follows the maxima and returns along the minima. */
function ofLine({ x, y, meta }, band) {
  const half = meta.says.length_ms / 2;
  const rows = [];
  let ahead = 0; // where the run's band begins
  for (let start = 0; start < x.length; start = x.indexOf(null, start) + 1) {
    const end = x.indexOf(null, start);
    for (let at = start + 1; at < end - 1; at += 1) {
      const ms = utc(x[at]);
      const made = { ms, startMs: ms - half, value: y[at], row: rows.length };
      if (meta.says.range) {
        made.high = band.y[ahead + at - start];
        made.low = band.y[ahead + 2 * end - start - 1 - at];
      }
      rows.push(made);
    }
    ahead += 2 * (end - start) + 1;
  }
  return rows;
}

/* The comparison: the position on the axis, the level, and the other line's date. */
function ofCompared(trace) {
  const { name, unit, days, length_ms } = trace.meta.compared;
  return {
    name,
    unit,
    days,
    length_ms,
    rows: ofSecond(trace).filter(({ value }) => value !== null),
  };
}

/* The value within half a bucket of an instant; undefined without one. */
function valueAt(rows, ms, lengthMs) {
  const row = rows[nearest(rows, ms)];
  return row && Math.abs(row.ms - ms) <= lengthMs / 2 ? row.value : undefined;
}

function comparedLines(compared, usual, row, unit) {
  const lines = [];
  if (compared) {
    const other = valueAt(compared.rows, row.ms, compared.length_ms);
    const day = compared.days.filter(([from]) => from <= row.ms).pop();
    if (other !== undefined) {
      const difference = row.value - other;
      const sign = difference < 0 ? "" : "+";
      lines.push([day ? `${compared.name}, ${day[1]}` : compared.name, `${number(other)} ${unit}`]);
      lines.push(["difference", `${sign}${number(difference)} ${unit}`]);
    }
  }
  if (usual) {
    const at = nearest(
      usual.at.map((ms) => ({ ms })),
      row.ms,
    );
    if (at >= 0 && Math.abs(usual.at[at] - row.ms) <= usual.length_ms / 2)
      lines.push(["usual, 10–90 %", `${span(usual.low[at], usual.high[at])} ${usual.unit}`]);
  }
  return lines;
}

function ofSecond({ x, y }) {
  return x
    .map((at, row) => ({ ms: at === null ? NaN : utc(at), value: y[row] }))
    .filter(({ ms }) => Number.isFinite(ms));
}

const readData = new WeakMap(); // a figure's data → its rows

/* The drawn rows in order of time: {says, rows, second}; null without rows. */
function read(graph) {
  const data = graph.data || [];
  const line = data[LINE];
  if (!line?.meta?.says || !line.x.length) return null;
  if (!readData.has(line)) {
    const rows = line.type === "bar" ? ofBars(line) : ofLine(line, data[BAND]);
    const second = data.find((trace) => trace.meta?.second);
    const seconds = second ? { ...second.meta.second, rows: ofSecond(second) } : null;
    const other = data.find((trace) => trace.meta?.compared);
    readData.set(line, {
      says: line.meta.says,
      compared: other ? ofCompared(other) : null,
      usual: data.find((trace) => trace.meta?.usual)?.meta.usual || null,
      findings: data.flatMap((trace) => trace.meta?.findings || []),
      rows: rows.filter(({ value }) => value !== null),
      second: seconds,
    });
  }
  return readData.get(line);
}

/* The index of the row nearest to an instant; −1 without one. */
function nearest(rows, ms) {
  let [low, high] = [0, rows.length - 1];
  if (high < 0) return -1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rows[middle].ms < ms) low = middle + 1;
    else high = middle;
  }
  return low > 0 && ms - rows[low - 1].ms < rows[low].ms - ms ? low - 1 : low;
}

/* The text of one row: its title, and a label and a value for each line. */
function words({ says, second, findings = [], compared = null, usual = null }, row) {
  const of = (part) => (says[part] ? says[part][row.row] : null);
  const [gallons, seconds, worst, best] = ["volume", "seconds", "worst", "best"].map(of);
  const places = decimals(says.range ? [row.value, row.low, row.high] : [row.value]); // the same for all
  const lines = [[says.range ? "average" : says.name, `${exact(row.value, places)} ${says.unit}`]];
  if (says.range) {
    const [low, high] = [row.low, row.high].map((value) => exact(value, places));
    const between = (low + high).includes("−") ? " to " : "–";
    lines.push(["range", `${low === high ? low : low + between + high} ${says.unit}`]);
  }
  const beside = second?.rows[nearest(second.rows, row.ms)];
  if (beside) lines.push([second.name, `${number(beside.value)} ${second.unit}`]);
  lines.push(...comparedLines(compared, usual, row, says.unit));
  if (gallons !== null) {
    const over = seconds ? ` over ${duration(Math.round(seconds * 1000))}` : "";
    lines.push(["volume", `${volume(gallons, says.volume_steps)}${over}`]);
  }
  if (worst !== null && best !== null) lines.push(["quality", span(worst, best)]);
  findings
    .filter(([from, to]) => row.ms >= from && row.ms <= to)
    .forEach(([, , text]) => lines.push(["finding", text]));
  return {
    title: says.titles ? says.titles[row.row] : title(row.startMs, says.length_ms, says.clock),
    lines,
  };
}

export { decimals, duration, exact, nearest, number, read, span, title, volume, words };
