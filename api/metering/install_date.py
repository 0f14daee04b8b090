"""When a device was installed.

A device that was made without an installation date has the day it was made, which for imported
meters may lie years after their readings. A reading from before the hour of an installation
disproves it: then readings were due all along.
"""

from __future__ import annotations

from api.catalog import EARLIEST_READING_MS
from api.metering.windows import Window
from api.timez import HOUR_MS, floor_to


def disproving(installed_on_ms: int | None) -> Window | None:
    """The time before which a reading disproves the date; None for one that can't be disproved. By
    the hour, so that devices created together share one request."""
    if installed_on_ms is None:
        return None
    edge = floor_to(installed_on_ms, HOUR_MS)
    return Window(EARLIEST_READING_MS, edge - 1) if edge > EARLIEST_READING_MS else None


def install_date(installed_on_ms: int | None, first_reading_ms: int | None) -> int | None:
    """The date, if the device's first reading doesn't disprove it."""
    window = disproving(installed_on_ms)
    if window is None or first_reading_ms is None or first_reading_ms > window.to_ms:
        return installed_on_ms
    return None
