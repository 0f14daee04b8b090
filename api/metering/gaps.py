"""Gaps: where rows of a device are missing.

Two rows are connected if no row is missing between them; otherwise there is a gap.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from api.catalog import Resolution
from api.metering.cadence import UNKNOWN, Cadence, estimated
from api.metering.windows import Window

RAW_PATIENCE: Final = 3  # reports that may be late before their absence counts as a gap
BUCKET_PATIENCE: Final = 1.5


def patience_ms(starts: Sequence[int], resolution: Resolution, cadence: Cadence | None) -> float:
    """Returns the step between two row starts, in ms, above which a row is missing between them.

    It is 0 for days and months, which are all due. A bucket is due every bucket length, or every
    cadence where the device reports less often. A ``cadence`` of None is estimated from the rows.
    """
    if resolution.calendar:
        return 0
    expected_ms = (cadence or estimated(starts) or UNKNOWN).expected_ms
    length = resolution.length_ms or 0
    return BUCKET_PATIENCE * length if expected_ms <= length else RAW_PATIENCE * expected_ms


def breaks(starts: Sequence[int], ends: Sequence[int], patience: float) -> list[bool]:
    """Returns, for each pair of neighbouring rows, whether a row is missing between them."""
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
    """Returns the spans [from, to) without a row: between rows, before the first and after the
    last."""
    if not starts:
        return [window] if window.to_ms > window.from_ms else []
    result = [Window(ends[i], starts[i + 1]) for i, apart in enumerate(broken) if apart]
    if starts[0] - window.from_ms > patience:
        result.insert(0, Window(window.from_ms, starts[0]))
    if window.to_ms - starts[-1] > patience and window.to_ms > ends[-1]:
        result.append(Window(ends[-1], window.to_ms))
    return result
