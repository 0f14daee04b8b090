"""The devices that the form offers: the selected ones, then the results of a search."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from api.catalog import EMBED_VIEW_BY_NAME
from components.fleet.meters import Meter

MOST: Final = 12  # offered at a time; a search narrows them down
LONGEST_SEARCH: Final = 100


def offered(
    meters: Sequence[Meter], chosen: Sequence[str], search: str
) -> tuple[list[tuple[str, str]], int]:
    """(id, label) of the chosen ones, then of the first that hold the search; and how many more
    hold it."""
    by_id = {meter.id: meter for meter in meters}
    wanted = " ".join(search[:LONGEST_SEARCH].split()).casefold()
    found = [meter for meter in meters if wanted in meter.sought and meter.id not in chosen]
    found.sort(key=lambda meter: (meter.label.casefold(), meter.serial))
    shown = [(id, _label(by_id[id]) if id in by_id else id) for id in chosen]
    shown += [(meter.id, _label(meter)) for meter in found[:MOST]]
    return shown, len(found) - len(found[:MOST])


def _label(meter: Meter) -> str:
    return meter.label if meter.label == meter.serial else f"{meter.label} · {meter.serial}"


def kept(view: str, chosen: Sequence[str]) -> list[str]:
    """The choice that a view has room for: of too many the last chosen."""
    return list(chosen)[-EMBED_VIEW_BY_NAME[view].most_devices :]


def labels(by_id: Mapping[str, Meter]) -> dict[str, str]:
    return {id: meter.label for id, meter in by_id.items()}
