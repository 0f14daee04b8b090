/* Devices as CSV: all of them out, and a file in, with what it would change shown first. */
import { fileRow } from "./admin-device-texts.js";
import {
  attempt,
  counted,
  dialog,
  done,
  labelOf,
  offer,
  request,
  table,
  textOf,
  whole,
} from "./admin-shared.js";
import { element } from "./element.js";

export async function exportFile() {
  const { csv } = await request("GET", "/devices/file");
  offer("devices.csv", csv);
}

/* UTF-8, or else Windows-1252, as spreadsheets save a CSV file in western Europe. */
async function textIn(file) {
  const bytes = await file.arrayBuffer();
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder("windows-1252").decode(bytes);
  }
}

async function importFile(list, file) {
  const csv = await textIn(file);
  const seen = await request("POST", "/devices/file", { csv, preview: true });
  const changes = seen.created + seen.changed;
  const counts = `${whole(seen.created)} new, ${whole(seen.changed)} changed, ${whole(seen.unchanged)} unchanged, ${whole(seen.refused)} refused.`;
  const rows = [...seen.rows].sort((a, b) => (b.deed === "refused") - (a.deed === "refused"));
  const fieldOf = (name) => list.fieldOf(name) || { label: name };
  const label = (name) => labelOf(fieldOf(name));
  const text = (name, value) => textOf(fieldOf(name), value);
  const shown = rows.slice(0, 200).map((row) => fileRow(row, label, text));
  const more = rows.length > 200 ? `The first 200 of ${whole(rows.length)} rows.` : "";
  const parts = [
    element("p", {}, counts),
    table(["Line", "Device", "", "What"], shown, "Nothing changes."),
    element("p", { className: "quiet" }, more),
  ];
  const deed = `Import ${counted(changes, "row")}`;
  const save = async () => {
    const after = await request("POST", "/devices/file", { csv, preview: false });
    const undo = async () => {
      const { restored, deleted, stay } = await request("DELETE", "/devices/file", {
        at: after.at,
      });
      const rest = stay.length ? ` Changed or used since: ${stay.slice(0, 5).join(", ")}.` : "";
      done(`Undone: ${whole(restored)} as before, ${whole(deleted)} deleted.${rest}`);
      await list.load();
    };
    done(`Imported: ${whole(after.created)} new, ${whole(after.changed)} changed.`, undo);
    await list.load();
  };
  dialog(file.name, parts, changes ? { label: deed, save } : {});
}

export function fileInput(list) {
  const input = element("input", { type: "file", accept: ".csv,text/csv", className: "sr-only" });
  input.id = "admin-file";
  input.addEventListener("change", () => {
    const [file] = input.files;
    if (file) attempt(() => importFile(list, file));
    input.value = "";
  });
  const label = element("label", { htmlFor: input.id, className: "button" }, "Import CSV…");
  return [input, label];
}
