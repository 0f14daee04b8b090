"""Reading rows in pages, each from where the last one ended, however many there are."""

from __future__ import annotations

from collections.abc import Iterator

from api.catalog import Resolution
from api.client import Client, Series
from components.ranges import Window


def pages(
    client: Client,
    device_id: str,
    resolution: Resolution,
    window: Window,
    *,
    limit: int,
    timezone: str | None = None,
) -> Iterator[Series]:
    """Every row of the window once, in order, ``limit`` at a time. Continued by instant, not by
    number: rows that arrive late for what was read already don't shift the rest."""
    start, seen = window.from_ms, 0  # so many rows of that very instant were read
    while True:
        page = client.datapoints(
            device_id,
            resolution,
            from_ms=start,
            to_ms=window.to_ms,
            timezone=timezone,
            limit=limit,
            offset=seen,
        )
        if len(page):
            yield page
        if len(page) < limit:
            return
        last = page.times_ms[-1]
        ties = sum(1 for at in page.times_ms if at == last)
        start, seen = last, ties + (seen if last == start else 0)
