"""From registers to volumes: never negative or invented, and their sum is the register's rise."""

from __future__ import annotations

import numpy as np
import pytest

from api.metering.register import (
    Booked,
    Register,
    booked,
    check_settings,
    looks_like_register,
    settings_of,
    steps,
)
from tests.tables import cases


def numbers(*values: float) -> np.ndarray:
    return np.array(values, np.float64)


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
def test_values_that_look_like_a_register(values: list[float], expected: bool) -> None:
    assert looks_like_register(numbers(*values)) is expected


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
        (
            {"meterExchanges": [{"at": "2026-03-08T00:00:00Z", "last": -1}]},
            "meterExchanges must have registers from 0",
        ),
    ],
)
def test_invalid_settings_are_refused_and_ignored_if_stored(
    config: dict[str, object], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        check_settings(config)
    assert settings_of(config, None) == settings_of(None, None)
