"""Mains and sub-meters: whose water is part of another meter's, and which meters a sum counts.

A device may name its parent, the meter upstream of it. Water that a sub-meter measures has passed
its parent already, so a sum over both counts the parent alone.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping
from typing import TypeVar

K = TypeVar("K", bound=Hashable)


class Cycle(ValueError):
    """Devices that are upstream of themselves; ``around`` names them in order."""

    def __init__(self, around: tuple[Hashable, ...]) -> None:
        super().__init__("a device cannot be upstream of itself")
        self.around = around


def ancestors(parents: Mapping[K, K]) -> dict[K, tuple[K, ...]]:
    """By device all that are upstream of it, its parent first. Raises Cycle."""
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
    """Those of the devices that a sum over them counts: none of their ancestors is among them.
    ``parents`` may name devices that are not summed. A store has no cycles; where a
    server names one, the walk ends at the first device that was passed before."""
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
