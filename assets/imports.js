/* The import page: sends a file in pieces, shows what the service guesses, lets every guess be
   changed, imports in the background and undoes. */
import { register } from "./dash.js";
import { element } from "./element.js";
import { bytes, isBusy, STATES, whole } from "./import-texts.js";
import { card, mappingView } from "./import-view.js";

const POLL_MS = 700;
let current = null; // the id that the page shows
let shown = 0; // counts what is drawn, so that a late response changes nothing

const page = () => document.getElementById("import-page");
const body = () => document.getElementById("import-body");
const settings = () => JSON.parse(page().dataset.settings);

function say(words) {
  const place = document.getElementById("import-status");
  if (!place) return;
  place.textContent = words;
  place.hidden = !words;
}

/* The service's JSON. Throws an Error in its words. */
async function ask(method, path = "", content = undefined) {
  const isBytes = content instanceof Blob;
  const type = isBytes ? "application/octet-stream" : "application/json";
  const response = await fetch(settings().files + path, {
    method,
    headers: content === undefined ? {} : { "Content-Type": type },
    body: isBytes || content === undefined ? content : JSON.stringify(content),
  }).catch(() => {
    throw new Error("The service can’t be reached.");
  });
  const found = await response.json().catch(() => ({}));
  if (!response.ok) throw new Error(found.detail || `The service responded ${response.status}.`);
  return found;
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

function go(id) {
  const address = new URL(window.location.href);
  if (id) address.searchParams.set("id", id);
  else address.searchParams.delete("id");
  window.history.pushState({}, "", address);
  current = id;
  return id ? open(id) : start();
}

/* --- A new file --- */

async function send(file) {
  const made = await ask("POST", "", { name: file.name, size: file.size });
  const bar = element("progress", { max: file.size, value: 0 });
  const words = element("p", { className: "quiet" }, `Sending ${file.name}, ${bytes(file.size)}`);
  body().replaceChildren(card("Sending", "", bar, words));
  for (let offset = 0; offset < file.size; ) {
    const piece = file.slice(offset, offset + settings().pieceBytes);
    const { received } = await ask("PUT", `/${made.id}/content?offset=${offset}`, piece);
    offset = received;
    bar.value = received;
  }
  await go(made.id);
}

function dropZone() {
  const input = element("input", { type: "file", className: "sr-only", id: "import-file" });
  input.accept = ".csv,.tsv,.txt,.xlsx,.ndjson,.jsonl,.json,.gz";
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

function counts({ state, outcome }) {
  if (state === "undone") return `${whole(outcome.removed)} readings removed`;
  if (outcome.problem) return outcome.problem;
  const refused = outcome.refused ? `, ${whole(outcome.refused)} refused` : "";
  return outcome.read ? `${whole(outcome.stored)} stored${refused}` : "";
}

function recentCard(imports) {
  const rows = imports.map((each) => {
    const link = element("a", { href: `?id=${each.id}`, className: "link" }, each.name);
    link.addEventListener("click", (event) => {
      event.preventDefault();
      attempt(() => go(each.id));
    });
    const remove = button("Remove", async () => {
      await ask("DELETE", `/${each.id}`);
      await start();
    });
    remove.title = "Forgets the file and its import; readings stay.";
    remove.hidden = isBusy(each.state);
    const when = each.createdAt.replace("T", " ").slice(0, 16);
    const texts = [link, `${when} UTC`, STATES[each.state], counts(each), remove];
    return element("tr", {}, ...texts.map((text) => element("td", {}, text)));
  });
  const made = element("table", { className: "import-table" }, element("tbody", {}, ...rows));
  return card("Earlier imports", "", element("div", { className: "import-scroll" }, made));
}

async function start() {
  const number = ++shown;
  const { data } = await ask("GET");
  if (number !== shown || !page()) return;
  body().replaceChildren(dropZone(), ...(data.length ? [recentCard(data)] : []));
}

/* --- One import --- */

function heading(found) {
  const chip = element("span", { className: "chip new" }, `${found.name} · ${bytes(found.size)}`);
  const again = button("Another file", () => go(""));
  return element("div", { className: "import-heading" }, chip, again);
}

async function change(found, values) {
  draw(await ask("PATCH", `/${found.id}`, { settings: values }));
}

function saving(found) {
  const name = element("input", { className: "search", placeholder: "Name of the mapping" });
  name.setAttribute("aria-label", "Name of the mapping");
  const save = button("Save mapping", async () => {
    await change(found, { save: name.value.trim() });
    say(`Saved: weir readings import FILE --mapping “${name.value.trim()}” uses it.`);
  });
  return element("span", { className: "import-save" }, name, save);
}

function readyBar(found) {
  const go = button("Import", () => begin(found), "button primary");
  const { preview } = found;
  go.disabled = Boolean(preview.problem) || !preview.stored;
  const words = preview.problem
    ? "Change what doesn’t fit first."
    : `${whole(preview.newDevices)} new devices will be created. The whole import can be undone.`;
  return [go, element("span", { className: "quiet" }, words), saving(found)];
}

async function begin(found) {
  draw(await ask("POST", `/${found.id}/begin`));
}

function busyBar(found) {
  const { outcome, state } = found;
  const bar = element("progress", { max: found.size });
  if (outcome.bytes) bar.value = outcome.bytes;
  const words =
    state === "undoing" ? "Undoing" : `${whole(outcome.read)} rows read, ${counts(found)}`;
  const pause = button(found.pausing ? "Pausing…" : "Pause", async () =>
    draw(await ask("POST", `/${found.id}/pause`)),
  );
  pause.hidden = state === "undoing" || found.goal === "undo";
  return [bar, element("span", {}, words), pause];
}

function doneBar(found) {
  const undo = async () => draw(await ask("POST", `/${found.id}/undo`));
  const words = { done: "Imported: ", undone: "Undone: ", failed: "Failed: " }[found.state];
  const parts = [element("strong", {}, `${words || `${STATES[found.state]}: `}${counts(found)}`)];
  if (["paused", "interrupted"].includes(found.state)) {
    parts.unshift(button("Continue", () => begin(found), "button primary"));
  }
  if (found.outcome.read && found.state !== "undone") {
    parts.push(button("Undo this import", undo));
  }
  if (found.state === "done") {
    parts.push(element("a", { href: settings().devices, className: "button" }, "Show devices"));
  }
  return parts;
}

function refusedTable(names, rows) {
  const heads = names.map((text) => element("th", { scope: "col" }, text));
  const body = rows.map((texts) =>
    element("tr", {}, ...texts.map((text) => element("td", {}, text || "–"))),
  );
  const made = element(
    "table",
    { className: "import-table" },
    element("thead", {}, element("tr", {}, ...heads)),
    element("tbody", {}, ...body),
  );
  return element("div", { className: "import-scroll" }, made);
}

function refusedCard(found) {
  const { causes } = found.outcome;
  const byReason = causes
    .slice(0, 100)
    .map(([reason, device, count, sample]) => [reason, device, whole(count), sample]);
  const href = `${settings().files}/${found.id}/refused`;
  const file = element("a", { href, className: "button", download: "" }, "As a file");
  const kind = causes.length === 1 ? "1 reason" : `${whole(causes.length)} reasons`;
  const parts = [refusedTable(["Why", "Device", "Rows", "The first"], byReason)];
  const rows = found.refusedRows || [];
  if (rows.length) {
    const words = `The first ${whole(rows.length)} of ${whole(found.outcome.refused)} rows`;
    const list = element("details", {}, element("summary", {}, words));
    list.append(refusedTable(["Why", "Device", "Row"], rows));
    parts.push(list);
  }
  return card("Refused rows", kind, ...parts, file);
}

function notesCard({ outcome }) {
  const items = outcome.messages.map((text) => element("li", {}, text));
  if (outcome.created.length) {
    const names = outcome.created.slice(0, 20).join(", ");
    items.push(element("li", {}, `Created ${whole(outcome.created.length)} devices: ${names}`));
  }
  return items.length ? card("Worth a look", "", element("ul", {}, ...items)) : "";
}

function draw(found) {
  if (!page() || found.id !== current) return;
  const number = ++shown;
  const isReady = found.state === "ready";
  const parts = isReady ? mappingView(found, (values) => attempt(() => change(found, values))) : [];
  const bar = isReady ? readyBar(found) : isBusy(found.state) ? busyBar(found) : doneBar(found);
  const status = element("div", { className: "card import-bar" }, ...bar);
  if (!isReady) parts.push(notesCard(found));
  if (!isReady && found.outcome.causes.length) parts.push(refusedCard(found));
  const order = isReady ? [...parts, status] : [status, ...parts];
  body().replaceChildren(heading(found), ...order.filter(Boolean));
  if (isBusy(found.state)) {
    window.setTimeout(() => number === shown && page() && attempt(() => open(found.id)), POLL_MS);
  }
}

async function open(id) {
  current = id;
  draw(await ask("GET", `/${id}`));
}

register("imports", {
  opened: () => {
    const id = new URLSearchParams(window.location.search).get("id");
    current = id;
    attempt(() => (id ? open(id) : start()));
    return true;
  },
});

window.addEventListener("popstate", () => {
  if (page()) attempt(() => go(new URLSearchParams(window.location.search).get("id")));
});
