/* Groups and keys. A person is a key with that person's name. */
import {
  button,
  card,
  change,
  counted,
  day,
  dialog,
  done,
  labelled,
  lines,
  minute,
  request,
  table,
  whole,
} from "./admin-shared.js";
import { element } from "./element.js";

const identifiers = (text) =>
  text
    .split(/[;,\n]/)
    .map((each) => each.trim())
    .filter(Boolean);

/* --- Groups --- */

const MEMBERS = {
  name: "devices",
  kind: "text",
  label: "Devices",
  hint: "Serial numbers, separated by commas.",
};
const NAME = { name: "name", kind: "text", label: "Name" };

function newGroup(again) {
  dialog("New group", [labelled(NAME, ""), labelled(MEMBERS, "")], {
    label: "Create group",
    save: async ({ elements }) => {
      const body = { name: elements.name.value, devices: identifiers(elements.devices.value) };
      const made = await request("POST", "/groups", body);
      done(`Created: ${made.name}, ${counted(made.devices, "device")}.`);
      await again();
    },
  });
}

function editGroup(group, again) {
  const add = { ...MEMBERS, name: "add", label: "Add devices" };
  const remove = { ...MEMBERS, name: "remove", label: "Remove devices" };
  const parts = [labelled(NAME, group.name), labelled(add, ""), labelled(remove, "")];
  dialog(group.name, parts, {
    save: async ({ elements }) => {
      const after = await request("PATCH", "/groups", {
        name: group.name,
        newName: elements.name.value,
        add: identifiers(elements.add.value),
        remove: identifiers(elements.remove.value),
      });
      done(`Saved: ${after.name}, ${counted(after.devices, "device")}.`);
      await again();
    },
  });
}

function deleteGroup(group, again) {
  const words = `${counted(group.devices, "device")} will no longer be in this group. The devices and their readings stay.`;
  dialog(`Delete the group ${group.name}`, [element("p", {}, words)], {
    label: "Delete group",
    danger: true,
    save: async () => {
      const members = await request(
        "GET",
        `/devices?limit=1000&group=${encodeURIComponent(group.name)}`,
      );
      await request("DELETE", "/groups", { name: group.name });
      const devices = members.data.map(({ id }) => id);
      const undo = async () => {
        await request("POST", "/groups", { name: group.name, devices });
        await again();
      };
      const whole = devices.length === group.devices && devices.length > 0;
      done(`Deleted: the group ${group.name}.`, whole ? undo : null);
      await again();
    },
  });
}

export async function groups(body) {
  const again = () => groups(body);
  const { data } = await request("GET", "/groups");
  const rows = data.map((group) => [
    element("strong", {}, group.name),
    lines(whole(group.devices), group.inactive ? `${whole(group.inactive)} inactive` : ""),
    group.keys.join(", ") || "–",
    element(
      "span",
      { className: "admin-deeds" },
      button("Edit…", async () => editGroup(group, again)),
      button("Delete…", async () => deleteGroup(group, again)),
    ),
  ]);
  const make = button("New group", async () => newGroup(again), "button primary");
  const hint = "Keys, alerts and settings of findings can be limited to a group.";
  const list = table(["Group", "Devices", "Keys limited to it", ""], rows, "No groups yet.");
  const made = card("Groups", hint, list);
  made.querySelector("h2").append(make);
  body.replaceChildren(made);
}

/* --- Keys --- */

const ROLES = ["viewer", "operator", "administrator"];
const MAY = {
  viewer: "reads",
  operator: "also works with findings, notes and embeds",
  administrator: "everything, this page included",
};
const PERSON = { name: "name", kind: "text", label: "Name", hint: "A person, or a program." };
const SENDS = { name: "ingest", kind: "flag", label: "Only sends readings", required: true };
const ROLE = {
  name: "role",
  kind: "choice",
  label: "Role",
  choices: ROLES,
  required: true,
  hint: ROLES.map((role) => `${role}: ${MAY[role]}`).join("; "),
};
const SCOPE = [
  { name: "allDevices", kind: "flag", label: "All devices", required: true },
  { name: "groups", kind: "text", label: "Only these groups", hint: "Separated by commas." },
  { name: "devices", kind: "text", label: "Only these devices", hint: "Serial numbers." },
];
const EXPIRES = { name: "expires", kind: "instant", label: "Expires", hint: "Empty: never." };

/* The request body from the fields of a key's form. With access to all devices the other fields of
   the grant are ignored. */
function keyBody({ elements }) {
  const all = elements.allDevices.value === "true";
  const expires = elements.expires.value;
  const body = {
    name: elements.name.value,
    allDevices: all,
    groups: all ? [] : identifiers(elements.groups.value),
    devices: all ? [] : identifiers(elements.devices.value),
    expires: expires ? `${expires}T23:59:59Z` : null,
  };
  if (elements.ingest?.value === "true") return { ...body, ingest: true };
  return elements.role ? { ...body, role: elements.role.value } : body;
}

/* Disables the fields that don't apply. */
function keepInStep(form) {
  const draw = () => {
    const { elements } = form;
    const all = elements.allDevices.value === "true";
    elements.groups.disabled = elements.devices.disabled = all;
    if (elements.role && elements.ingest) elements.role.disabled = elements.ingest.value === "true";
  };
  form.addEventListener("change", draw);
  draw();
}

function shown(made, again) {
  const secret = element("input", { className: "search admin-secret", value: made.key });
  secret.readOnly = true;
  secret.setAttribute("aria-label", "Key");
  const copy = button("Copy", async () => {
    await navigator.clipboard.writeText(made.key).catch(() => secret.select());
    copy.textContent = "Copied";
  });
  const words = "This is the only time that the key is shown. Copy it now.";
  const parts = [
    element("p", {}, words),
    element("div", { className: "admin-more" }, secret, copy),
  ];
  const { box } = dialog(`Key of ${made.name || made.keyId}`, parts);
  box.addEventListener("close", again);
}

function newKey(again) {
  const before = { ingest: false, role: "operator", allDevices: true };
  const list = [PERSON, SENDS, ROLE, ...SCOPE, EXPIRES];
  const parts = list.map((field) => labelled(field, before[field.name]));
  const { form } = dialog("New key", parts, {
    label: "Create key",
    save: async (filled) => shown(await request("POST", "/keys", keyBody(filled)), again),
  });
  keepInStep(form);
}

function editKey(key, again) {
  const before = {
    ...key,
    groups: key.groups.join(", "),
    devices: key.devices.map(({ serialNumber }) => serialNumber).join(", "),
  };
  const list = [PERSON, ...(key.ingest ? [] : [ROLE]), ...SCOPE, EXPIRES];
  const parts = list.map((field) => labelled(field, before[field.name]));
  const { form } = dialog(key.name || key.keyId, parts, {
    save: async (filled) => {
      const body = { ...keyBody(filled), version: key.version };
      if (filled.elements.expires.value === day(key.expires)) delete body.expires;
      await change("PATCH", `/keys/${key.keyId}`, body, again);
      done("Saved. It holds everywhere within ten seconds.");
      await again();
    },
  });
  keepInStep(form);
}

function revoke(key, again) {
  const own = key.own ? " This is the key that you are signed in with." : "";
  const words = `It ends everywhere within ten seconds, and can’t be undone: create another key instead.${own}`;
  dialog(`Revoke the key ${key.name || key.keyId}`, [element("p", {}, words)], {
    label: "Revoke key",
    danger: true,
    save: async () => {
      await change("POST", `/keys/${key.keyId}/revoke`, { version: key.version }, again);
      done(`Revoked: ${key.name || key.keyId}.`);
      await again();
    },
  });
}

function scope(key) {
  if (key.allDevices) return "all devices";
  const devices = key.devices.length ? [counted(key.devices.length, "device")] : [];
  return [...key.groups, ...devices].join(", ") || "nothing";
}

export async function keys(body) {
  const again = () => keys(body);
  const { data } = await request("GET", "/keys");
  const order = { active: 0, expired: 1, revoked: 2 };
  const sorted = [...data].sort((a, b) => order[a.state] - order[b.state]);
  const rows = sorted.map((key) => [
    lines(key.name || "without a name", `${key.keyId}${key.own ? " · yours" : ""}`),
    key.ingest ? "only sends readings" : key.role,
    scope(key),
    key.state === "active" && key.expires ? `until ${day(key.expires)}` : key.state,
    key.lastUsed ? minute(key.lastUsed) : "never",
    key.state === "revoked"
      ? ""
      : element(
          "span",
          { className: "admin-deeds" },
          button("Edit…", async () => editKey(key, again)),
          button("Revoke…", async () => revoke(key, again)),
        ),
  ]);
  const heads = ["Name", "Role", "Sees", "State", "Last used", ""];
  const made = card("Keys and people", "", table(heads, rows, "No keys yet."));
  const make = button("New key", async () => newKey(again), "button primary");
  made.querySelector("h2").append(make);
  body.replaceChildren(made);
}
