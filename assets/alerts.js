/* The alert pages. The server decides every text. A click on a button with data-alert writes to the
   page's Store of changes; a change of a form writes to its Store of drafts. */
import { noUpdate, register, setProps } from "./dash.js";
import { siteRoot } from "./site.js";

const REFRESH_MS = 15000;
const DRAFT_MS = 400;
let timer = 0;

const page = () => document.getElementById("alerts");
const place = () => page()?.dataset.place;
const put = (part, data) =>
  setProps(`${place()}-${part}`, { data: { ...data, request_id: Date.now() } });
const inAddress = () => Object.fromEntries(new URLSearchParams(window.location.search));
const request = (more = {}) => page() && put("question", { ...inAddress(), ...more });

/* The chosen group is in the address. */
function chooseGroup() {
  const select = page()?.querySelector("select[data-set=group]");
  if (select) select.value = inAddress().group || "";
}

function fieldsOf(form) {
  const fields = {};
  new FormData(form).forEach((value, name) => {
    fields[name] = [...(fields[name] || []), String(value)];
  });
  return fields;
}

function draft() {
  const form = document.getElementById("alert-rule-form");
  if (form) put("draft", { fields: fieldsOf(form) });
}

function changed(event) {
  const form = event.target.closest?.("form.alert-form");
  if (!form) return;
  if (["source", "kind"].includes(event.target.name)) form.dataset.source = event.target.value;
  if (form.id !== "alert-rule-form") return;
  document.getElementById("alert-rules-preview").dataset.busy = "";
  clearTimeout(timer);
  timer = setTimeout(draft, DRAFT_MS);
}

function say(words, bad) {
  const notice = document.getElementById("alerts-notice");
  notice.textContent = words || "";
  notice.hidden = !words;
  notice.classList.toggle("good", !bad);
}

function press(button) {
  const { alert: what, ...more } = button.dataset;
  if (what === "page") {
    const to = new URLSearchParams(window.location.search);
    to.set("page", more.page);
    window.history.pushState(null, "", `?${to}`);
    request();
    return;
  }
  const form = button.closest("form");
  const note = button.closest("[data-of]")?.querySelector("input[name=text]");
  const text = note?.value || "";
  if (note) note.value = ""; // the field may be in another row of the next form
  button.closest("details")?.removeAttribute("open");
  button.disabled = true;
  put("deed", { do: what, ...more, text, fields: form ? fieldsOf(form) : null });
  setTimeout(() => (button.disabled = false), 2000);
}

register("alerts", {
  listed: (response) => {
    if (response?.error) say(response.error, true);
    return noUpdate();
  },
  done: (response) => {
    if (!response) return noUpdate();
    const problem = document.querySelector("[data-problem]");
    if (problem) problem.textContent = response.problem || "";
    if (response.error || response.words)
      say(response.error || response.words, Boolean(response.error));
    if (response.go) window.history.replaceState(null, "", siteRoot + response.go);
    if (!response.problem && !response.error && !response.stay)
      request({ form: Boolean(response.go) });
    return noUpdate();
  },
});

document.addEventListener("click", (event) => {
  const button = event.target.closest("#alerts button[data-alert]");
  if (button) press(button);
});
document.addEventListener("change", (event) => {
  const select = event.target.closest("#alerts select[data-set]");
  if (!select) return;
  const to = new URLSearchParams(window.location.search);
  to.delete("page");
  if (select.value) to.set(select.dataset.set, select.value);
  else to.delete(select.dataset.set);
  window.history.pushState(null, "", `?${to}`);
  request();
});
/* After "New rule" and its like, one types in the form at once. */
const IS_NEW = "#new";
function begin(form) {
  if (window.location.hash !== IS_NEW) return;
  window.history.replaceState(window.history.state, "", window.location.href.split("#")[0]);
  form?.querySelector("input:not([type=hidden]), select, textarea")?.focus();
}
window.addEventListener("hashchange", () => {
  if (page()) begin(document.querySelector("form.alert-form"));
});

document.addEventListener("submit", (event) => {
  if (event.target.matches("form.alert-form")) event.preventDefault();
});
document.addEventListener("input", changed);
document.addEventListener("weir:drawn", (event) => {
  if (event.target.id === "alert-rules-form") draft();
  if (event.target.id === `${place()}-form`) begin(event.target);
  if (event.target.id === "alerts-summary") chooseGroup();
  if (event.target.id === "alert-rules-preview") delete event.target.dataset.busy;
});
document.addEventListener("keydown", (event) => {
  if (place() !== "alerts" || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest("input, select, textarea")) return;
  const row = event.target.closest(".alert-row") || document.querySelector(".alert-row[data-of]");
  if (event.key === "a") row?.querySelector("[data-alert=acknowledge]")?.click();
  if (event.key === "s") row?.querySelector("details summary")?.click();
});
setInterval(() => {
  const typing = document.activeElement?.matches("#alerts input");
  if (!document.hidden && !typing && place() === "alerts") request();
}, REFRESH_MS);
