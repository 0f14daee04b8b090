/* The settings of findings. The server decides every text. A saved form, or a reset setting, goes
   into the page's Store as a change, and the reply replaces the list. */
import { noUpdate, register, setProps } from "./dash.js";

const byId = (part) => document.getElementById(`finding-settings${part ? `-${part}` : ""}`);
const formOf = (kind) => byId("list").querySelector(`form[data-kind="${CSS.escape(kind)}"]`);

function target() {
  const params = new URLSearchParams(window.location.search);
  return { device: params.get("device") || "", group: params.get("group") || "" };
}

function change(kind, values) {
  setProps("finding-settings-question", {
    data: {
      ...target(),
      kind,
      set: values,
      units: formOf(kind)?.dataset.units,
      request_id: Date.now(),
    },
  });
}

/* The page is built again for another device or group; the open kind stays open. */
function show(field, value) {
  const params = new URLSearchParams();
  if (value) params.set(field, value);
  const open = byId("list").querySelector("details[open]");
  if (open) params.set("kind", open.dataset.kind);
  window.history.pushState({}, "", `${window.location.pathname}?${params}`);
  window.dispatchEvent(new CustomEvent("_dashprivate_pushstate"));
}

function problem(kind, words) {
  const place = formOf(kind)?.querySelector("[data-problem]");
  if (place) place.textContent = words;
}

function save(form) {
  const changed = [...form.querySelectorAll("[data-shown]")].filter(
    (field) => field.value !== field.dataset.shown,
  );
  if (!changed.length) return problem(form.dataset.kind, "Nothing is changed.");
  change(form.dataset.kind, Object.fromEntries(changed.map((field) => [field.name, field.value])));
}

function say(words, isGood) {
  const notice = byId("notice");
  notice.textContent = words;
  notice.hidden = !words;
  notice.classList.toggle("good", isGood);
}

register("findingSettings", {
  received: (response) => {
    if (!response || !byId("")) return noUpdate();
    if (response.problem) problem(response.kind, response.problem);
    else say(response.error || response.words || "", !response.error);
    return noUpdate();
  },
});

document.addEventListener("submit", (event) => {
  if (!event.target.closest("#finding-settings")) return;
  event.preventDefault();
  if (event.target.dataset.kind) return save(event.target);
  const device = event.target.elements.device.value.trim();
  if (device) show("device", device);
});

document.addEventListener("change", (event) => {
  if (!event.target.matches("#finding-settings-target select")) return;
  const [field, ...value] = event.target.value.split(":");
  show(field, value.join(":"));
});

document.addEventListener("click", (event) => {
  const button = event.target.closest("#finding-settings [data-reset]");
  if (button) change(button.closest("form").dataset.kind, { [button.dataset.reset]: null });
});

/* The drawn values are the stored ones: earlier typed text is dropped. */
document.addEventListener("weir:drawn", (event) => {
  if (event.target.id !== "finding-settings-list") return;
  event.target.querySelectorAll("form").forEach((form) => {
    form.reset();
    problem(form.dataset.kind, "");
  });
});
