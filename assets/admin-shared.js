/* Shared by the tabs of the administration: requests to the service, messages, dialogs, fields. */
import { unitNumber } from "./admin-device-texts.js";
import { element } from "./element.js";
import { zoneNames } from "./site.js";
import { toast } from "./toast.js";

export const page = () => document.getElementById("admin");
export const settings = () => JSON.parse(page().dataset.settings);
export const whole = (number) => Number(number).toLocaleString("en-US");
export const counted = (number, word) => `${whole(number)} ${word}${number === 1 ? "" : "s"}`;

/* A problem of the service: `message` for readers, `reason` for programs. */
class Problem extends Error {
  constructor(status, body) {
    const errors = (body.errors || []).map(({ parameter, detail }) => `${parameter} ${detail}`);
    super(errors.join("; ") || body.detail || `The service responded ${status}.`);
    Object.assign(this, { status, reason: body.reason });
  }
}

export async function request(method, path, content = undefined, root = settings().service) {
  const response = await fetch(root + path, {
    method,
    headers: content === undefined ? {} : { "Content-Type": "application/json" },
    body: content === undefined ? undefined : JSON.stringify(content),
  }).catch(() => {
    throw new Problem(0, { detail: "The service can’t be reached." });
  });
  const body = await response.json().catch(() => ({}));
  if (!response.ok) throw new Problem(response.status, body);
  return body;
}

/* The response to a change. If somebody else was first, `show` loads what is stored now, so that the
   next attempt starts from there. */
export async function change(method, path, content, show) {
  try {
    return await request(method, path, content);
  } catch (error) {
    if (error.reason === "changed") {
      await show().catch(() => {});
      error.message += " The page is up to date now: start again from there.";
    }
    throw error;
  }
}

export function say(words) {
  const place = document.getElementById("admin-status");
  if (!place) return;
  place.textContent = words;
  place.hidden = !words;
}

/* Carries out a change; an error is shown where the reader looks. */
export async function attempt(deed, show = say) {
  show("");
  try {
    return await deed();
  } catch (error) {
    show(error.message);
    return undefined;
  }
}

export function button(label, deed, className = "button") {
  const made = element("button", { type: "button", className }, label);
  made.addEventListener("click", async () => {
    made.disabled = true;
    await attempt(deed);
    made.disabled = false;
  });
  return made;
}

export function done(words, undo = null) {
  toast(words, undo && (() => attempt(undo)));
}

export const day = (instant) => (instant ? instant.slice(0, 10) : "–");
export const minute = (instant) =>
  instant ? `${instant.slice(0, 16).replace("T", " ")} UTC` : "–";

/* --- Cards and tables --- */

export function card(title, note, ...children) {
  const heading = element("h2", {}, title, element("span", { className: "quiet" }, note));
  return element("section", { className: "card admin-card" }, heading, ...children);
}

export function table(heads, rows, empty) {
  if (!rows.length) return element("p", { className: "quiet admin-empty" }, empty);
  const head = element("tr", {}, ...heads.map((text) => element("th", { scope: "col" }, text)));
  const body = rows.map((cells) =>
    element(
      "tr",
      {},
      ...cells.map((content, place) => {
        const cell = element("td", {}, content ?? "–");
        cell.dataset.head = heads[place];
        return cell;
      }),
    ),
  );
  const made = element("table", {}, element("thead", {}, head), element("tbody", {}, ...body));
  return element("div", { className: "admin-scroll" }, made);
}

export const lines = (first, second) =>
  element(
    "span",
    { className: "admin-lines" },
    element("span", {}, first),
    element("span", { className: "quiet" }, second),
  );

/* --- Dialogs --- */

/* A dialog with a form. `save` gets the form; the dialog closes when it returns and shows what it
   throws. Without a `label` there is nothing to save. */
export function dialog(title, parts, { label = "Save", save = null, danger = false } = {}) {
  const problem = element("p", { className: "problem", hidden: true });
  problem.setAttribute("role", "alert");
  const show = (words) => {
    problem.textContent = words;
    problem.hidden = !words;
  };
  const cancel = element(
    "button",
    { type: "button", className: "button" },
    save ? "Cancel" : "Close",
  );
  const kind = danger ? "button danger" : "button primary";
  const submit = element("button", { type: "submit", className: kind }, label);
  const foot = element("div", { className: "admin-foot" }, cancel, ...(save ? [submit] : []));
  const form = element("form", {}, element("h2", {}, title), ...parts, problem, foot);
  form.noValidate = true;
  const box = element("dialog", { className: "admin-dialog" }, form);
  box.setAttribute("aria-label", title);
  cancel.addEventListener("click", () => box.close());
  box.addEventListener("close", () => box.remove());
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    submit.disabled = true;
    const isSaved = await attempt(async () => {
      await save(form);
      return true;
    }, show);
    submit.disabled = false;
    if (isSaved) box.close();
  });
  page().append(box);
  box.showModal();
  return { box, form, submit };
}

/* --- Fields --- */

const option = (value, text, chosen) =>
  element("option", { value, selected: value === chosen }, text);

function control(field, text) {
  const named = { name: field.name };
  if (field.kind === "flag")
    return element(
      "select",
      { ...named, className: "button select" },
      ...(field.required ? [] : [option("", "not set", text)]),
      option("true", "yes", text),
      option("false", "no", text),
    );
  if (field.kind === "choice" || field.kind === "zone") {
    const choices = field.kind === "zone" ? zoneNames : field.choices;
    const all = text && !choices.includes(text) ? [text, ...choices] : choices;
    const none = field.required ? [] : [option("", "not set", text)];
    const every = all.map((each) => option(each, field.names?.[each] ?? each, text));
    return element("select", { ...named, className: "button select" }, ...none, ...every);
  }
  const type = { number: "number", instant: "date", secret: "text" }[field.kind] || "text";
  const input = element("input", { ...named, type, className: "search", value: text });
  if (type === "number") input.step = "any";
  input.autocomplete = "off";
  if (field.placeholder) input.placeholder = field.placeholder;
  return input;
}

/* The organization's units decide how numbers of a field are shown and typed: {name, factor}. */
export function useUnits(system) {
  page().dataset.settings = JSON.stringify({ ...settings(), system });
}

function unitOf({ unit }) {
  const { units, system } = unit ? settings() : {};
  return units?.[system][unit] || { name: "", factor: 1 };
}

export function labelOf(field) {
  const { name } = unitOf(field);
  return field.label + (name && `${name.startsWith("per ") ? " " : ", "}${name}`);
}

/* A JSON value as the text of its control, and back. */
export function textOf(field, value) {
  if (value === null || value === undefined) return "";
  if (Array.isArray(value)) return value.join("; ");
  if (field.unit) return String(unitNumber.shown(unitOf(field), value));
  return field.kind === "instant" ? String(value).slice(0, 10) : String(value);
}

export function readValue(field, text) {
  const words = text.trim();
  if (field.kind === "list")
    return words
      .split(";")
      .map((each) => each.trim())
      .filter(Boolean);
  if (!words) return null;
  if (field.kind === "flag") return words === "true";
  if (field.kind !== "number" || !Number.isFinite(Number(words))) return words;
  return field.unit ? unitNumber.stored(unitOf(field), Number(words)) : Number(words);
}

export function labelled(field, value) {
  const made = control(field, textOf(field, value));
  const words = element("span", {}, labelOf(field));
  const hint = field.hint ? [element("span", { className: "quiet" }, field.hint)] : [];
  return element("label", { className: "admin-field" }, words, made, ...hint);
}

/* The values of a form that differ from its initial ones. */
export function changed(form, fields, before) {
  const values = {};
  for (const field of fields) {
    const input = form.elements[field.name];
    if (!input || input.disabled) continue;
    if (input.value !== textOf(field, before[field.name])) {
      values[field.name] = readValue(field, input.value);
    }
  }
  return values;
}

/* Offers text as a file to download. */
export function offer(name, text) {
  const href = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  element("a", { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href), 10000);
}
