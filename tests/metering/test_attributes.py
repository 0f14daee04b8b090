"""What a meter serves (people, area, …), and sums of it."""

from __future__ import annotations

from typing import Any

from api.metering.attributes import attributes_of, summed
from tests.tables import cases


@cases(
    ("config", "attributes"),
    [
        (None, {}),
        ({"attributes": {"persons": 4, "floorArea": 120.5}}, {"floorArea": 120.5, "persons": 4.0}),
        ({"attributes": {"persons": 0, "beds": -1, "pets": True, "x" * 41: 1, "n": "3"}}, {}),
        ({"attributes": ["persons"]}, {}),
    ],
)
def test_only_numbers_above_zero_count(config: Any, attributes: dict[str, float]) -> None:
    assert attributes_of(config) == attributes


def test_a_group_has_what_all_its_devices_have() -> None:
    assert summed([{"persons": 4, "floorArea": 90}, {"persons": 2}]) == {"persons": 6}
    assert summed([]) == {}
