/* What a chart's points say when they are pointed at, made of the numbers that its figure holds, in
   the words of components/formatting.py. A figure's line brings `meta.says` (components/charts/hover_text.py) and an
   empty customdata, which plotly.js reads when it shows a label: it is filled before the first one. */
(function () {
  "use strict";
  const BAND = 1; // the places of the traces
  const LINE = 2;
  const DAY_MS = 86400000;
  const WEEKDAYS = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];
  const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
  const DURATIONS = [[DAY_MS, "d", 100], [3600000, "h", 48], [60000, "min", 10], [1000, "s", 0]];
  const NOTHING = "–";

  /* --- Numbers --- */

  /* To so many digits behind the point; what lies exactly between two goes to the even one. */
  function fixed(size, digits) {
    if (size >= 1e21) return String(BigInt(size)); // beyond, toFixed speaks of powers
    const text = size.toFixed(digits);
    const scaled = size * 10 ** digits;
    const between = scaled % 1 === 0.5 && /^50*$/.test(size.toFixed(digits + 20).split(".")[1].slice(digits));
    if (!between) return text;
    return ((Math.floor(scaled) + (Math.floor(scaled) % 2)) / 10 ** digits).toFixed(digits);
  }

  /* Three significant digits below a thousand, whole numbers with separators above. */
  function number(value) {
    if (value === null || value === undefined || !Number.isFinite(value)) return NOTHING;
    const size = Math.abs(value);
    const sign = value < 0 ? "−" : "";
    if (size >= 999.5) return sign + fixed(size, 0).replace(/\B(?=(\d{3})+$)/g, ",");
    const digits = size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : size ? Math.min(9, 2 - Math.floor(Math.log10(size))) : 0;
    let text = fixed(size, digits);
    if (text.includes(".")) text = text.replace(/0+$/, "").replace(/\.$/, "");
    return text === "0" ? text : sign + text;
  }

  function span(low, high) {
    const [first, last] = [number(low), number(high)];
    if (first === last) return first;
    return (first + last).includes("−") ? `${first} to ${last}` : `${first}–${last}`;
  }

  function volume(gallons, steps) {
    const [, per, unit] = steps.find(([least]) => Math.abs(gallons) >= least);
    return `${number(gallons / per)} ${unit}`;
  }

  /* The two largest units, the second while the first is small. */
  function duration(ms) {
    const at = DURATIONS.findIndex(([size]) => ms >= size);
    if (at < 0) return "0 s";
    const [size, unit, telling] = DURATIONS[at];
    const count = Math.floor(ms / size);
    const next = DURATIONS[at + 1];
    const rest = next && count < telling ? Math.floor((ms % size) / next[0]) : 0;
    return rest ? `${count} ${unit} ${rest} ${next[1]}` : `${count} ${unit}`;
  }

  /* --- Times, by the pieces of a zone's clock --- */

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
  const minuteText = (local) => `${two(Math.floor(inDay(local) / 3600000))}:${two(Math.floor(inDay(local) / 60000) % 60)}`;

  /* The span of a row; an instant with its seconds where it has no length. */
  function title(startMs, lengthMs, clock) {
    const [, offset, name] = pieceAt(clock, startMs);
    const local = startMs + offset;
    const day = dayText(Math.floor(local / DAY_MS));
    if (!lengthMs) return `${day}, ${minuteText(local)}:${two(Math.floor(inDay(local) / 1000) % 60)} ${name}`;
    const [, after, nameAfter] = pieceAt(clock, startMs + lengthMs);
    const first = minuteText(local) + (name === nameAfter ? "" : ` ${name}`);
    return `${day}, ${first}–${minuteText(startMs + lengthMs + after)} ${nameAfter}`;
  }

  /* --- A figure's points --- */

  function lastLine(says, row) {
    const of = (part) => (says[part] ? says[part][row] : null);
    const [gallons, seconds, worst, best] = ["volume", "seconds", "worst", "best"].map(of);
    const parts = [];
    if (gallons !== null) {
      const over = seconds ? ` over ${duration(Math.round(seconds * 1000))}` : "";
      parts.push(`volume ${volume(gallons, says.volume_steps)}${over}`);
    }
    if (worst !== null && best !== null) parts.push(`quality ${span(worst, best)}`);
    return parts.join(" · ");
  }

  function words(says, row, startMs, value, low, high) {
    const first = says.titles ? says.titles[row] : title(startMs, says.length_ms, says.clock);
    const range = says.range ? [span(low, high)] : [];
    return [first, number(value), ...range, lastLine(says, row)];
  }

  const utc = (text) => Date.parse(`${text}Z`);

  /* Bars stand in the middle of their spans. */
  function ofBars(bars) {
    const { says } = bars.meta;
    return bars.x.map((x, row) => words(says, row, utc(x) - says.length_ms / 2, bars.y[row]));
  }

  /* A line's run begins and ends where its spans do, its rows stand in their middle. The run's band
     goes along the maxima and back along the minima. */
  function ofLine(line, band) {
    const { says } = line.meta;
    const half = says.length_ms / 2;
    const found = [];
    let row = 0;
    let ahead = 0; // where the run's band begins
    for (let start = 0; start < line.x.length; start = line.x.indexOf(null, start) + 1) {
      const end = line.x.indexOf(null, start);
      for (let at = start + 1; at < end - 1; at += 1) {
        const high = says.range ? band.y[ahead + at - start] : null;
        const low = says.range ? band.y[ahead + 2 * end - start - 1 - at] : null;
        found[at] = words(says, row, utc(line.x[at]) - half, line.y[at], low, high);
        row += 1;
      }
      found[start] = found[start + 1];
      found[end - 1] = found[end - 2];
      found[end] = null;
      ahead += 2 * (end - start) + 1;
    }
    return found;
  }

  /* Of the second metric only its value is said. */
  const ofSecond = (line) => line.y.map((value) => (value === null ? null : number(value)));

  /* Each trace that has something to say, once. */
  function ready(graph) {
    (graph.data || []).forEach((trace, place) => {
      if (!trace.meta || !trace.meta.says || trace.customdata.length || !trace.x.length) return;
      const made =
        trace.type === "bar" ? ofBars(trace)
        : place === LINE ? ofLine(trace, graph.data[BAND])
        : ofSecond(trace);
      made.forEach((each) => trace.customdata.push(each)); // the same array: plotly.js holds it
    });
  }

  /* Before plotly.js hears of the pointer. */
  document.addEventListener(
    "mousemove",
    (event) => {
      const graph = event.target.closest && event.target.closest(".js-plotly-plot");
      if (graph) ready(graph);
    },
    true,
  );

  window.weirHover = { ready, number, span, volume, duration, title };
})();
