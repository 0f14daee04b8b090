"""A main against its sub-meters: the difference is exact with any readings missing."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from api.metering.water_balance import MeteredHour, balance


def hours(*gallons: float | None, coverage: float = 1.0) -> dict[int, MeteredHour]:
    """From hour 0 on; None is an hour without readings."""
    return {n: MeteredHour(g, coverage) for n, g in enumerate(gallons) if g is not None}


def test_the_difference_is_the_unmetered_volume() -> None:
    result = balance(hours(100, 100), [hours(60, 50), hours(30, 40)], range(2))
    assert (result.inlet, result.outlets, result.outlet) == (200, (110, 70), 180)
    assert (result.difference, result.share) == (20, 0.1)
    assert (result.compared, result.hours) == (2, 2)


@pytest.mark.parametrize("lost", ["main", "sub-meter", "little of an hour"])
def test_a_gap_is_not_a_leak(lost: str) -> None:
    """Without its third hour one meter would seem to have measured 50 gallons less."""
    main, sub = hours(100, 100, 100), hours(95, 95, 95)
    if lost == "main":
        del main[2]
    elif lost == "sub-meter":
        del sub[2]
    else:
        sub[2] = MeteredHour(20, 0.5)
    result = balance(main, [sub], range(3))
    assert (result.difference, result.share) == (10, 0.05)
    assert (result.compared, result.hours) == (2, 3)


def test_without_common_hours_there_is_no_balance() -> None:
    for main, below in (({}, [hours(1)]), (hours(1), [{}]), (hours(1), [])):
        result = balance(main, below, range(1))
        assert (result.difference, result.share) == (None, None)
    assert balance(hours(0, 0), [hours(0, 0)], range(2)).share is None  # of nothing
    assert balance(hours(10), [hours(12)], range(1)).difference == -2


METER = st.dictionaries(
    st.integers(0, 9),
    st.builds(
        MeteredHour,
        st.none() | st.integers(0, 100).map(float),
        st.sampled_from([0.0, 0.5, 0.9, 1.0]),
    ),
)


@settings(max_examples=30)
@given(METER, st.lists(METER, min_size=1, max_size=3))
def test_the_balance_is_over_the_hours_that_all_meters_have(
    main: dict[int, MeteredHour], below: list[dict[int, MeteredHour]]
) -> None:
    result = balance(main, below, range(10))
    meters = [main, *below]
    both = [h for h in range(10) if all(h in m and m[h].complete for m in meters)]
    assert result.compared == len(both)
    assert result.inlet == sum(main[h].gallons or 0 for h in both)
    assert result.outlet == sum(m[h].gallons or 0 for m in below for h in both)
