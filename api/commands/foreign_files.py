"""`weir readings import` for files of other systems: preview, mapping, new devices."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import sleep
from typing import TYPE_CHECKING, Any, Final

import click

from api.commands.arguments import everything
from api.commands.command import json_wanted, table, warn
from api.commands.store_access import settings
from api.errors import UserError, WeirError
from api.store.base import DeviceQuery, Store
from api.timez import now_ms, stamp

if TYPE_CHECKING:
    from api.ingest.foreign.guess_mapping import Guess

SHOWN_ROWS: Final = 20
POLL_S: Final = 5.0
UNFINISHED: Final = (".part", ".tmp", ".crdownload", ".filepart")


@dataclass(frozen=True, slots=True)
class Choice:
    """The mapping chosen by the options: a saved mapping's name or a guess, and settings changed in
    either. ``save``: a name to save it under."""

    mapping: str = ""
    guess: bool = False
    changes: tuple[str, ...] = ()
    save: str = ""

    @property
    def foreign(self) -> bool:
        return bool(self.mapping or self.guess or self.changes or self.save)

    def check(self) -> None:
        """Raises UserError if there is no such mapping."""
        from api.ingest.foreign.mapping import Mappings

        if self.mapping:
            Mappings(Path(settings().instance)).load(self.mapping)

    def of(self, path: Path) -> Guess:
        """Raises UserError where the file can't be read, or a change doesn't fit."""
        from api.ingest.foreign.corrections import corrected
        from api.ingest.foreign.guess_mapping import Guess, guess
        from api.ingest.foreign.mapping import Mappings

        saved = Mappings(Path(settings().instance))
        guessed = Guess(saved.load(self.mapping)) if self.mapping else guess(path)
        try:
            for change in self.changes:
                name, equals, value = change.partition("=")
                if not equals:
                    raise ValueError(f"--set {change}: NAME=VALUE is needed")
                guessed = corrected(guessed, path, name, value)
            guessed.mapping.check()
        except ValueError as error:
            raise UserError(f"{path}: {error}") from None
        if self.save:
            saved.save(self.save, guessed.mapping)
        return guessed


def show(store: Store, organization_id: str, path: Path, choice: Choice) -> object:
    """Returns the mapping with what should be checked, and the first rows as they will be
    stored."""
    from api.domain.organization import zone_of
    from api.ingest.foreign.mapping import to_table, to_toml
    from api.ingest.foreign.preview import preview, zones_by_name

    guessed = choice.of(path)
    devices = store.devices(everything(organization_id), DeviceQuery(active=None))
    zones = zones_by_name(devices)
    new_zone = zone_of(store, organization_id)
    seen = preview(path, guessed.mapping, zones, now_ms(), new_zone)
    rows = [
        {"recordedAt": stamp(row.recorded_ms), "device": row.device, **row.values}
        for row in seen.readings[:SHOWN_ROWS]
    ]
    new = [name for name in seen.devices if name not in zones]
    refused = Counter[str]()
    for each in seen.refused:
        refused[each.reason] += each.count
    if json_wanted():
        return {
            "mapping": to_table(guessed.mapping), "check": guessed.unsure, "rows": rows,
            "newDevices": new, "refused": refused,
        }  # fmt: skip
    click.echo(to_toml(guessed.mapping))
    click.echo(table(_even(rows)))
    for name, why in guessed.unsure.items():
        warn(f"please check {name}: {why}")
    for reason, count in refused.items():
        warn(f"refused: {reason} ({count:,} of {seen.read:,} rows)")
    if new:
        names = ", ".join(new[:5]) + (" …" if len(new) > 5 else "")
        warn(f"{len(new):,} devices aren't there yet: {names}; --create-devices creates them")
    return None


def _even(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Returns rows with the same columns, numbers to six digits."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    return [{name: _short(row.get(name)) for name in names} for row in rows]


def _short(value: object) -> object:
    return f"{value:.6g}" if isinstance(value, float) else value


def watch(folder: Path, take: Callable[[Path], object], *, once: bool) -> bool:
    """Passes each finished file of the folder to ``take``, again whenever it changes, until Ctrl-C.

    ``once``: only the files that are there now. A file that fails is reported, and tried again when
    it changes. Returns whether none has failed.
    """
    if not folder.is_dir():
        raise UserError(f"--watch {folder}: no such folder")
    seen: dict[Path, tuple[int, int]] = {}
    taken: dict[Path, tuple[int, int]] = {}
    failed = False
    while True:
        for path in sorted(folder.iterdir()):
            state = _state(path)
            settled = once or seen.get(path) == state
            seen[path] = state
            if not settled or not state[0] or taken.get(path) == state:
                continue
            taken[path] = state
            try:
                take(path)
            except WeirError as error:
                warn(str(error))
                failed = True
        if once:
            return not failed
        sleep(POLL_S)


def _state(path: Path) -> tuple[int, int]:
    """Returns (bytes, time of change) of a file that may be imported; (0, 0) for any other."""
    try:
        status = path.stat()
    except OSError:
        return 0, 0
    hidden = path.name.startswith(".") or path.name.endswith(UNFINISHED)
    return (0, 0) if hidden or not path.is_file() else (status.st_size, status.st_mtime_ns)
