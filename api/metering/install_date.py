"""When a device was installed.

A device without an installation date gets the day on which it was created. For imported meters that
may be years after their first reading. A reading from before the hour of installation disproves the
date: then readings were due from the first one on.
"""

from __future__ import annotations

from api.catalog import EARLIEST_READING_MS
from api.metering.windows import Window
from api.timez import HOUR_MS, floor_to


def disproving(installed_on_ms: int | None) -> Window | None:
    """Returns the time in which a reading disproves the date, or None where the date can't be
    disproved. The bound is floored to the hour, so that devices created together share one
    request."""
    if installed_on_ms is None:
        return None
    edge = floor_to(installed_on_ms, HOUR_MS)
    return Window(EARLIEST_READING_MS, edge - 1) if edge > EARLIEST_READING_MS else None


def install_date(installed_on_ms: int | None, first_reading_ms: int | None) -> int | None:
    """Returns the date, or None if the device's first reading disproves it."""
    window = disproving(installed_on_ms)
    if window is None or first_reading_ms is None or first_reading_ms > window.to_ms:
        return installed_on_ms
    return None
