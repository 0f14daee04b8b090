"""Registers to volumes: never negative, never invented, and the sum is what the register rose."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from api.ingest.batch import blank
from api.ingest.foreign.registers import RegisterChain, Registered
from api.metering.register import (
    Booked,
    Register,
    booked,
    check_settings,
    looks_like_register,
    settings_of,
    steps,
    volumes,
)
from tests.tables import cases

RISES = st.lists(st.integers(0, 1_000), min_size=2, max_size=60)


def numbers(*values: float) -> np.ndarray:
    return np.array(values, np.float64)


@cases(
    ("registers", "full_scale", "expected"),
    [
        ((5, 7, 7, 12), 0, (None, 2, 0, 5)),
        ((), 0, ()),
        ((9,), 0, (None,)),
        ((99_998, 99_999, 3), 100_000, (None, 1, 4)),  # rolls over
        ((99_998, 3), 0, (None, None)),  # exchanged or set back: unknown
        ((50_000, 20), 100_000, (None, None)),  # half a range is no rollover
        ((10, 4, 6), 0, (None, None, 2)),
    ],
)
def test_volumes(
    registers: tuple[float, ...], full_scale: float, expected: tuple[float | None, ...]
) -> None:
    found = volumes(numbers(*registers), full_scale)
    assert [None if np.isnan(each) else each for each in found.tolist()] == list(expected)


@given(RISES)
def test_the_sum_of_volumes_is_what_the_register_rose(rises: list[int]) -> None:
    registers = np.cumsum(rises).astype(np.float64)
    assert np.nansum(volumes(registers)) == registers[-1] - registers[0]


@cases(
    ("values", "expected"),
    [
        (range(0, 240, 10), True),
        ([*range(0, 230, 10), 0], False),  # amounts fall
        ([3.0] * 30, False),  # a meter at rest
        (range(10), False),  # too few to tell
        ([0, 0, 5, 0, 3] * 10, False),
    ],
)
def test_what_looks_like_a_register(values: list[float], expected: bool) -> None:
    assert looks_like_register(numbers(*values)) is expected


@st.composite
def files(draw: st.DrawFn) -> tuple[list[tuple[int, int, int]], list[int], bool]:
    """Rows (device, ms, register) in order of time or against it, the places where parts end, and
    whether the file runs backwards."""
    rows: list[tuple[int, int, int]] = []
    for device in range(draw(st.integers(1, 3))):
        total = 0
        for step, rise in enumerate(draw(RISES)):
            total += rise
            rows += [(device, step * 60_000, total)] * draw(st.integers(1, 2))  # repeats too
    backwards = draw(st.booleans())
    rows.sort(key=lambda row: row[1], reverse=backwards)
    cuts = draw(st.lists(st.integers(0, len(rows)), max_size=5))
    return rows, sorted({0, len(rows), *cuts}), backwards


def derived(rows: list[tuple[int, int, int]], cuts: list[int], backwards: bool) -> set[object]:
    """(device, ms, amount, seconds) of every row that a chain gives."""
    chain = RegisterChain(backwards, gallons=0.264172052358)
    found: list[tuple[object, ...]] = []
    parts = [rows[start:end] for start, end in pairwise(cuts)]
    results = [chain.take(_registered(part)) for part in parts if part]
    for each in [*results, chain.rest()]:
        if each is not None:
            columns = (each.rows.devices, each.rows.instants, each.amounts, each.seconds)
            found += zip(*(map(str, column.tolist()) for column in columns), strict=True)
    assert len(found) == len(set(found))
    return set(found)


def _registered(part: list[tuple[int, int, int]]) -> Registered:
    devices, instants, registers = (np.array(column) for column in zip(*part, strict=True))
    return Registered(devices, instants, registers.astype(np.float64), blank(len(part)))


@given(files())
@settings(max_examples=60)
def test_any_split_direction_and_repetition_gives_the_same_bit_for_bit(
    file: tuple[list[tuple[int, int, int]], list[int], bool],
) -> None:
    rows, cuts, backwards = file
    forwards = sorted(set(rows))
    assert derived(rows, cuts, backwards) == derived(forwards, [0, len(forwards)], False)


# --- Settings and steps ---------------------------------------------------------------------------

HOUR = 3_600_000
QUARTER = 900_000
EXCHANGED = {"meterExchanges": [{"at": "1970-01-01T00:20:00Z", "last": 105, "first": 2}]}


@cases(
    ("config", "registers", "expected"),
    [
        ({}, (100, 101, 101), ((None, ""), (1.0, ""), (0.0, ""))),
        ({"registerUnit": "l"}, (0, 3785.411784), ((None, ""), (1000.0, ""))),
        ({"registerUnit": "M3"}, (0, 1), ((None, ""), (264.172052, ""))),
        ({"litresPerPulse": 10}, (0, 2), ((None, ""), (5.283441, ""))),
        ({"registerDigits": 3}, (998, 3), ((None, ""), (5.0, "rollover"))),
        ({"registerDigits": 3}, (500, 3), ((None, ""), (None, "back"))),
        ({}, (100, 90, 95), ((None, ""), (None, "back"), (5.0, ""))),
        (EXCHANGED, (100, 101, 3), ((None, ""), (1.0, ""), (5.0, "exchange"))),
        (EXCHANGED, (100, 106, 3), ((None, ""), (6.0, ""), (None, "exchange back"))),
    ],
)  # fmt: skip
def test_a_step_has_the_volume_between_two_registers(
    config: dict[str, object],
    registers: tuple[float, ...],
    expected: tuple[tuple[float | None, str], ...],
) -> None:
    points = [Register(place * QUARTER, float(each)) for place, each in enumerate(registers)]
    made = steps(points, settings_of(config, None))
    volumes_made = [None if each.gallons is None else round(each.gallons, 6) for each in made]
    assert list(zip(volumes_made, [" ".join(each.flags) for each in made], strict=True)) == list(
        expected
    )


@cases(
    ("config", "interval_s", "at_ms", "expected"),
    [
        ({}, None, HOUR, [(HOUR, 3600.0, 90.0)]),
        (
            {}, None, 2 * HOUR,
            [(HOUR - 1, 3600.0, 45.0), (2 * HOUR - 1, 3600.0, 45.0), (2 * HOUR, 0.0, 0.0)],
        ),
        ({"registerGap": "end"}, None, 2 * HOUR, [(2 * HOUR, 7200.0, 90.0)]),
        ({}, 3 * 3600, 3 * HOUR, [(3 * HOUR, 10800.0, 90.0)]),
    ],
)  # fmt: skip
def test_the_volume_of_a_gap_is_spread_over_its_hours(
    config: dict[str, object],
    interval_s: float | None,
    at_ms: int,
    expected: list[tuple[int, float, float]],
) -> None:
    points = [Register(0, 10.0), Register(at_ms, 100.0)]
    settings_ = settings_of(config, interval_s)
    rows: list[Booked] = booked(steps(points, settings_)[1])
    assert [(row.at_ms, row.seconds, round(row.gallons or 0, 4)) for row in rows] == expected
    assert sum(row.gallons or 0 for row in rows) == 90.0


@cases(
    ("config", "message"),
    [
        ({"registerUnit": "barrel"}, "registerUnit must be one of gal,"),
        ({"litresPerPulse": 0}, "litresPerPulse must be a number above 0"),
        ({"registerDigits": 0}, "registerDigits must be a whole number from 1 to 15"),
        ({"registerOffset": True}, "registerOffset must be a number"),
        ({"registerGap": "middle"}, "registerGap must be spread or end"),
        ({"meterExchanges": [{"last": 3}]}, "meterExchanges must have exchanges of at"),
        ({"meterExchanges": [{"at": "noon"}]}, "meterExchanges "),
    ],
)
def test_settings_that_cannot_be_used_are_refused_and_ignored_where_stored(
    config: dict[str, object], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        check_settings(config)
    assert settings_of(config, None) == settings_of(None, None)
