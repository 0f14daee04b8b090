"""Mains and sub-meters: which meters a sum may count without counting water twice.

A device may name its parent, the meter upstream of it. Water measured by a sub-meter has already
passed its parent, so a sum over both counts only the parent.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping
from typing import TypeVar

K = TypeVar("K", bound=Hashable)


class Cycle(ValueError):
    """Devices form a cycle: each is upstream of itself. ``around`` names them in order."""

    def __init__(self, around: tuple[Hashable, ...]) -> None:
        super().__init__("a device cannot be upstream of itself")
        self.around = around


def ancestors(parents: Mapping[K, K]) -> dict[K, tuple[K, ...]]:
    """Returns, for each device, the devices upstream of it, its parent first. Raises Cycle."""
    result: dict[K, tuple[K, ...]] = {}
    for device in parents:
        path = [device]
        while path[-1] in parents and path[-1] not in result:
            upstream = parents[path[-1]]
            if upstream in path:
                raise Cycle((*path[path.index(upstream) :], upstream))
            path.append(upstream)
        while len(path) > 1:
            upstream = path.pop()
            result[path[-1]] = (upstream, *result.get(upstream, ()))
    return result


def counted(devices: Collection[K], parents: Mapping[K, K]) -> set[K]:
    """Returns the devices that a sum over ``devices`` counts: those without an ancestor among them.

    ``parents`` may name devices outside the sum. Weir's own store prevents cycles; where a remote
    server returns one, the walk stops at the first device that it meets again.
    """
    summed = set(devices)
    return {device for device in summed if not _is_measured_upstream(device, summed, parents)}


def _is_measured_upstream(device: K, summed: Collection[K], parents: Mapping[K, K]) -> bool:
    seen = {device}
    while (upstream := parents.get(device)) is not None and upstream not in seen:
        if upstream in summed:
            return True
        seen.add(upstream)
        device = upstream
    return False
