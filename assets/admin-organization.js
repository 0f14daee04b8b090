/* The organization's settings, and the quality of its data. */
import {
  ask,
  attempt,
  button,
  card,
  counted,
  done,
  labelled,
  lines,
  minute,
  page,
  settings,
  table,
  whole,
} from "./admin-parts.js";
import { element } from "./element.js";

const FIELDS = [
  { name: "name", label: "Name", kind: "text" },
  {
    name: "price",
    label: "Price per gallon",
    kind: "number",
    hint: "Of devices without their own.",
  },
  { name: "currency", label: "Currency", kind: "text", hint: "EUR, USD, …" },
  { name: "zone", label: "Time zone of new devices", kind: "zone", required: true },
];

const days = (text) =>
  text
    .split(/[\s,;]+/)
    .map((each) => each.trim())
    .filter(Boolean);

export async function organization(body) {
  const before = await ask("GET", "/organization");
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
  const sent = (values, updated) => ask("PATCH", "/organization", { ...values, updated });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    attempt(async () => {
      const { elements } = form;
      const price = elements.price.value;
      const after = await sent(
        {
          name: elements.name.value,
          price: price === "" ? null : Number(price),
          currency: elements.currency.value.trim().toUpperCase(),
          zone: elements.zone.value,
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
  body.replaceChildren(card("Organization", before.id, form));
}

/* --- Quality --- */

async function suspicious() {
  const { data } = await ask("GET", "", undefined, settings().imports).catch(() => ({ data: [] }));
  return data.filter(({ outcome }) => outcome.messages.length || outcome.refused);
}

function create(serialNumber, again) {
  return button("Create device", async () => {
    await ask("POST", "/devices", { serialNumber });
    done(`Created: ${serialNumber}. Its next readings are stored.`);
    await again();
  });
}

const isUnknown = ({ reason, device }) => /unknown device|no such device/i.test(reason) && device;

export async function quality(body) {
  const again = () => quality(body);
  const [found, imports] = await Promise.all([ask("GET", "/quality"), suspicious()]);
  if (!page()) return;
  const refused = found.refusals.map((row) => [
    lines(row.reason, row.source),
    row.device || "–",
    whole(row.count),
    lines(minute(row.last), `since ${minute(row.first)}`),
    element("code", { className: "admin-sample" }, row.sample),
    isUnknown(row) ? create(row.device, again) : "",
  ]);
  const undated = found.undated.map((row) => [
    row.device,
    whole(row.count),
    `${minute(row.first)} – ${minute(row.last)}`,
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
      found.refused ? `${whole(found.refused)} since the store was made` : "",
      table(refusedHeads, refused, "No reading was refused."),
    ),
    card(
      "Suspicious imports",
      "",
      table(["File", "When", "Refused", "Worth a check"], files, "No import is suspicious."),
    ),
    card(
      "Devices without a clock",
      "Their readings have the time at which they arrived.",
      table(["Device", "Readings", "Between"], undated, "Every device sends the time."),
    ),
  );
}
