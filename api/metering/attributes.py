"""The size of what a meter serves (floor area, persons, beds …). Volumes are divided by it to
compare meters of different sites.

A device's ``config.attributes`` holds the values: ``{"floorArea": 1200, "persons": 4}``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, cast

from api.metering.cost import finite

LONGEST_NAME: Final = 40


def attributes_of(config: Mapping[str, Any] | None) -> dict[str, float]:
    """The attributes of a device that are finite numbers above 0. Anything else is ignored: the
    configuration may come from another system."""
    given = (config or {}).get("attributes")
    if not isinstance(given, dict):
        return {}
    numbers = {
        name: value
        for name, each in cast("dict[object, object]", given).items()
        if isinstance(name, str)
        and 0 < len(name) <= LONGEST_NAME
        and (value := finite(each)) is not None
        and value > 0
    }
    return dict(sorted(numbers.items()))


def summed(each_device: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """Sums the attributes that all of the devices have. An attribute that one of them lacks is left
    out: a volume of five meters divided by the floor area of four would be wrong."""
    every = list(each_device)
    if not every:
        return {}
    shared = set(every[0]).intersection(*every[1:])
    return {name: sum(each[name] for each in every) for name in sorted(shared)}
