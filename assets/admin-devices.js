/* The devices of the administration: an editable grid, and changes of many at once. */
import { create, edit } from "./admin-device-dialogs.js";
import { exportFile, fileInput } from "./admin-device-file.js";
import { undoSteps } from "./admin-device-texts.js";
import {
  attempt,
  button,
  counted,
  done,
  labelled,
  labelOf,
  page,
  readValue,
  request,
  change as send,
  textOf,
  whole,
} from "./admin-shared.js";
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
  const response = await send("PATCH", "/devices", body, load);
  put(response.data);
  return response;
}

/* Undo: one request for all devices that had the same value. */
async function restore(before, after, names) {
  for (const { devices, set } of undoSteps(before, after, names)) await change(devices, set);
  await load();
}

async function changeAndTell(devices, set) {
  const response = await change(devices, set);
  const back = () => restore(devices, response.data, Object.keys(set));
  done(`Saved: ${counted(response.changed, "device")} changed.`, response.changed ? back : null);
  if ("active" in set || "groups" in set) await load();
}

async function cellChanged({ data, oldValue, newValue, colDef }) {
  const field = fieldOf(colDef.field);
  const was = typeof oldValue === "string" ? readValue(field, oldValue) : oldValue;
  const now = typeof newValue === "string" ? readValue(field, newValue) : newValue;
  if (textOf(field, was) === textOf(field, now)) return put([{ ...data, [field.name]: was }]);
  const before = { ...data, [field.name]: was };
  const saved = await attempt(async () => {
    await changeAndTell([before], { [field.name]: now });
    return true;
  });
  if (saved) return;
  put([before]);
  await load().catch(() => {});
}

/* --- The list --- */

async function load() {
  const query = new URLSearchParams({ active: view.active, offset: view.offset, limit: PAGE });
  if (view.q) query.set("q", view.q);
  if (view.group) query.set("group", view.group);
  const response = await request("GET", `/devices?${query}`);
  if (!page()) return;
  api?.setGridOption("rowData", response.data);
  const last = Math.min(view.offset + PAGE, response.count);
  const one = view.active === "true" ? "active device" : "inactive device";
  const span = response.count > PAGE ? `${whole(view.offset + 1)}–${whole(last)} of ` : "";
  document.getElementById("admin-count").textContent = `${span}${counted(response.count, one)}`;
  const none = document.getElementById("admin-empty");
  none.hidden = response.count > 0;
  none.textContent = response.count ? "" : emptyText(one);
  const pager = document.getElementById("admin-pager");
  const to = (offset) => async () => {
    view.offset = offset;
    await load();
  };
  pager.replaceChildren(
    ...(view.offset > 0 ? [button("Earlier", to(Math.max(0, view.offset - PAGE)))] : []),
    ...(last < response.count ? [button("Later", to(view.offset + PAGE))] : []),
  );
  bulk();
}

function emptyText(one) {
  const which = view.group ? `${one} in ${view.group}` : one;
  return view.q ? `No ${which} matches “${view.q}”.` : `No ${which}.`;
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
    ...list.map((field) => element("option", { value: field.name }, labelOf(field))),
  );
  pick.setAttribute("aria-label", "Field");
  pick.value = place.dataset.field || "groups";
  const holder = element("span", { className: "admin-bulk-value" });
  const draw = () => {
    place.dataset.field = pick.value;
    const field = { ...fieldOf(pick.value), hint: "", required: false };
    const input = labelled(field, null).querySelector("[name]");
    input.setAttribute("aria-label", labelOf(fieldOf(pick.value)));
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
    ...(rows.length === 1 ? [button("Edit…", () => edit(deviceList, rows[0]))] : []),
  );
}

/* What dialogs and files need of the list. */
const deviceList = { fields, fieldOf, put, changeAndTell, load };

const zones = () => ({ values: [...zoneNames] });

function column(field) {
  const made = {
    field: field.name,
    headerName: labelOf(field),
    editable: true,
    cellDataType: false,
    minWidth: { groups: 150, deviceTimeZone: 170, parent: 110 }[field.name] || 108,
    flex: 1,
    valueFormatter: ({ value }) => textOf(field, value) || "–",
    tooltipValueGetter: ({ valueFormatted }) => valueFormatted, // of a cell too narrow for it
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
  if (field.unit) {
    made.cellEditor = "agTextCellEditor";
    made.cellEditorParams = ({ value }) => ({ useFormatter: value !== null });
    made.valueParser = ({ newValue }) => readValue(field, newValue || "");
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
    if (colDef.field === "serialNumber") edit(deviceList, data);
  });
  api.addEventListener("cellKeyDown", ({ data, colDef, event }) => {
    if (event.key === "Enter" && colDef.field === "serialNumber") edit(deviceList, data);
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
  const count = element("span", { id: "admin-count", className: "quiet" });
  count.setAttribute("role", "status"); // a search's result is read out
  return element(
    "div",
    { className: "admin-bar" },
    search,
    group,
    element("span", { className: "segments" }, ...states),
    count,
    element("span", { id: "admin-pager", className: "admin-pager" }),
    element(
      "span",
      { className: "admin-deeds" },
      button("Export CSV", exportFile),
      ...fileInput(deviceList),
      button("Add device", async () => create(deviceList), "button primary"),
    ),
  );
}

export async function open(body) {
  view = { q: "", group: "", active: "true", offset: 0 };
  api = null;
  ({ data: editable } = await request("GET", "/devices/fields"));
  const { data } = await request("GET", "/groups").catch(() => ({ data: [] }));
  const hint =
    "Click a device, or press Enter on it, to edit all of it, or double-click a cell. The message after a change can undo it.";
  body.replaceChildren(
    bar(data),
    element("p", { className: "quiet" }, hint),
    element("div", { id: "admin-bulk", className: "admin-bulk card", hidden: true }),
  );
  await attempt(begin);
}
