"""Gaps: where rows of a device are missing. Pure.

Two rows run on where no row is missing between them; elsewhere is a gap.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from api.catalog import Resolution
from api.metering.cadence import UNKNOWN, Cadence, estimated
from api.metering.windows import Window

RAW_PATIENCE: Final = 3  # reports that may be late before their absence is a gap
BUCKET_PATIENCE: Final = 1.5


def patience_ms(starts: Sequence[int], resolution: Resolution, cadence: Cadence | None) -> float:
    """The step between two rows' starts beyond which something is missing between them; 0 for days
    and months, which are all due. ``cadence`` None: estimated from the rows.

    A bucket is due each bucket length, unless the device reports less often than that.
    """
    if resolution.calendar:
        return 0
    expected_ms = (cadence or estimated(starts) or UNKNOWN).expected_ms
    length = resolution.length_ms or 0
    return BUCKET_PATIENCE * length if expected_ms <= length else RAW_PATIENCE * expected_ms


def breaks(starts: Sequence[int], ends: Sequence[int], patience: float) -> list[bool]:
    """Between each row and the next, whether something is missing."""
    return [
        after - starts[i] > patience if patience else after > ends[i]
        for i, after in enumerate(starts[1:])
    ]


def gaps(
    starts: Sequence[int],
    ends: Sequence[int],
    broken: Sequence[bool],
    window: Window,
    patience: float,
) -> list[Window]:
    """Spans [from, to) without a row: between rows, before the first and after the last."""
    if not starts:
        return [window] if window.to_ms > window.from_ms else []
    result = [Window(ends[i], starts[i + 1]) for i, apart in enumerate(broken) if apart]
    if starts[0] - window.from_ms > patience:
        result.insert(0, Window(window.from_ms, starts[0]))
    if window.to_ms - starts[-1] > patience and window.to_ms > ends[-1]:
        result.append(Window(ends[-1], window.to_ms))
    return result
