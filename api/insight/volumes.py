"""Compares the volumes of several devices or groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from api.domain.identify import identify_each, storable
from api.insight.finding_inputs import steady
from api.metering.attributes import attributes_of, summed
from api.metering.cadence import UNKNOWN, Cadence, configured
from api.metering.mains import counted
from api.store.base import Device, Scope, StatusEntry, StatusQuery, Store, Volume
from api.timez import source_of

MOST_ITEMS: Final = 50
MOST_DEVICES: Final = 2_000  # devices of all items together
MOST_BUCKETS: Final = 1_500
MOST_ROWS: Final = 3_000_000  # rows summed for one response
ItemKind = Literal["device", "group"]


class Item(NamedTuple):
    """``name``: a device's identifier, or a group's name."""

    kind: ItemKind
    name: str

    @property
    def text(self) -> str:
        return f"{self.kind}:{self.name}"


@dataclass(frozen=True, slots=True)
class Members:
    """The devices that an item sums, with their status if there is one. ``sub_meters`` more are
    left out, since another of the devices has measured their water."""

    item: Item
    entries: tuple[StatusEntry, ...]
    sub_meters: int

    @property
    def devices(self) -> list[Device]:
        return [entry.device for entry in self.entries]


@dataclass(frozen=True, slots=True)
class ItemVolumes:
    """``volumes``: gallons from each edge to the next, None where there is no reading.
    ``coverage``: the share of the expected readings, 0 to 1."""

    members: Members
    volumes: tuple[float | None, ...]
    coverage: float

    @property
    def total(self) -> float | None:
        present = [each for each in self.volumes if each is not None]
        return sum(present) if present else None

    @property
    def attributes(self) -> dict[str, float]:
        return summed(attributes_of(each.config) for each in self.members.devices)


def members_of(store: Store, scope: Scope, items: Sequence[Item]) -> list[Members]:
    """Returns the members of the items that the scope sees; the others are left out."""
    members = [_members(store, scope, item) for item in items if storable(item.name)]
    return [each for each in members if each is not None]


def _members(store: Store, scope: Scope, item: Item) -> Members | None:
    if item.kind == "device":
        entries = store.statuses_of(scope, identify_each(store, scope, [item.name]))
        return Members(item, tuple(entries), 0) if entries else None
    query = StatusQuery(group=item.name, order_by="label", limit=MOST_DEVICES + 1)
    entries = store.statuses(scope, query)
    if not entries:
        return None
    summed_serials = _counted(store, scope, [entry.device for entry in entries])
    chosen = tuple(entry for entry in entries if entry.device.serial_number in summed_serials)
    return Members(item, chosen, len(entries) - len(chosen))


def _counted(store: Store, scope: Scope, devices: Sequence[Device]) -> set[str]:
    """Returns the serial numbers of devices whose water no other of them has measured."""
    parents: dict[str, str] = {}
    seen: set[str] = set()
    waiting = list(devices)
    while waiting:
        seen.update(each.serial_number for each in waiting)
        for each in waiting:
            parent = (each.config or {}).get("parent")
            if isinstance(parent, str):
                parents[each.serial_number] = parent
        upstream = sorted(set(parents.values()) - seen)
        seen.update(upstream)
        resolved = identify_each(store, scope, upstream) if upstream else []
        waiting = [entry.device for entry in store.statuses_of(scope, resolved)]
    return counted([each.serial_number for each in devices], parents)


def rows_to_sum(members: Sequence[Members], edges: Sequence[int]) -> int:
    """Returns an upper bound of the rows that the response sums."""
    length = source_of(*edges).fixed_ms
    return sum(len(each.entries) for each in members) * ((edges[-1] - edges[0]) // length)


def volumes_of(
    store: Store, members: Sequence[Members], edges: Sequence[int], now_ms: int
) -> list[ItemVolumes]:
    """Returns the volumes of each item from each edge up to the next. Uses one query for all."""
    source = source_of(*edges)
    every = {each.key: each for item in members for each in item.devices}
    by_device = store.volumes(list(every.values()), source, edges)
    length_ms = max(0, min(edges[-1], now_ms) - edges[0])
    return [_item(each, by_device, edges, source.fixed_ms, length_ms) for each in members]


def _item(
    members: Members,
    by_device: Mapping[int, Sequence[Volume]],
    edges: Sequence[int],
    source_ms: int,
    length_ms: int,
) -> ItemVolumes:
    sums: dict[int, float] = {}
    shares: list[float] = []
    for entry in members.entries:
        rows = by_device.get(entry.device.key, ())
        for start, gallons, _ in rows:
            if gallons is not None:
                sums[start] = sums.get(start, 0.0) + gallons
        expected = length_ms // max(source_ms, _cadence(entry).expected_ms)
        shares.append(min(1.0, sum(row.rows for row in rows) / max(1, expected)))
    coverage = sum(shares) / len(shares) if shares else 0.0
    return ItemVolumes(members, tuple(sums.get(start) for start in edges[:-1]), coverage)


def _cadence(entry: StatusEntry) -> Cadence:
    fixed = configured(entry.device.reporting_interval_s)
    if fixed is not None:
        return steady(fixed)
    if entry.status is None:
        return UNKNOWN
    return Cadence(entry.status.cadence_ms, event_driven=entry.status.event_driven)
