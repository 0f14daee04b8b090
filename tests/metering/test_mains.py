"""Mains and sub-meters: which meters a sum counts."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from api.metering.mains import Cycle, ancestors, counted
from tests.tables import cases

# main → riser → flat 1, flat 2; main → garden; another main
TREE = {"riser": "main", "flat 1": "riser", "flat 2": "riser", "garden": "main"}


def test_upstream_meters_are_listed_nearest_first() -> None:
    assert ancestors(TREE) == {
        "riser": ("main",),
        "flat 1": ("riser", "main"),
        "flat 2": ("riser", "main"),
        "garden": ("main",),
    }


@cases(
    ("summed", "counts"),
    [
        (["main", "riser", "flat 1", "garden", "other"], {"main", "other"}),
        (["riser", "flat 1", "garden"], {"riser", "garden"}),  # the main isn't summed
        (["main", "flat 1"], {"main"}),  # the riser between them isn't summed
        (["flat 1", "flat 2"], {"flat 1", "flat 2"}),
        ([], set()),
    ],
)
def test_a_sum_counts_water_at_its_topmost_summed_meter(
    summed: list[str], counts: set[str]
) -> None:
    assert counted(summed, TREE) == counts


@pytest.mark.parametrize(
    "parents", [{"a": "a"}, {"a": "b", "b": "a"}, {"x": "a", "a": "b", "b": "c", "c": "a"}]
)
def test_no_meter_is_upstream_of_itself(parents: dict[str, str]) -> None:
    with pytest.raises(Cycle) as result:
        ancestors(parents)
    assert result.value.around[0] == result.value.around[-1]
    assert "x" not in result.value.around
    assert counted(parents, parents) <= set(parents)  # and the walk ends


@settings(max_examples=30)
@given(st.dictionaries(st.integers(1, 40), st.integers(0, 39)), st.sets(st.integers(0, 40)))
def test_every_litre_is_counted_once(links: dict[int, int], summed: set[int]) -> None:
    """In any forest: a counted device has no counted ancestor, and every other device has one."""
    parents = {device: upstream % device for device, upstream in links.items()}  # always smaller
    upstream = ancestors(parents)
    counts = counted(summed, parents)
    for device in summed:
        assert (device in counts) == counts.isdisjoint(upstream.get(device, ()))
