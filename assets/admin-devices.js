/* The devices of the administration: an editable grid, changes of many at once, CSV out and in. */
import {
  ask,
  attempt,
  button,
  changed,
  counted,
  day,
  dialog,
  done,
  labelled,
  minute,
  offer,
  page,
  readValue,
  settings,
  table,
  textOf,
  whole,
} from "./admin-parts.js";
import { element } from "./element.js";
import * as grid from "./grid.js";
import { zoneNames } from "./site.js";

const GRID = "admin-grid";
const PAGE = 500;
const SEARCH_MS = 250;
let api = null;
let view = { q: "", group: "", active: "true", offset: 0 };

let editable = []; // the fields of a device that can be changed
const fields = () => editable;
const fieldOf = (name) => fields().find((field) => field.name === name);
const chosen = () => api?.getSelectedRows() || [];

/* --- Changing --- */

function put(devices) {
  if (!api || api.isDestroyed()) return;
  for (const device of devices) api.getRowNode(device.id)?.setData(device);
}

async function change(devices, set, reason = "") {
  const body = {
    devices: devices.map(({ id }) => id),
    updated: devices.map(({ updated }) => updated),
    set,
    reason,
  };
  const found = await ask("PATCH", "/devices", body);
  put(found.data);
  return found;
}

/* Back to what each had: one request for the devices that had the same. */
async function restore(before, after, names) {
  const updated = new Map(after.map((device) => [device.id, device.updated]));
  const groups = new Map();
  for (const device of before) {
    const set = Object.fromEntries(names.map((name) => [name, device[name]]));
    const key = JSON.stringify(set);
    groups.set(key, [...(groups.get(key) || []), { ...device, updated: updated.get(device.id) }]);
  }
  for (const [key, devices] of groups) await change(devices, JSON.parse(key));
  await load();
}

async function changeAndTell(devices, set) {
  const found = await change(devices, set);
  const back = () => restore(devices, found.data, Object.keys(set));
  done(`Saved: ${counted(found.changed, "device")} changed.`, found.changed ? back : null);
  if ("active" in set || "groups" in set) await load();
}

async function cellChanged({ data, oldValue, newValue, colDef }) {
  const field = fieldOf(colDef.field);
  const was = typeof oldValue === "string" ? readValue(field, oldValue) : oldValue;
  const now = typeof newValue === "string" ? readValue(field, newValue) : newValue;
  if (textOf(field, was) === textOf(field, now)) return;
  const before = { ...data, [field.name]: was };
  const saved = await attempt(async () => {
    await changeAndTell([before], { [field.name]: now });
    return true;
  });
  if (!saved) put([before]);
}

/* --- One device --- */

function sections(list, before) {
  const names = [...new Set(list.map(({ section }) => section))];
  return names.map((name) =>
    element(
      "fieldset",
      {},
      element("legend", {}, name),
      ...list
        .filter(({ section }) => section === name)
        .map((field) => labelled(field, before[field.name])),
    ),
  );
}

function edit(device) {
  const parts = sections(fields(), device);
  const exchanges = device.exchanges.map((each) => [
    minute(each.at),
    textOf({}, each.last) || "unknown",
    String(each.first ?? 0),
    button("Take back", async () => {
      const body = { at: each.at, updated: device.updated };
      const after = await ask("DELETE", `/devices/${device.id}/exchanges`, body);
      put([after]);
      box.close();
      edit(after);
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
      exchange(device);
    }),
    button("Delete…", () => remove(device, box), "button danger"),
  );
  const { box } = dialog(`${device.label} · ${device.serialNumber}`, [...parts, ...noted, more], {
    save: async (form) => {
      const set = changed(form, fields(), device);
      if (Object.keys(set).length) await changeAndTell([device], set);
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

function exchange(device) {
  const now = new Date().toISOString().slice(0, 16).replace("T", " ");
  const before = { at: now, first: 0 };
  const parts = EXCHANGE.map((field) => labelled(field, before[field.name]));
  dialog(`Exchange the meter of ${device.label}`, parts, {
    label: "Note exchange",
    save: async (form) => {
      const values = changed(form, EXCHANGE, {});
      const at = `${String(values.at || "").replace(" ", "T")}Z`.replace("ZZ", "Z");
      const body = { ...values, at, first: values.first ?? 0, updated: device.updated };
      const after = await ask("POST", `/devices/${device.id}/exchanges`, body);
      put([after]);
      done(`Noted: ${device.label} has a new meter.`, async () => {
        const back = { at: after.exchanges.at(-1).at, updated: after.updated };
        put([await ask("DELETE", `/devices/${device.id}/exchanges`, back)]);
      });
    },
  });
}

async function remove(device, before = null) {
  const extent = await ask("GET", `/devices/${device.id}/extent`);
  before?.close();
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
    await changeAndTell([device], { active: false });
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
        const gone = await ask("DELETE", `/devices/${device.id}`, body);
        done(`Deleted: ${device.label}, ${counted(gone.readings, "reading")}.`);
        await load();
      },
    },
  );
  submit.disabled = true;
  form.elements.serialNumber.addEventListener("input", ({ target }) => {
    submit.disabled = target.value.trim() !== device.serialNumber;
  });
}

function create() {
  const serial = { name: "serialNumber", kind: "text", label: "Serial number", required: true };
  const some = ["label", "groups", "parent", "networkUniqueIdentifier", "model", "meterSize"];
  const list = some.map(fieldOf).map((field) => ({ ...field, required: false }));
  const parts = [labelled(serial, ""), ...list.map((field) => labelled(field, null))];
  dialog("Add a device", parts, {
    label: "Add device",
    save: async (form) => {
      const serialNumber = form.elements.serialNumber.value.trim();
      await ask("POST", "/devices", { serialNumber, set: changed(form, list, {}) });
      done(`Added: ${serialNumber}.`);
      await load();
    },
  });
}

/* --- CSV --- */

async function exportFile() {
  const { csv } = await ask("GET", "/devices/file");
  offer("devices.csv", csv);
}

function fileRow(row) {
  const words = { create: "new", change: "changed", refused: "refused" }[row.deed];
  const label = (name) => fieldOf(name)?.label || name;
  const texts = row.changes.map(({ field, before, after }) => {
    const was = textOf({}, before);
    return `${label(field)}: ${was ? `${was} → ` : ""}${textOf({}, after) || "nothing"}`;
  });
  return [String(row.line), row.serialNumber, words, row.problem || texts.join(", ")];
}

async function importFile(file) {
  const csv = await file.text();
  const seen = await ask("POST", "/devices/file", { csv, preview: true });
  const changes = seen.created + seen.changed;
  const counts = `${whole(seen.created)} new, ${whole(seen.changed)} changed, ${whole(seen.unchanged)} unchanged, ${whole(seen.refused)} refused.`;
  const rows = [...seen.rows].sort((a, b) => (b.deed === "refused") - (a.deed === "refused"));
  const more = rows.length > 200 ? `The first 200 of ${whole(rows.length)} rows.` : "";
  const parts = [
    element("p", {}, counts),
    table(["Line", "Device", "", "What"], rows.slice(0, 200).map(fileRow), "Nothing changes."),
    element("p", { className: "quiet" }, more),
  ];
  const label = `Import ${counted(changes, "row")}`;
  const save = async () => {
    const after = await ask("POST", "/devices/file", { csv, preview: false });
    done(`Imported: ${whole(after.created)} new, ${whole(after.changed)} changed.`);
    await load();
  };
  dialog(file.name, parts, changes ? { label, save } : {});
}

function fileInput() {
  const input = element("input", { type: "file", accept: ".csv,text/csv", className: "sr-only" });
  input.id = "admin-file";
  input.addEventListener("change", () => {
    const [file] = input.files;
    if (file) attempt(() => importFile(file));
    input.value = "";
  });
  const label = element("label", { htmlFor: input.id, className: "button" }, "Import CSV…");
  return [input, label];
}

/* --- The list --- */

async function load() {
  const query = new URLSearchParams({ active: view.active, offset: view.offset, limit: PAGE });
  if (view.q) query.set("q", view.q);
  if (view.group) query.set("group", view.group);
  const found = await ask("GET", `/devices?${query}`);
  if (!page()) return;
  api?.setGridOption("rowData", found.data);
  const last = Math.min(view.offset + PAGE, found.count);
  const one = view.active === "true" ? "active device" : "inactive device";
  const span = found.count > PAGE ? `${whole(view.offset + 1)}–${whole(last)} of ` : "";
  document.getElementById("admin-count").textContent = `${span}${counted(found.count, one)}`;
  const pager = document.getElementById("admin-pager");
  const to = (offset) => async () => {
    view.offset = offset;
    await load();
  };
  pager.replaceChildren(
    ...(view.offset > 0 ? [button("Earlier", to(Math.max(0, view.offset - PAGE)))] : []),
    ...(last < found.count ? [button("Later", to(view.offset + PAGE))] : []),
  );
  bulk();
}

function bulk() {
  const place = document.getElementById("admin-bulk");
  const rows = chosen();
  place.hidden = !rows.length;
  if (!rows.length) return;
  const list = fields().filter(({ name }) => name !== "active");
  const pick = element(
    "select",
    { className: "button select" },
    ...list.map(({ name, label }) => element("option", { value: name }, label)),
  );
  pick.setAttribute("aria-label", "Field");
  pick.value = place.dataset.field || "groups";
  const holder = element("span", { className: "admin-bulk-value" });
  const draw = () => {
    place.dataset.field = pick.value;
    const field = { ...fieldOf(pick.value), hint: "", required: false };
    const input = labelled(field, null).querySelector("[name]");
    input.setAttribute("aria-label", fieldOf(pick.value).label);
    holder.replaceChildren(input);
  };
  pick.addEventListener("change", draw);
  draw();
  const apply = async () => {
    const field = fieldOf(pick.value);
    const value = readValue(field, holder.querySelector("[name]").value);
    await changeAndTell(chosen(), { [field.name]: value });
  };
  const active = view.active !== "true";
  place.replaceChildren(
    element("strong", {}, `${whole(rows.length)} selected`),
    element("span", { className: "quiet" }, "Set"),
    pick,
    holder,
    button("Apply", apply, "button primary"),
    button(active ? "Reactivate" : "Deactivate", () => changeAndTell(chosen(), { active })),
    ...(rows.length === 1 ? [button("Edit…", () => edit(rows[0]))] : []),
  );
}

const zones = () => ({ values: [...zoneNames] });

function column(field) {
  const made = {
    field: field.name,
    headerName: field.label,
    editable: true,
    cellDataType: false,
    minWidth: { groups: 150, deviceTimeZone: 170, parent: 110 }[field.name] || 108,
    flex: 1,
    valueFormatter: ({ value }) => textOf(field, value) || "–",
  };
  if (field.kind === "zone") made.cellEditor = "agSelectCellEditor";
  if (field.kind === "zone") made.cellEditorParams = zones();
  if (field.kind === "flag") {
    made.cellEditor = "agSelectCellEditor";
    made.cellEditorParams = { values: ["true", "false"] };
    made.valueFormatter = ({ value }) => (String(value) === "true" ? "yes" : "–");
  }
  if (field.kind === "list") {
    made.valueGetter = ({ data }) => textOf(field, data[field.name]);
    made.valueSetter = ({ data, newValue }) => {
      data[field.name] = readValue(field, newValue || "");
      return true;
    };
  }
  if (field.kind === "number") made.headerClass = made.cellClass = "numeric";
  return made;
}

function DeviceName({ data }) {
  const { createElement } = window.React;
  return createElement(
    "span",
    { className: "admin-lines" },
    createElement("span", {}, data.label),
    createElement("span", { className: "quiet" }, data.serialNumber),
  );
}

function columns() {
  const device = {
    headerName: "Device",
    field: "serialNumber",
    minWidth: 176,
    flex: 1.6,
    pinned: window.innerWidth > 760 ? "left" : null,
    cellRenderer: DeviceName,
  };
  return [
    device,
    ...fields()
      .filter(({ inGrid, name }) => inGrid && name !== "active")
      .map(column),
  ];
}

async function begin() {
  const ready = await grid.ready(GRID);
  if (!page()) return;
  api = ready;
  api.setGridOption("columnDefs", columns());
  api.addEventListener("cellValueChanged", cellChanged);
  api.addEventListener("selectionChanged", bulk);
  api.addEventListener("cellClicked", ({ data, colDef }) => {
    if (colDef.field === "serialNumber") edit(data);
  });
  page().querySelector(".ag-root")?.setAttribute("aria-label", "Devices");
  await load();
}

function bar(groups) {
  const search = element("input", {
    type: "search",
    className: "search",
    placeholder: "Search label, serial, network id",
  });
  search.setAttribute("aria-label", "Search");
  let timer = 0;
  search.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      view = { ...view, q: search.value.trim(), offset: 0 };
      attempt(load);
    }, SEARCH_MS);
  });
  const group = element(
    "select",
    { className: "button select" },
    element("option", { value: "" }, "All groups"),
    ...groups.map(({ name }) => element("option", { value: name }, name)),
  );
  group.setAttribute("aria-label", "Group");
  group.addEventListener("change", () => {
    view = { ...view, group: group.value, offset: 0 };
    attempt(load);
  });
  const states = [
    ["true", "Active"],
    ["false", "Inactive"],
  ].map(([value, label]) => {
    const made = element("button", { type: "button", className: "segment" }, label);
    made.setAttribute("aria-pressed", String(view.active === value));
    made.addEventListener("click", () => {
      view = { ...view, active: value, offset: 0 };
      for (const each of states) each.setAttribute("aria-pressed", String(each === made));
      attempt(load);
    });
    return made;
  });
  return element(
    "div",
    { className: "admin-bar" },
    search,
    group,
    element("span", { className: "segments" }, ...states),
    element("span", { id: "admin-count", className: "quiet" }),
    element("span", { id: "admin-pager", className: "admin-pager" }),
    element(
      "span",
      { className: "admin-deeds" },
      button("Export CSV", exportFile),
      ...fileInput(),
      button("Add device", async () => create(), "button primary"),
    ),
  );
}

export async function open(body) {
  view = { q: "", group: "", active: "true", offset: 0 };
  api = null;
  ({ data: editable } = await ask("GET", "/devices/fields"));
  const { data } = await ask("GET", "/groups").catch(() => ({ data: [] }));
  const hint =
    "Click a device to edit all of it, or double-click a cell. The message after a change can undo it.";
  body.replaceChildren(
    bar(data),
    element("p", { className: "quiet" }, hint),
    element("div", { id: "admin-bulk", className: "admin-bulk card", hidden: true }),
  );
  await attempt(begin);
}
