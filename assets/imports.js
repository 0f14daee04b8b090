/* The import page: uploads a file in pieces, shows the guessed mapping, lets the reader change it,
   imports in the background and undoes. */
import { counted } from "./admin-shared.js";
import { register } from "./dash.js";
import { element } from "./element.js";
import {
  bytes,
  creation,
  isBusy,
  STATES,
  shownRows,
  titled,
  undoQuestion,
  whole,
} from "./import-texts.js";
import { card, mappingView } from "./import-view.js";

const POLL_MS = 700;
let current = null; // the id of the shown import
let mappingUsed = ""; // the saved one that the shown settings are from
let shown = 0; // counts drawings, so that a late response changes nothing

const page = () => document.getElementById("import-page");
const body = () => document.getElementById("import-body");
const settings = () => JSON.parse(page().dataset.settings);

function say(words) {
  const place = document.getElementById("import-status");
  if (!place) return;
  place.textContent = words;
  place.hidden = !words;
}

/* The service's JSON. Throws an Error with its message. */
async function request(method, path = "", content = undefined) {
  const isBytes = content instanceof Blob;
  const type = isBytes ? "application/octet-stream" : "application/json";
  const response = await fetch(settings().files + path, {
    method,
    headers: content === undefined ? {} : { "Content-Type": type },
    body: isBytes || content === undefined ? content : JSON.stringify(content),
  }).catch(() => {
    throw new Error("The service can’t be reached.");
  });
  const body = await response.json().catch(() => ({}));
  if (!response.ok) throw new Error(body.detail || `The service responded ${response.status}.`);
  return body;
}

const attempt = (deed) => {
  say("");
  return deed().catch((error) => say(error.message));
};

function button(label, deed, className = "button") {
  const made = element("button", { type: "button", className }, label);
  made.addEventListener("click", () => {
    made.disabled = true;
    attempt(deed).finally(() => {
      made.disabled = false;
    });
  });
  return made;
}

const inAddress = () => new URLSearchParams(window.location.search).get("id");

function show(id) {
  current = id;
  mappingUsed = "";
  return id ? open(id) : start();
}

function go(id) {
  const address = new URL(window.location.href);
  if (id) address.searchParams.set("id", id);
  else address.searchParams.delete("id");
  window.history.pushState({}, "", address);
  return show(id);
}

const likeness = (control) => control.name || control.textContent;

/* Shows the elements; the focus stays on the control of the same name. */
function replace(...parts) {
  const focused = body().contains(document.activeElement) ? likeness(document.activeElement) : "";
  body().replaceChildren(...parts);
  const controls = [...body().querySelectorAll("a, button, input, select, summary")];
  if (focused) controls.find((control) => likeness(control) === focused)?.focus();
}

/* --- A new file --- */

async function send(file) {
  const made = await request("POST", "", { name: file.name, size: file.size });
  const bar = element("progress", { max: file.size, value: 0 });
  const words = element("p", { className: "quiet" }, `Sending ${file.name}, ${bytes(file.size)}`);
  replace(card("Sending", "", bar, words));
  for (let offset = 0; offset < file.size; ) {
    const piece = file.slice(offset, offset + settings().pieceBytes);
    const { received } = await request("PUT", `/${made.id}/content?offset=${offset}`, piece);
    offset = received;
    bar.value = received;
  }
  await go(made.id);
}

function dropZone() {
  const input = element("input", { type: "file", className: "sr-only", id: "import-file" });
  input.accept = ".csv,.tsv,.txt,.dat,.rdb,.log,.xlsx,.ndjson,.jsonl,.json,.gz,.zip";
  const label = element(
    "label",
    { className: "import-drop", htmlFor: "import-file" },
    element("strong", {}, "Drop a file here, or choose one"),
    element(
      "span",
      { className: "quiet" },
      "Up to 2 GiB. You check everything before it is stored.",
    ),
  );
  const take = (files) => files.length && attempt(() => send(files[0]));
  input.addEventListener("change", () => take(input.files));
  for (const kind of ["dragover", "dragleave", "drop"]) {
    label.addEventListener(kind, (event) => {
      event.preventDefault();
      label.classList.toggle("over", kind === "dragover");
      if (kind === "drop") take(event.dataTransfer.files);
    });
  }
  return element("div", { className: "import-new" }, input, label);
}

const DATE_TIME = new Intl.DateTimeFormat("en-GB", {
  day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit",
  timeZone: "UTC",
}); // biome-ignore format: one line each would be seven

/* On phones a row's cells stand below each other, each after its heading. */
function stackedTable(names, rows) {
  const heads = names.map((text) => element("th", { scope: "col" }, text));
  const body = rows.map((contents) => {
    const cells = contents.map((content, place) => {
      const cell = element("td", {}, content || "–");
      cell.dataset.head = names[place];
      return cell;
    });
    return element("tr", {}, ...cells);
  });
  const made = element(
    "table",
    { className: "import-table import-stack" },
    element("thead", {}, element("tr", {}, ...heads)),
    element("tbody", {}, ...body),
  );
  return element("div", { className: "import-scroll" }, made);
}

function counts({ state, outcome }) {
  if (state === "undone") return `${whole(outcome.removed)} readings removed`;
  if (outcome.problem) return outcome.problem;
  const refused = outcome.refused ? `, ${whole(outcome.refused)} refused` : "";
  const empty = outcome.empty ? `, ${whole(outcome.empty)} without a value` : "";
  return outcome.read ? `${whole(outcome.stored)} stored${refused}${empty}` : "";
}

function recentCard(imports) {
  const rows = imports.map((each) => {
    const link = element("a", { href: `?id=${each.id}`, className: "link" }, each.name);
    link.addEventListener("click", (event) => {
      event.preventDefault();
      attempt(() => go(each.id));
    });
    const remove = button("Remove", async () => {
      await request("DELETE", `/${each.id}`);
      await start();
    });
    remove.title = "Forgets the file and its import; readings stay.";
    remove.hidden = isBusy(each.state);
    const when = `${DATE_TIME.format(new Date(each.createdAt))} UTC`;
    return [link, when, titled(STATES[each.state]), counts(each), remove];
  });
  return card("Earlier imports", "", stackedTable(["File", "Sent", "State", "Rows", ""], rows));
}

async function start() {
  const number = ++shown;
  const { data } = await request("GET");
  if (number !== shown || !page()) return;
  replace(dropZone(), ...(data.length ? [recentCard(data)] : []));
}

/* --- One import --- */

function heading(job) {
  const chip = element("span", { className: "chip new" }, `${job.name} · ${bytes(job.size)}`);
  const again = button("Another file", () => go(""));
  return element("div", { className: "import-heading" }, chip, again);
}

async function change(job, values) {
  mappingUsed = values.mapping || values.save || "";
  draw(await request("PATCH", `/${job.id}`, { settings: values }));
}

function saving(job) {
  const name = element("input", { className: "search", placeholder: "Name of the mapping" });
  name.setAttribute("aria-label", "Name of the mapping");
  const save = button("Save mapping", async () => {
    await change(job, { save: name.value.trim() });
    const { organization } = settings();
    const command = `weir readings import FILE --org ${organization} --mapping "${name.value.trim()}"`;
    say(`Saved. For the next file: ${command}`);
  });
  return element("span", { className: "import-save" }, name, save);
}

function readyBar(job) {
  const go = button("Import", () => begin(job), "button primary");
  const { preview } = job;
  go.disabled = Boolean(preview.problem) || !preview.stored;
  const words = preview.problem
    ? "Change what doesn’t fit first."
    : `${creation(preview.newDevices)}The whole import can be undone.`;
  return [go, element("span", { className: "quiet" }, words), saving(job)];
}

async function begin(job) {
  draw(await request("POST", `/${job.id}/begin`));
}

function busyBar(job) {
  const { outcome, state } = job;
  const bar = element("progress", { max: job.size });
  if (outcome.bytes) bar.value = outcome.bytes;
  const words =
    state !== "running"
      ? titled(STATES[state])
      : !outcome.read
        ? "Looking for new devices in the file"
        : [`${whole(outcome.read)} rows read`, counts(job)].filter(Boolean).join(", ");
  const pause = button(job.pausing ? "Pausing…" : "Pause", async () =>
    draw(await request("POST", `/${job.id}/pause`)),
  );
  pause.hidden = state === "undoing" || job.goal === "undo";
  return [bar, element("span", {}, words), pause];
}

/* What an undo would delete, to be confirmed in the place of the bar. */
function undoBar(job) {
  const undo = async () => draw(await request("POST", `/${job.id}/undo`));
  const question = element("strong", {}, undoQuestion(job.outcome));
  return [
    question,
    button(`Delete ${counted(job.outcome.stored, "reading")}`, undo, "button danger"),
    button("Keep them", async () => draw(job)),
  ];
}

function doneBar(job) {
  const words = [titled(STATES[job.state]), counts(job)].filter(Boolean).join(": ");
  const parts = [element("strong", {}, words)];
  if (["paused", "interrupted"].includes(job.state)) {
    parts.unshift(button("Continue", () => begin(job), "button primary"));
  }
  if (job.outcome.read && job.state !== "undone") {
    const confirm = async () =>
      document.querySelector(".import-bar").replaceChildren(...undoBar(job));
    parts.push(button("Undo this import…", confirm));
  }
  if (job.state === "undone") {
    parts.push(button("Change it and import again", () => change(job, {})));
  }
  if (job.state === "done") {
    parts.push(element("a", { href: settings().devices, className: "button" }, "Show devices"));
  }
  return parts;
}

function refusedCard(job) {
  const { causes } = job.outcome;
  const byReason = causes
    .slice(0, 100)
    .map(([reason, device, count, sample]) => [reason, device, whole(count), sample]);
  const href = `${settings().files}/${job.id}/refused`;
  const file = element("a", { href, className: "button", download: "" }, "As a file");
  const kind = causes.length === 1 ? "1 reason" : `${whole(causes.length)} reasons`;
  const parts = [stackedTable(["Why", "Device", "Rows", "The first"], byReason)];
  const rows = job.refusedRows || [];
  if (rows.length) {
    const words = shownRows(rows.length, job.outcome.refused);
    const list = element("details", {}, element("summary", {}, words));
    list.append(stackedTable(["Why", "Device", "Row"], rows));
    parts.push(list);
  }
  return card("Refused rows", kind, ...parts, file);
}

function notesCard({ outcome, state }) {
  const items = outcome.messages.map((text) => element("li", {}, text));
  const [word, devices] =
    state === "undone" ? ["Deleted", outcome.deleted] : ["Created", outcome.created];
  if (devices.length) {
    const names = devices.slice(0, 20).join(", ") + (devices.length > 20 ? " …" : "");
    items.push(element("li", {}, `${word} ${counted(devices.length, "device")}: ${names}`));
  }
  return items.length ? card("Messages", "", element("ul", {}, ...items)) : "";
}

function draw(job) {
  if (!page() || job.id !== current) return;
  const number = ++shown;
  const isReady = job.state === "ready";
  const changeTo = (values) => attempt(() => change(job, values));
  const shownUnits = settings().units;
  const parts = isReady ? mappingView({ ...job, mappingUsed, shownUnits }, changeTo) : [];
  const bar = isReady ? readyBar(job) : isBusy(job.state) ? busyBar(job) : doneBar(job);
  const status = element("div", { className: "card import-bar" }, ...bar);
  if (!isReady) parts.push(notesCard(job));
  if (!isReady && job.outcome.causes.length) parts.push(refusedCard(job));
  const order = isReady ? [...parts, status] : [status, ...parts];
  replace(heading(job), ...order.filter(Boolean));
  if (isBusy(job.state)) {
    window.setTimeout(() => number === shown && page() && attempt(() => open(job.id)), POLL_MS);
  }
}

async function open(id) {
  current = id;
  draw(await request("GET", `/${id}`));
}

register("imports", {
  opened: () => {
    attempt(() => show(inAddress()));
    return true;
  },
});

window.addEventListener("popstate", () => {
  if (page()) attempt(() => show(inAddress()));
});
