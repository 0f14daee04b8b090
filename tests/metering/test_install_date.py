"""Which installation dates are used."""

from __future__ import annotations

from api.catalog import EARLIEST_READING_MS
from api.metering.install_date import disproving, install_date
from api.timez import DAY_MS, HOUR_MS
from tests.tables import cases
from tests.world import ms

AT = ms("2026-11-20T10:40:00Z")
HOUR = ms("2026-11-20T10:00:00Z")


def test_a_date_before_all_readings_is_used() -> None:
    assert disproving(None) is None
    assert disproving(EARLIEST_READING_MS + HOUR_MS - 1) is None
    assert disproving(EARLIEST_READING_MS + HOUR_MS) == (
        EARLIEST_READING_MS,
        EARLIEST_READING_MS + HOUR_MS - 1,
    )


@cases(
    ("first_ms", "holds"),
    [(None, True), (AT + DAY_MS, True), (HOUR, True), (HOUR - 1, False), (AT - DAY_MS, False)],
)
def test_a_date_after_the_first_reading_is_ignored(first_ms: int | None, holds: bool) -> None:
    assert install_date(AT, first_ms) == (AT if holds else None)
    assert install_date(None, first_ms) is None
