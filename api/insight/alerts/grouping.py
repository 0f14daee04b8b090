"""Combines the messages of many devices that fall silent together, as behind a failed gateway."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from api.catalog import MINUTE_MS
from api.insight.alerts.conditions import STATE
from api.insight.alerts.model import Episode

SUBJECTS: Final = frozenset(("silent", "missing-data", STATE))
SHARE: Final = 0.2  # share of a group's devices
LEAST: Final = 3  # devices
AT_ONCE: Final = 20  # devices in any groups
TOGETHER_MS: Final = 30 * MINUTE_MS
FIRST_WAIT_MS: Final = MINUTE_MS  # time to wait for others that fall silent too
LONGEST_WAIT_MS: Final = 15 * MINUTE_MS


class Outage(NamedTuple):
    """``name`` of the group, "" for the organization. ``id`` is that of an outage already sent."""

    name: str
    members: frozenset[str]
    id: str | None = None


def wait_ms(subject: str, cadence_ms: int, devices: int) -> int:
    """Returns how long a device's silence waits for that of others: until each has been due
    once."""
    if subject not in SUBJECTS or devices < LEAST:
        return 0
    return min(max(FIRST_WAIT_MS, cadence_ms), LONGEST_WAIT_MS)


def outages(
    fires: Sequence[Episode],
    others: Iterable[Episode],
    groups: Mapping[str, frozenset[int]],
    devices: int,
) -> list[Outage]:
    """Groups silences into outages. ``fires`` are about to be sent; ``others`` are open episodes,
    pending ones included. ``groups`` are those of the organization's ``devices`` devices. Each fire
    is in at most one outage."""
    left = {each.id: each for each in fires if each.subject in SUBJECTS}
    every = {each.id: each for each in (*others, *left.values()) if each.ended_ms is None}
    result: list[Outage] = []
    while left:
        first = min(left.values(), key=lambda each: (each.condition.start_ms, each.id))
        near = [each for each in every.values() if _together(first, each)]
        outage = _joined(first, near, groups) or _outage(first, near, groups, devices)
        if outage is None:
            del left[first.id]
            continue
        members = frozenset(id for id in outage.members if id in left)
        result.append(outage._replace(members=members))
        for id in members:
            del left[id]
    return result


def _together(one: Episode, other: Episode) -> bool:
    return (
        one.rule_id == other.rule_id
        and one.subject == other.subject
        and abs(one.condition.start_ms - other.condition.start_ms) <= TOGETHER_MS
    )


def _joined(
    first: Episode, near: Sequence[Episode], groups: Mapping[str, frozenset[int]]
) -> Outage | None:
    """Returns the outage that was already sent and that the device belongs to."""
    for each in near:
        if each.group_id is not None and each.state == "firing":
            keys = groups.get(each.group_name)
            if not each.group_name or (keys is not None and first.device_key in keys):
                own = (e.id for e in near if keys is None or e.device_key in keys)
                return Outage(each.group_name, frozenset(own), each.group_id)
    return None


def _outage(
    first: Episode,
    near: Sequence[Episode],
    groups: Mapping[str, frozenset[int]],
    devices: int,
) -> Outage | None:
    """Returns the smallest group of the device in which too large a share is silent; else many
    devices at once."""
    own = sorted((len(keys), name) for name, keys in groups.items() if first.device_key in keys)
    for size, name in own:
        within = [each for each in near if each.device_key in groups[name]]
        if len(within) >= LEAST and len(within) > SHARE * size:
            return Outage(name, frozenset(each.id for each in within))
    if len(near) >= AT_ONCE or (len(near) >= LEAST and len(near) > SHARE * devices):
        keys = {each.device_key for each in near}
        common = next((name for _, name in own if keys <= groups[name]), "")
        return Outage(common, frozenset(each.id for each in near))
    return None
