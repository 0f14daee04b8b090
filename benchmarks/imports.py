"""Imports a foreign file, from the guess to stored rollups: ``python -m benchmarks.imports
[ROWS]``.

The file has registers of thirty meters, in Windows-1252 with semicolons, decimal commas and days
first. Reports how many rows are read per second of one processor, how much memory that takes, and
how long the whole import by `weir readings import --mapping` takes into an empty SQLite store, and
how many rows are stored per second of the processor of the process that stores. The total is
checked. With `--amounts` the same numbers are read as amounts.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from api.ingest import pipeline
from api.ingest.decode import Devices
from api.ingest.foreign.convert import Places, batches, device_names
from api.ingest.foreign.guess_mapping import guess
from api.ingest.foreign.mapping import Mapping, Mappings
from api.ingest.foreign.rows import opened
from api.ingest.new_devices import create_missing
from api.metering.units import GALLONS_PER_CUBIC_METRE, LITRES_PER_GALLON
from api.store.open import open_store
from api.timez import now_ms
from benchmarks.telling import may_leave_files, of_a_site, tell

METERS: Final = 30
STEP_S: Final = 60
START: Final = datetime(2020, 1, 1)  # noqa: DTZ001 - a wall clock, read as UTC
LONGEST_S: Final = 1_800
_LINES_AT_ONCE: Final = 50_000


def write_file(path: Path, rows: int) -> float:
    """Returns the gallons between the first and the last register of every meter."""
    litres = [1_000_000 + 1_000 * meter for meter in range(METERS)]
    first = sum(litres)
    with path.open("w", encoding="cp1252") as file:
        file.write("Zähler;Zeitpunkt;Zählerstand (m³)\n")
        lines: list[str] = []
        for step in range(rows // METERS):
            moment = START + timedelta(seconds=STEP_S * step)
            for meter in range(METERS):
                litres[meter] += (step * 7 + meter * 3) % 11 if step else 0
                whole, rest = divmod(litres[meter], 1_000)
                lines.append(f"Z-{meter:03};{moment:%d.%m.%Y %H:%M:%S};{whole},{rest:03}\n")
            if len(lines) >= _LINES_AT_ONCE:
                file.writelines(lines)
                lines.clear()
        file.writelines(lines)
    return (sum(litres) - first) / LITRES_PER_GALLON


def read_file(path: Path, mapping: Mapping) -> dict[str, float]:
    """Returns rows, processor seconds and gallons, and the process' largest memory in MiB."""
    file = opened(path, mapping.form, mapping.encoding)
    keys = {name: key for key, name in enumerate(device_names(file, mapping), 1)}
    places = Places(Devices(keys), {})
    rows, begun = 0, time.process_time()
    first: dict[int, float] = {}
    last: dict[int, float] = {}
    for batch in batches(file, mapping, places, now_ms()):
        rows += batch.read
        for register in batch.registers:
            first.setdefault(register.device, register.value)
            last[register.device] = register.value
    cubic_metres = sum(last.values()) - sum(first.values())
    gallons = cubic_metres * GALLONS_PER_CUBIC_METRE
    return {
        "rows": rows,
        "cpu_s": time.process_time() - begun,
        "gallons": gallons,
        "memory_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def import_file(path: Path, mapping: Mapping, folder: Path) -> dict[str, float]:
    """Returns wall and processor seconds of the command, and the gallons stored. Raises
    RuntimeError if it fails."""
    environment = os.environ | {
        "WEIR_INSTANCE": str(folder),
        "WEIR_DATABASE": f"sqlite:///{folder / 'weir.sqlite'}",
    }
    Mappings(folder).save("benchmark", mapping)

    def weir(*arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "weir", *arguments],
            env=environment,
            capture_output=True,
            text=True,
            timeout=LONGEST_S,
        )
        if done.returncode:
            raise RuntimeError(f"weir {' '.join(arguments)}: {done.stderr}")
        return done.stdout

    weir("db", "upgrade")
    organization = json.loads(weir("orgs", "create", "Imports", "--json"))["id"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begun = time.monotonic()
    weir(
        "readings",
        "import",
        str(path),
        "--org",
        organization,
        "--mapping",
        "benchmark",
        "--create-devices",
    )
    seconds = time.monotonic() - begun
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"seconds": seconds, "cpu_s": used, "memory_mib": after.ru_maxrss / 1024}


def store_file(path: Path, mapping: Mapping, folder: Path) -> dict[str, float]:
    """Imports the file in this process, which leaves the reading to another one. Returns this
    one's processor seconds."""
    store = open_store(f"sqlite:///{folder / 'stored.sqlite'}")
    store.upgrade()
    organization = store.create_organization("Imports").id
    create_missing(store, organization, path, mapping)
    begun = time.process_time()
    pipeline.import_file(store, organization, path, lambda batch: None, mapping=mapping)
    used = time.process_time() - begun
    store.close()
    return {"cpu_s": used}


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("rows", nargs="?", type=int, default=1_020_000)
    parser.add_argument("--amounts", action="store_true", help="of amounts instead of registers")
    parser.add_argument("--read-only", action="store_true", help="without storing anything")
    may_leave_files(parser)
    options = parser.parse_args(arguments)
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix="weir-bench-") as scratch:
        path = Path(scratch) / "registers.csv"
        gallons = write_file(path, options.rows)
        size = path.stat().st_size
        mapping = guess(path).mapping.changed("zone", "UTC").check()
        if options.amounts:
            mapping = mapping.changed("column.Zählerstand (m³).values", "amount").check()
        read = read_file(path, mapping)
        if not options.amounts and abs(read["gallons"] - gallons) > 1e-6 * gallons:
            raise RuntimeError(f"{read['gallons']} gallons were read, not {gallons}")
        imported, stored = dict[str, float](), dict[str, float]()
        if not options.read_only:
            imported = import_file(path, mapping, Path(scratch))
            stored = store_file(path, mapping, Path(scratch))
    lines = [
        f"{read['rows']:,.0f} rows, {size / 1e6:,.0f} MB",
        f"- read: {read['rows'] / read['cpu_s']:,.0f} rows a second of one processor,"
        f" at most {read['memory_mib']:.0f} MiB",
    ]
    if imported:
        lines.append(
            f"- imported: {imported['seconds']:.1f} s, {read['rows'] / imported['seconds']:,.0f}"
            f" rows a second; {imported['cpu_s']:.1f} s of processor, at most"
            f" {imported['memory_mib']:.0f} MiB a process"
        )
        lines.append(
            f"- stored: {read['rows'] / stored['cpu_s']:,.0f} rows a second of the processor of the"
            " process that stores"
        )
    conditions = of_a_site("benchmarks.imports", arguments, load, {})
    lines += [f"- {name}: {value}" for name, value in conditions.items()]
    tell(
        options,
        "\n".join(lines),
        {"read": read, "imported": imported, "stored": stored, "conditions": conditions},
    )
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
