/* The dialogs of one device: edit all its fields, exchange its meter, delete it, add one. `list` is
   the list behind them: {fields, fieldOf, put, changeAndTell, load}. */
import { utcInstant } from "./admin-device-texts.js";
import {
  button,
  change,
  changed,
  counted,
  day,
  dialog,
  done,
  labelled,
  minute,
  request,
  settings,
  table,
  textOf,
} from "./admin-shared.js";
import { element } from "./element.js";

function sections(fields, before) {
  const names = [...new Set(fields.map(({ section }) => section))];
  return names.map((name) =>
    element(
      "fieldset",
      {},
      element("legend", {}, name),
      ...fields
        .filter(({ section }) => section === name)
        .map((field) => labelled(field, before[field.name])),
    ),
  );
}

export function edit(list, device) {
  const parts = sections(list.fields(), device);
  const exchanges = device.exchanges.map((each) => [
    minute(each.at),
    textOf({}, each.last) || "unknown",
    String(each.first ?? 0),
    button("Take back", async () => {
      const body = { at: each.at, updated: device.updated };
      const after = await change("DELETE", `/devices/${device.id}/exchanges`, body, list.load);
      list.put([after]);
      box.close();
      edit(list, after);
    }),
  ]);
  const noted = exchanges.length
    ? [table(["Meter exchanged", "Old register", "New register", ""], exchanges, "")]
    : [];
  const more = element(
    "div",
    { className: "admin-more" },
    element("a", { href: `${settings().device}/${device.id}`, className: "button" }, "Open device"),
    button("Exchange meter…", () => {
      box.close();
      exchange(list, device);
    }),
    button("Delete…", () => remove(list, device, box), "button danger"),
  );
  const { box } = dialog(`${device.label} · ${device.serialNumber}`, [...parts, ...noted, more], {
    save: async (form) => {
      const set = changed(form, list.fields(), device);
      if (Object.keys(set).length) await list.changeAndTell([device], set);
    },
  });
}

const EXCHANGE = [
  { name: "at", label: "When, UTC", kind: "text", placeholder: "2026-03-01 09:00" },
  {
    name: "last",
    label: "Last register of the old meter",
    kind: "number",
    hint: "Empty: unknown.",
  },
  { name: "first", label: "First register of the new meter", kind: "number" },
  {
    name: "networkUniqueIdentifier",
    label: "New network id",
    kind: "text",
    hint: "Empty: it stays the same.",
  },
];

function exchange(list, device) {
  const now = new Date().toISOString().slice(0, 16).replace("T", " ");
  const before = { at: now, first: 0 };
  const parts = EXCHANGE.map((field) => labelled(field, before[field.name]));
  dialog(`Exchange the meter of ${device.label}`, parts, {
    label: "Note exchange",
    save: async (form) => {
      const values = changed(form, EXCHANGE, {});
      const at = utcInstant(values.at);
      const body = { ...values, at, first: values.first ?? 0, updated: device.updated };
      const after = await change("POST", `/devices/${device.id}/exchanges`, body, list.load);
      list.put([after]);
      done(`Noted: ${device.label} has a new meter.`, async () => {
        const back = { at: after.exchanges.at(-1).at, updated: after.updated };
        list.put([await request("DELETE", `/devices/${device.id}/exchanges`, back)]);
      });
    },
  });
}

async function remove(list, device, before) {
  const extent = await request("GET", `/devices/${device.id}/extent`);
  before.close();
  const span = extent.readings ? `, from ${day(extent.first)} to ${day(extent.last)}` : "";
  const words = element(
    "p",
    {},
    `This deletes the device with ${counted(extent.readings, "reading")}${span}. `,
    element("strong", {}, "It can’t be undone."),
    " Deactivating keeps the readings.",
  );
  const end = extent.last && new Date(Date.parse(extent.last) + 1000).toISOString();
  const query = new URLSearchParams({ from: extent.first || "", to: end || "" });
  const file = `${settings().rows}/${device.id}/rows.csv?${query}`;
  const copy = element(
    "a",
    { href: file, className: "button", download: "" },
    "Its readings as CSV",
  );
  const idle = button("Deactivate instead", async () => {
    box.close();
    await list.changeAndTell([device], { active: false });
  });
  const typed = { name: "serialNumber", kind: "text", label: `Type ${device.serialNumber}` };
  const reason = { name: "reason", kind: "text", label: "Reason", hint: "For the audit log." };
  const copies = extent.readings ? [copy] : [];
  const deeds = element(
    "div",
    { className: "admin-more" },
    ...copies,
    ...(device.active ? [idle] : []),
  );
  const { box, form, submit } = dialog(
    `Delete ${device.label}`,
    [words, deeds, labelled(typed, ""), labelled(reason, "")],
    {
      label: `Delete device and ${counted(extent.readings, "reading")}`,
      danger: true,
      save: async () => {
        const serialNumber = form.elements.serialNumber.value.trim();
        const body = { serialNumber, reason: form.elements.reason.value };
        const gone = await request("DELETE", `/devices/${device.id}`, body);
        done(`Deleted: ${device.label}, ${counted(gone.readings, "reading")}.`);
        await list.load();
      },
    },
  );
  submit.disabled = true;
  form.elements.serialNumber.addEventListener("input", ({ target }) => {
    submit.disabled = target.value.trim() !== device.serialNumber;
  });
}

export function create(list) {
  const serial = { name: "serialNumber", kind: "text", label: "Serial number", required: true };
  const some = ["label", "groups", "parent", "networkUniqueIdentifier", "model", "meterSize"];
  const more = some.map(list.fieldOf).map((field) => ({ ...field, required: false }));
  const parts = [labelled(serial, ""), ...more.map((field) => labelled(field, null))];
  dialog("Add a device", parts, {
    label: "Add device",
    save: async (form) => {
      const serialNumber = form.elements.serialNumber.value.trim();
      await request("POST", "/devices", { serialNumber, set: changed(form, more, {}) });
      done(`Added: ${serialNumber}.`);
      await list.load();
    },
  });
}
