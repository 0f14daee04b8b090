"""The choice of a resolution, a pure function: no database, no clock."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from api.catalog import LADDER, ONE_MINUTE, RAW, STORED, Resolution
from api.domain.adaptive import Choice, at_most_rows, choose
from tests.tables import cases

HOURS, TENS, FIVES, MINUTES = reversed(STORED)
DAY = {HOURS: 24, TENS: 144, FIVES: 288, MINUTES: 1440, RAW: 8640}  # a row every ten seconds


@cases(
    ("budget", "choice"),
    [
        (1, Choice(HOURS, 24, truncated=True)),
        (23, Choice(HOURS, 24, truncated=True)),
        (24, Choice(HOURS, 24, truncated=False)),
        (143, Choice(HOURS, 24, truncated=False)),
        (144, Choice(TENS, 144, truncated=False)),
        (300, Choice(FIVES, 288, truncated=False)),
        (1440, Choice(MINUTES, 1440, truncated=False)),
        (8639, Choice(MINUTES, 1440, truncated=False)),
        (8640, Choice(RAW, 8640, truncated=False)),
    ],
)
def test_the_finest_that_fits(budget: int, choice: Choice) -> None:
    assert choose(DAY.__getitem__, budget) == choice


def test_raw_is_counted_only_when_every_aggregate_fits() -> None:
    wanted: list[Resolution] = []

    def count_of(resolution: Resolution) -> int:
        wanted.append(resolution)
        return DAY[resolution]

    choose(count_of, 200)
    assert wanted == [HOURS, TENS, FIVES]


def test_it_stops_at_the_first_that_overflows_even_if_a_finer_one_would_fit() -> None:
    """An hour may belong to a range by its start while its minutes lie after the end."""
    counts = {HOURS: 1, TENS: 9, FIVES: 2, MINUTES: 2, RAW: 2}
    assert choose(counts.__getitem__, 5) == Choice(HOURS, 1, truncated=False)


@given(
    counts=st.tuples(*[st.integers(0, 50)] * len(LADDER)),
    budget=st.integers(1, 50),
)
def test_counting_no_further_than_the_budget_changes_nothing(
    counts: tuple[int, ...], budget: int
) -> None:
    full = dict(zip(LADDER, counts, strict=True))
    bounded = {resolution: min(count, budget + 1) for resolution, count in full.items()}
    one, other = choose(full.__getitem__, budget), choose(bounded.__getitem__, budget)
    assert (one.resolution, one.truncated) == (other.resolution, other.truncated)


@given(
    start=st.integers(-(10**12), 10**13),
    length=st.integers(0, 10**9),
    resolution=st.sampled_from(STORED),
)
def test_the_bound_is_the_number_of_bucket_starts(
    start: int, length: int, resolution: Resolution
) -> None:
    step = resolution.fixed_ms
    first = next(t for t in range(start, start + step) if t % step == 0) if step < 10**5 else None
    if first is not None:
        owed = len(range(first, start + length + 1, step))
        assert at_most_rows(resolution, start, start + length) == owed
    assert at_most_rows(RAW, start, start + length) == float("inf")


def test_a_bound_that_fits_needs_no_count() -> None:
    assert at_most_rows(ONE_MINUTE, 0, 999 * 60_000) == 1000
