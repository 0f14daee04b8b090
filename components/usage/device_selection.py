"""Which devices a summary is of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from components import formatting
from components.fleet.device_list import Directory, directory
from components.fleet.meters import Meter
from components.fleet.queries import Desk
from components.usage.url_state import MOST_DEVICES, UsageView

MOST_OFFERED: Final = 50


@dataclass(frozen=True, slots=True)
class Picked:
    """``found`` counts what matches; ``meters`` are these, or none where they are too many.
    ``price`` is the organization's default per gallon."""

    meters: tuple[Meter, ...]
    found: int
    price: float | None
    groups: tuple[str, ...]

    @property
    def too_many(self) -> bool:
        return self.found > MOST_DEVICES

    @property
    def words(self) -> str:
        """Why there is no summary; empty where there is one."""
        if self.too_many:
            return (
                f"{formatting.whole(self.found)} devices match, and a summary holds at most"
                f" {MOST_DEVICES}. Narrow the search, take a group or choose devices."
            )
        return "" if self.found else "No device matches."


def pick(desk: Desk, view: UsageView, now_ms: int) -> Picked:
    """Raises a WeirError where the service can't list the devices."""
    active = directory(desk, now_ms)
    found = _chosen(desk, view, active, now_ms) if view.devices else matching(active, view)
    meters = tuple(found) if len(found) <= MOST_DEVICES else ()
    return Picked(meters, len(found), active.price, active.groups)


def _chosen(desk: Desk, view: UsageView, active: Directory, now_ms: int) -> list[Meter]:
    """Inactive ones as well: what they used, they used."""
    known = dict(active.by_id)
    if any(id not in known for id in view.devices):
        known = {**directory(desk, now_ms, "false").by_id, **known}
    return [known[id] for id in view.devices if id in known]


def matching(active: Directory, view: UsageView) -> list[Meter]:
    sought = view.search.casefold()
    return [
        meter
        for meter in active.meters
        if sought in meter.sought and (not view.group or view.group in meter.groups)
    ]


def offered(desk: Desk, sought: str, now_ms: int) -> list[Meter]:
    """The first devices that a search finds, to choose from."""
    found = matching(directory(desk, now_ms), UsageView(search=" ".join(sought.split())))
    return sorted(found, key=lambda meter: meter.label.casefold())[:MOST_OFFERED]
