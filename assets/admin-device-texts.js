/* The administration's devices without the page: what undoes a change, and a file's rows in words. */

/* Back to what each device had: one step, {devices, set}, for those that had the same. `after` has
   the devices as they are now. */
export function undoSteps(before, after, names) {
  const updated = new Map(after.map((device) => [device.id, device.updated]));
  const steps = new Map();
  for (const device of before) {
    const set = Object.fromEntries(names.map((name) => [name, device[name]]));
    const key = JSON.stringify(set);
    if (!steps.has(key)) steps.set(key, { devices: [], set });
    steps.get(key).devices.push({ ...device, updated: updated.get(device.id) });
  }
  return [...steps.values()];
}

/* A stored number in the unit {factor} that readers see, to at most six decimals and twelve digits,
   so that the number that was typed is shown again; and back. As in api/metering/units.py. */
export const unitNumber = {
  shown: ({ factor }, value) =>
    factor === 1 ? value : Number(Number((value * factor).toPrecision(12)).toFixed(6)),
  stored: ({ factor }, shown) => shown / factor,
};

const DEEDS = { create: "new", change: "changed", refused: "refused" };

/* The cells of a file's row: line, device, what becomes of it, and its changes or its problem.
   `label` and `textOf`: of a field's name, and of its value. */
export function fileRow(row, label, textOf) {
  const texts = row.changes.map(({ field, before, after }) => {
    const was = textOf(field, before);
    return `${label(field)}: ${was ? `${was} → ` : ""}${textOf(field, after) || "nothing"}`;
  });
  return [String(row.line), row.serialNumber, DEEDS[row.deed], row.problem || texts.join(", ")];
}

/* "2026-03-01 09:00", typed as UTC, as the service takes it. */
export const utcInstant = (typed) => `${String(typed || "").replace(" ", "T")}Z`.replace("ZZ", "Z");
