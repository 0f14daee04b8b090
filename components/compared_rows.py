"""What the rows of a table or a file are compared with, bucket by bucket."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from zoneinfo import ZoneInfo

from api.catalog import COARSEST_STORED, DAY, STORED, Resolution
from api.client import Client
from api.timez import DAY_MS
from components.ranges import Window, widened
from components.url_state import USUAL

MOST_AT_ONCE: Final = 5_000  # buckets of one request
MOST_USUAL_MS: Final = 300 * DAY_MS


def comparable(resolution: Resolution, compare: str) -> bool:
    """Whether rows of that length have counterparts: readings and months have none, and what is
    usual is known by the hour."""
    if compare == USUAL:
        return resolution is COARSEST_STORED
    return resolution in (*STORED, DAY)


def compared_rows(
    client: Client,
    device_id: str,
    compare: str,
    resolution: Resolution,
    starts_ms: Sequence[int],
    tz: ZoneInfo,
) -> dict[int, float]:
    """Start of a row → the gallons that it is compared with. ``starts_ms`` ascend. Raises what the
    client raises."""
    if not compare or not starts_ms or not comparable(resolution, compare):
        return {}
    found: dict[int, float] = {}
    step = MOST_USUAL_MS if compare == USUAL else MOST_AT_ONCE * (resolution.length_ms or DAY_MS)
    for first in range(starts_ms[0], starts_ms[-1] + 1, step):
        last = min(first + step - 1, starts_ms[-1])
        if compare == USUAL:
            hours = client.usual(device_id, from_ms=first, to_ms=last)
            found |= {hour.bucket_start_ms: hour.volume for hour in hours}
        else:
            whole = widened(Window(first, last), tz, resolution).to_ms  # of a day to its end
            rows = client.comparison(
                device_id, compare, resolution, from_ms=first, to_ms=whole, timezone=tz.key
            ).buckets
            found |= {r.bucket_start_ms: r.gallons for r in rows if r.gallons is not None}
    return found
