/* The organization's settings, and the quality of its data. */
import {
  attempt,
  button,
  card,
  change,
  counted,
  dialog,
  done,
  labelled,
  lines,
  minute,
  page,
  readValue,
  request,
  settings,
  table,
  textOf,
  useUnits,
  whole,
} from "./admin-shared.js";
import { element } from "./element.js";

const POLL_MS = 2000;
const FIELDS = [
  { name: "name", label: "Name", kind: "text" },
  {
    name: "price",
    label: "Price",
    kind: "number",
    unit: "per gallon",
    hint: "Of devices without their own.",
  },
  { name: "currency", label: "Currency", kind: "text", hint: "EUR, USD, …" },
  { name: "zone", label: "Time zone of new devices", kind: "zone", required: true },
  {
    name: "units",
    label: "Units",
    kind: "choice",
    choices: ["us", "metric"],
    names: { us: "US: gal, gpm, °F", metric: "Metric: m³, L/min, °C" },
    required: true,
    hint: "For everybody who chooses no others, and in messages and reports.",
  },
];

/* --- The demo fleet, where there is one --- */

const DEMO_WORDS = {
  filling: "Its readings are being made.",
  complete: "Sixty simulated meters with live readings.",
  removing: "It is being removed.",
};

function removeDemo(again) {
  const typed = { name: "confirm", kind: "text", label: "Type demo" };
  const words = element(
    "p",
    {},
    "This deletes the sixty simulated meters with their readings, findings, notes, embeds and rules of alerts. ",
    element("strong", {}, "It can’t be undone."),
    " What else you have stays.",
  );
  const { form, submit } = dialog("Remove the demo fleet", [words, labelled(typed, "")], {
    label: "Remove the demo fleet",
    danger: true,
    save: async () => {
      await request("DELETE", "/demo", { confirm: form.elements.confirm.value.trim() });
      done("The demo fleet is being removed.");
      await again();
    },
  });
  submit.disabled = true;
  form.elements.confirm.addEventListener("input", ({ target }) => {
    submit.disabled = target.value.trim() !== "demo";
  });
}

/* Looks again while something is under way. */
async function demoCard(place, unstale, wasRemoving = false) {
  const demo = await request("GET", "/demo");
  await unstale();
  if (!place.isConnected && wasRemoving) return;
  const again = () => demoCard(place, unstale, true);
  place.replaceChildren();
  if (demo.state === "none") {
    if (wasRemoving) place.append(card("Demo fleet", "", element("p", {}, "It is removed.")));
    return;
  }
  const remove = button("Remove …", () => removeDemo(again));
  remove.disabled = demo.state === "removing";
  const isWaiting = demo.state !== "complete" && !demo.writer;
  const words = isWaiting ? "No writer is running: weir serve starts one." : DEMO_WORDS[demo.state];
  const foot = element("div", { className: "admin-foot" }, remove);
  place.append(card("Demo fleet", "", element("p", {}, words), foot));
  if (demo.state !== "complete") setTimeout(() => attempt(again), POLL_MS);
}

/* --- The organization --- */

const days = (text) =>
  text
    .split(/[\s,;]+/)
    .map((each) => each.trim())
    .filter(Boolean);

export async function organization(body) {
  const before = await request("GET", "/organization");
  if (!page()) return;
  useUnits(before.units);
  const holidays = element("textarea", {
    name: "holidays",
    className: "search",
    rows: 8,
    value: before.holidays.join("\n"),
  });
  const save = element("button", { type: "submit", className: "button primary" }, "Save");
  const form = element(
    "form",
    { className: "admin-form" },
    ...FIELDS.map((field) => labelled(field, before[field.name])),
    element(
      "label",
      { className: "admin-field" },
      element("span", {}, "Holidays"),
      holidays,
      element(
        "span",
        { className: "quiet" },
        "One date a line: 2026-12-25. They count as Sundays.",
      ),
    ),
    element("div", { className: "admin-foot" }, save),
  );
  const sent = (values, updated) =>
    change("PATCH", "/organization", { ...values, updated }, () => organization(body));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    attempt(async () => {
      const { elements } = form;
      const field = FIELDS.find(({ name }) => name === "price");
      const isSame = elements.price.value === textOf(field, before.price);
      const price = isSame ? before.price : readValue(field, elements.price.value);
      const after = await sent(
        {
          name: elements.name.value,
          price,
          currency: elements.currency.value.trim().toUpperCase(),
          zone: elements.zone.value,
          units: elements.units.value,
          holidays: days(holidays.value),
        },
        before.updated,
      );
      const { id, updated, ...old } = before;
      done("Saved.", async () => {
        await sent(old, after.updated);
        await organization(body);
      });
      await organization(body);
    });
  });
  const place = element("div", {});
  body.replaceChildren(card("Organization", before.id, form), place);
  /* The demo fleet's coming and going is noted in the organization: that isn't somebody's edit. */
  const unstale = async () => {
    const now = await request("GET", "/organization");
    const comparable = (each) => JSON.stringify({ ...each, updated: "" });
    if (comparable(now) === comparable(before)) before.updated = now.updated;
  };
  await demoCard(place, unstale);
}

/* --- Quality --- */

async function suspicious() {
  const { data } = await request("GET", "", undefined, settings().imports).catch(() => ({
    data: [],
  }));
  return data.filter(({ outcome }) => outcome.messages.length || outcome.refused);
}

function create(serialNumber, again) {
  return button("Create device", async () => {
    await request("POST", "/devices", { serialNumber });
    done(`Created: ${serialNumber}. Its next readings are stored.`);
    await again();
  });
}

const isUnknown = ({ reason, device }) => /unknown device|no such device/i.test(reason) && device;

export async function quality(body) {
  const again = () => quality(body);
  const [report, imports] = await Promise.all([request("GET", "/quality"), suspicious()]);
  if (!page()) return;
  const refused = report.refusals.map((row) => [
    lines(row.reason, row.source),
    element("span", { className: "admin-sender" }, row.device || "–"),
    whole(row.count),
    lines(minute(row.last), `since ${minute(row.first)}`),
    element("code", { className: "admin-sample" }, row.sample),
    isUnknown(row) ? (row.exists ? "exists now" : create(row.device, again)) : "",
  ]);
  const undated = report.undated.map((row) => [
    row.device,
    whole(row.count),
    `${minute(row.first)} – ${minute(row.last)}`,
  ]);
  const live = report.suspicious.map((row) => [
    row.device,
    lines(row.reason, row.sample),
    lines(minute(row.last), `since ${minute(row.first)}`),
  ]);
  const files = imports.map((each) => [
    element("a", { href: `${settings().import}?id=${each.id}`, className: "link" }, each.name),
    lines(minute(each.createdAt), each.by),
    each.outcome.refused ? counted(each.outcome.refused, "row") : "–",
    each.outcome.messages.join(" ") || "–",
  ]);
  const refusedHeads = ["Why", "Device", "Readings", "Last", "Sample", ""];
  body.replaceChildren(
    card(
      "Refused readings",
      report.refused ? `${whole(report.refused)} since the store was made` : "",
      table(refusedHeads, refused, "No reading was refused."),
    ),
    card(
      "Suspicious imports",
      "",
      table(["File", "When", "Refused", "Worth a check"], files, "No import is suspicious."),
    ),
    card(
      "Suspicious readings",
      "Sent live, and stored. A change of the device withdraws them; they return if they go on.",
      table(["Device", "Why", "Last"], live, "No reading is suspicious."),
    ),
    card(
      "Devices without a clock",
      "Their readings have the time at which they arrived.",
      table(["Device", "Readings", "Between"], undated, "Every device sends the time."),
    ),
  );
}
