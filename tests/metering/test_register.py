"""Registers to volumes: never negative, never invented, and the sum is what the register rose."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from api.ingest.batch import blank
from api.ingest.foreign.registers import RegisterChain, Registered
from api.metering.register import looks_like_register, volumes
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
