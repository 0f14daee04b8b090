"""The service's operations on imports: uploading a file in pieces, guessing, preview, start,
undo."""

from __future__ import annotations

import csv
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from io import StringIO
from itertools import islice
from pathlib import Path
from subprocess import DEVNULL, Popen
from threading import Thread
from typing import Any, Final

from api.catalog import FLOW_AMOUNT, FLOW_RATE
from api.domain.organization import zone_of
from api.errors import BadRequest, Conflict, TooLarge, UserError
from api.ingest.csv_records import Record, Unreadable
from api.ingest.foreign.corrections import corrected
from api.ingest.foreign.guess_mapping import Guess, guess
from api.ingest.foreign.mapping import Mapping as FileMapping
from api.ingest.foreign.mapping import Mappings
from api.ingest.foreign.preview import Preview, first_rows, preview, zones_by_name
from api.ingest.foreign.workbooks import sheet_names
from api.ingest.imports.folder import BUSY, ImportFolder, ImportFolders, Outcome, Request, harmless
from api.settings import Settings
from api.store.base import DeviceQuery, Grant, Scope, Store
from api.timez import now_ms, stamp

LARGEST_FILE: Final = 2 << 30  # bytes
MOST_IMPORTS: Final = 50  # imports kept per organization
MOST_RUNNING: Final = 2
SHOWN_ROWS: Final = 20
SHOWN_REFUSED: Final = 100
SHOWN_DEVICES: Final = 200
CHART_POINTS: Final = 400
LONGEST_NAME: Final = 200

Start = Callable[[str], None]
"""Starts the job of an import, by its id, in its own process."""


def start_process(settings: Settings) -> Start:
    def start(import_id: str) -> None:
        environ = {
            **os.environ,
            "WEIR_DATABASE": settings.database,
            "WEIR_INSTANCE": settings.instance,
        }
        command = [sys.executable, "-m", "weir", "readings", "run-import", import_id]
        process = Popen(
            command,
            env=environ,
            stdin=DEVNULL,
            stdout=DEVNULL,
            stderr=DEVNULL,
            start_new_session=True,
        )
        Thread(target=process.wait, daemon=True).start()

    return start


class ImportService:
    """Implements `api.server.imports.Imports`. ``store`` is read only."""

    def __init__(self, store: Store, instance: Path, start: Start) -> None:
        self._store, self._start = store, start
        self._folders, self._mappings = ImportFolders(instance), Mappings(instance)

    # --- The file ---

    def create(self, organization_id: str, by: str, name: str, size: int) -> dict[str, Any]:
        name = Path(name.replace("\\", "/")).name.strip()
        if not name or name.startswith(".") or len(name) > LONGEST_NAME or not name.isprintable():
            raise BadRequest("The file needs a name.")
        if size > LARGEST_FILE:
            raise TooLarge("A file may have 2 GiB; compress it, or import it by command.")
        if size < 1:
            raise BadRequest("The file is empty.")
        if sum(1 for _ in self._folders.all(organization_id)) >= MOST_IMPORTS:
            raise Conflict(f"There are {MOST_IMPORTS} imports already: remove one first.")
        request = Request(name, size, organization_id, by, now_ms())
        return self.describe(organization_id, self._folders.create(request).id)

    def append(self, organization_id: str, id: str, offset: int, content: bytes) -> dict[str, Any]:
        folder = self._in_state(organization_id, id, "receiving")
        received = folder.file.stat().st_size
        if offset != received:
            raise Conflict(f"{received} bytes have arrived; send what follows them.")
        request = folder.request()
        if received + len(content) > request.size:
            raise TooLarge("The file is longer than announced.")
        with folder.file.open("ab") as file:
            file.write(content)
        if received + len(content) < request.size:
            return {"received": received + len(content)}
        self._guess(folder)
        return {"received": request.size}

    def _guess(self, folder: ImportFolder) -> None:
        try:
            guessed = guess(folder.file)
            folder.with_mapping(guessed.mapping, guessed.unsure)
        except UserError as error:
            folder.report(Outcome("failed", problem=_without_path(error, folder)))

    # --- The mapping ---

    def change(self, organization_id: str, id: str, settings: Mapping[str, str]) -> dict[str, Any]:
        """Changes settings; ``mapping`` loads a saved one, ``save`` saves it under a name. Makes an
        undone import ready again."""
        folder = self._in_state(organization_id, id, "ready", "undone")
        guessed = Guess(folder.mapping(), folder.request().unsure)
        try:
            for name, value in settings.items():
                if name == "mapping":
                    guessed = Guess(self._mappings.load(value))
                elif name != "save":
                    guessed = corrected(guessed, folder.file, name, value)
            if "save" in settings:
                self._mappings.save(settings["save"], guessed.mapping.check())
        except (ValueError, UserError) as error:
            raise BadRequest(_sentence(str(error))) from None
        if folder.outcome() is not None:
            folder.restart()
        folder.with_mapping(guessed.mapping, guessed.unsure)
        return self.describe(organization_id, id)

    # --- The job ---

    def begin(self, organization_id: str, id: str) -> dict[str, Any]:
        """Starts or continues the import."""
        folder = self._in_state(organization_id, id, "ready", "paused", "interrupted")
        try:
            folder.mapping().check()
        except ValueError as error:
            raise BadRequest(_sentence(str(error))) from None
        goal = folder.request().goal or "import"
        return self._run(folder, replace(folder.request(), goal=goal))

    def pause(self, organization_id: str, id: str) -> dict[str, Any]:
        folder = self._in_state(organization_id, id, "running", "waiting")
        folder.pause(True)
        return self.describe(organization_id, id)

    def undo(self, organization_id: str, id: str) -> dict[str, Any]:
        folder = self._in_state(organization_id, id, "done", "paused", "interrupted", "failed")
        return self._run(folder, replace(folder.request(), goal="undo"))

    def remove(self, organization_id: str, id: str) -> dict[str, Any]:
        """Removes the import; its readings stay."""
        folder = self._folders.find(id, organization_id)
        if folder.state(now_ms()) in BUSY:
            raise Conflict("The import is running: pause it first.")
        self._folders.remove(folder)
        return {"removed": id}

    def _run(self, folder: ImportFolder, request: Request) -> dict[str, Any]:
        others = self._folders.all(request.organization_id)
        if sum(each.state(now_ms()) in BUSY for each in others) >= MOST_RUNNING:
            raise Conflict("Two imports are running: start this one when one is done.")
        folder.pause(False)
        folder.save(request)
        folder.report(replace(folder.outcome() or Outcome(), state="waiting"))
        self._start(folder.id)
        return self.describe(request.organization_id, folder.id)

    def _in_state(self, organization_id: str, id: str, *allowed: str) -> ImportFolder:
        folder = self._folders.find(id, organization_id)
        state = folder.state(now_ms())
        if state not in allowed:
            raise Conflict(f"The import is {state}.")
        return folder

    # --- Responses ---

    def recent(self, organization_id: str) -> dict[str, Any]:
        rows = [self._brief(each) for each in self._folders.all(organization_id)]
        return {"data": rows, "mappings": self._mappings.names()}

    def describe(self, organization_id: str, id: str) -> dict[str, Any]:
        folder = self._folders.find(id, organization_id)
        result = self._brief(folder) | {"mappings": self._mappings.names()}
        request = folder.request()
        if request.mapping:
            mapping = folder.mapping()
            columns = [{n.rstrip("_"): v for n, v in c.items()} for c in asdict(mapping)["columns"]]
            result["mapping"] = asdict(mapping) | {"columns": columns}
            result["unsure"] = request.unsure
            result["sheets"] = sheet_names(folder.file) if mapping.form == "xlsx" else []
        if folder.refused_rows.exists():
            with folder.refused_rows.open(encoding="utf-8", newline="") as file:
                result["refusedRows"] = list(islice(csv.reader(file), SHOWN_REFUSED))
        if result["state"] == "ready":
            result["preview"] = self._preview(folder)
        return result

    def refused(self, organization_id: str, id: str) -> str:
        """Returns the refused rows as CSV, each with its reason."""
        folder = self._folders.find(id, organization_id)
        text = StringIO()
        csv.writer(text).writerow(("reason", "device", "row"))
        if folder.refused_rows.exists():
            return text.getvalue() + folder.refused_rows.read_text("utf-8")
        causes = (folder.outcome() or Outcome()).causes  # of an import before they were stored
        csv.writer(text).writerows(
            [harmless(cell) for cell in (reason, device, sample)]
            for reason, device, _, sample in causes
        )
        return text.getvalue()

    def _brief(self, folder: ImportFolder) -> dict[str, Any]:
        request, outcome = folder.request(), folder.outcome() or Outcome()
        state = folder.state(now_ms())
        shown = asdict(outcome) | {"problem": outcome.problem}
        del shown["prepared_ms"]
        return {
            "id": folder.id,
            "name": request.name,
            "size": request.size,
            "received": folder.file.stat().st_size,
            "state": state,
            "pausing": state in BUSY and folder.pausing,
            "createdAt": stamp(request.created_ms),
            "by": request.by,
            "goal": request.goal,
            "outcome": shown,
        }

    def _preview(self, folder: ImportFolder) -> dict[str, Any]:
        scope = Scope(folder.request().organization_id, Grant(everything=True))
        devices = self._store.devices(scope, DeviceQuery(active=None))
        zones = zones_by_name(devices)
        mapping, new_zone = folder.mapping(), zone_of(self._store, scope.organization_id)
        try:
            seen = preview(folder.file, mapping, zones, now_ms(), new_zone)
        except (ValueError, UserError) as error:
            problem = _sentence(_without_path(error, folder))
            return {"problem": problem, "samples": _first_samples(folder.file, mapping)}
        return preview_object(seen, mapping, zones, new_zone)


def preview_object(
    seen: Preview, mapping: FileMapping, zones: Mapping[str, str], new_zone: str
) -> dict[str, Any]:
    """Returns a preview as JSON: rows as they will be stored, the chart of the first device,
    samples of each column."""
    shown = seen.readings[0].device if seen.readings else ""
    own = sorted((r for r in seen.readings if r.device == shown), key=lambda row: row.recorded_ms)
    metric = FLOW_RATE.name if any(FLOW_RATE.name in r.values for r in own) else FLOW_AMOUNT.name
    return {
        "problem": "",
        "rows": [
            {"recordedAt": row.recorded_ms, "device": row.device, **row.values}
            for row in seen.readings[:SHOWN_ROWS]
        ],
        "raw": [list(row) for row in seen.raw[:SHOWN_ROWS]],
        "samples": _samples(seen.raw, mapping),
        "read": seen.read,
        "stored": len(seen.readings),
        "refused": [[r.reason, r.device, r.count, r.sample] for r in seen.refused[:SHOWN_ROWS]],
        "devices": [
            {"name": name, "known": name in zones} for name in seen.devices[:SHOWN_DEVICES]
        ],
        "newDevices": sum(name not in zones for name in seen.devices),
        "allDevices": len(seen.devices),
        "zone": mapping.zone if mapping.zone != "device" else zones.get(shown, new_zone),
        "chart": {
            "device": shown,
            "metric": metric,
            "points": [[r.recorded_ms, r.values.get(metric)] for r in own[:CHART_POINTS]],
        },
    }


def _first_samples(path: Path, mapping: FileMapping) -> list[list[str]]:
    """Returns samples of each column; none where the file can't be read by the mapping."""
    try:
        return _samples(first_rows(path, mapping, SHOWN_ROWS), mapping)
    except (ValueError, UserError):
        return []


def _samples(raw: Sequence[Record], mapping: FileMapping) -> list[list[str]]:
    rows = [row for row in raw if not isinstance(row, Unreadable)]
    texts = (
        dict.fromkeys(row[place] for row in rows if place < len(row) and row[place].strip())
        for place in range(len(mapping.columns))
    )
    return [list(each)[:2] for each in texts]


def _without_path(error: Exception, folder: ImportFolder) -> str:
    return str(error).replace(str(folder.file), folder.file.name)


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}".rstrip(".") + "."
