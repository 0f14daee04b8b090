/* Images of the chart on screen, made by the browser alone: with its title, and a caption with
   range, resolution, zone and time of creation. plotly.js draws a copy of the figure out of view;
   nothing moves on screen and nothing is requested. */
import * as chart from "./chart.js";
import * as menus from "./menu.js";

const SCALE = 2; // of a PNG: sharp on paper and on dense screens
const SIDE_PX = 16;
const TITLE_PX = 52;
const LINE_PX = 17;
const CHARACTER_PX = 6.3; // of the caption's 12 px, a little more than the mean
let caption = null; // of the last reply: {range, detail, compared, zone, resolution}

chart.onAnswer.push((shown) => {
  caption = shown.caption;
});

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const plain = (words) =>
  words.replace(/[&<>]/g, (sign) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[sign]);

function made() {
  const zone = caption.zone.split(" · ")[0];
  const parts = { dateStyle: "medium", timeStyle: "short", hourCycle: "h23", timeZone: zone };
  return `created ${new Intl.DateTimeFormat("en-GB", parts).format(new Date())} ${zone}`;
}

/* Lines break between parts, with as many parts as fit. */
function lines(parts, widthPx) {
  const room = Math.floor((widthPx - 2 * SIDE_PX) / CHARACTER_PX);
  return parts.reduce((result, part) => {
    const longer = result.length && `${result[result.length - 1]} · ${part}`;
    if (longer && longer.length <= room) result[result.length - 1] = longer;
    else result.push(part);
    return result;
  }, []);
}

function note(text, at) {
  return {
    text,
    showarrow: false,
    align: "left",
    xref: "paper",
    yref: "paper",
    xanchor: "left",
    font: { size: 12, color: colour("--ink-2") },
    borderpad: 0,
    ...at,
  };
}

/* The figure with more room above and below, on the card's own background. */
function figure(drawn) {
  const { width, height, margin } = drawn._fullLayout;
  const layout = structuredClone(drawn.layout);
  const left = SIDE_PX - drawn._fullLayout._size.l;
  const parts = [caption.compared, caption.detail, caption.zone, made(), "Weir"];
  const captionLines = lines(parts.filter(Boolean), width);
  const bottom = captionLines.length * LINE_PX + 12;
  const metric = layout.yaxis.title?.text || "";
  const name = document.querySelector(".identity h1").textContent;
  const title = `<b>${plain(name)}</b> · ${plain(metric)}<br><span style="font-size:12px;color:${colour(
    "--ink-2",
  )}">${plain(lines(caption.range.split(" – "), width).join("<br>").replace(" · ", " – "))}</span>`;
  layout.annotations = [
    ...(layout.annotations || []),
    note(title, {
      x: 0,
      xshift: left,
      y: 1,
      yshift: margin.t + TITLE_PX - 8,
      yanchor: "top",
      font: { size: 16, color: colour("--ink") },
    }),
    note(captionLines.map(plain).join("<br>"), {
      x: 0,
      xshift: left,
      y: 0,
      yshift: -(margin.b + bottom - 8),
      yanchor: "bottom",
    }),
  ];
  Object.assign(layout, {
    autosize: false,
    width,
    height: height + TITLE_PX + bottom,
    margin: { ...margin, t: margin.t + TITLE_PX, b: margin.b + bottom },
    paper_bgcolor: colour("--surface"),
    plot_bgcolor: colour("--surface"),
  });
  return { data: drawn.data, layout, config: { displayModeBar: false } };
}

/* weir_FM-10523_2026-11-20T015000Z_2026-11-21T014959Z_1min.png, like the files of rows. */
function fileName(kind) {
  const serial = document.querySelector(".identity").dataset.serial;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a file's name can hold none
  const safe = serial.replace(/[\u0000-\u001f<>:"/\\|?*\s]+/g, "-").replace(/^[-.]+|[-.]+$/g, "");
  const ends = chart
    .range()
    .map((ms) => `${new Date(ms).toISOString().slice(0, 19).replace(/:/g, "")}Z`);
  return `${["weir", safe, ...ends, caption.resolution].filter(Boolean).join("_")}.${kind}`;
}

function blob(url) {
  const [head, body] = [url.slice(5, url.indexOf(",")), url.slice(url.indexOf(",") + 1)];
  const type = head.split(";")[0];
  if (!head.includes("base64")) return new Blob([decodeURIComponent(body)], { type });
  return new Blob([Uint8Array.from(atob(body), (sign) => sign.charCodeAt(0))], { type });
}

function save(content, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}

async function image(kind) {
  const copy = figure(chart.graph());
  const { width, height } = copy.layout;
  const scale = kind === "png" ? SCALE : 1;
  save(
    blob(await window.Plotly.toImage(copy, { format: kind, width, height, scale })),
    fileName(kind),
  );
}

document.addEventListener("click", (event) => {
  const entry = event.target.closest("[data-deed^='image-']");
  if (!entry || !chart.isOpen() || !chart.graph() || !caption) return;
  const menu = entry.closest("details.menu");
  image(entry.dataset.deed.slice("image-".length)).catch(() =>
    menus.say(menu, "The image can’t be made here."),
  );
});
