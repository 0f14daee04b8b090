"""Deep pages and counts of a device's whole history, compared with plain OFFSET and plain
counting."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import orjson

from api.catalog import DAY_MS, RAW, STORED
from api.domain.datapoints import DatapointsRequest, count_datapoints, datapoints
from api.store.base import Device, Span, Store
from benchmarks import goals, plain
from benchmarks.clock import Race, Run, Runner
from benchmarks.ground import Ground, Wrong
from benchmarks.stopwatch import timed

_DEEP = 1_000_000
_PAGE = 100  # small, so that the offset is measured and not the page


class Page(NamedTuple):
    device: Device
    span: Span
    offset: int


def races(ground: Ground, rounds: int) -> Iterator[Race]:
    sqlite = ground.dialect == "sqlite"
    pages = _pages(ground, rounds)
    yield Race(
        f"a page at offset {pages[0].offset:,}",
        pages,
        ground.fetching(lambda p: [plain.rows(RAW, p.device.key, p.span, _PAGE, p.offset)]),
        (Runner("ours", _page(ground.reader()), (goals.OFFSET,) if sqlite else ()),),
    )
    yield Race(
        f"count=true of {_size(ground, pages[0]):,} raw rows",
        pages,
        ground.fetching(lambda p: [plain.count(RAW, p.device.key, p.span)]),
        (Runner("ours", _count(ground.reader()), (goals.COUNT,) if sqlite else ()),),
    )


def _pages(ground: Ground, rounds: int) -> list[Page]:
    """Returns pages of the busiest device, from a random instant in its first hours on."""
    device = min(ground.devices, key=lambda d: d.reporting_interval_s or 0)
    start, end = ground.bounds
    size = ground.store.count(device, RAW, Span(start + DAY_MS // 2, end))
    offset, chance = min(_DEEP, size * 9 // 10), ground.chance("paging")
    starts = (start + chance.randrange(DAY_MS // 2) for _ in range(rounds))
    return [Page(device, Span(s, end), offset) for s in starts]


def _size(ground: Ground, page: Page) -> int:
    return ground.store.count(page.device, RAW, page.span)


def _page(store: Store) -> Run:
    def answer(page: Page) -> bytes:
        request = DatapointsRequest(RAW, page.span, limit=_PAGE, offset=page.offset)
        return orjson.dumps(datapoints(store, page.device, request))

    return timed(answer)


def _count(store: Store) -> Run:
    return timed(lambda p: count_datapoints(store, p.device, DatapointsRequest(RAW, p.span)))


def check(ground: Ground) -> None:
    """Checks that pages equal plain OFFSET's, and every count by counters equals count(*)."""
    for page in _pages(ground, 3):
        for offset in (0, 1, page.offset, page.offset * 2):
            ours = ground.store.rows(page.device, RAW, page.span, limit=_PAGE, offset=offset)
            statement = plain.rows(RAW, page.device.key, page.span, _PAGE, offset)
            if ours != ground.other.rows(statement):
                raise Wrong(f"the page of {page.device.serial_number} at offset {offset}")
    for device, span in ground.windows("check counts", 3 * DAY_MS, 10):
        for resolution in (RAW, *STORED):
            counted = ground.other.rows(plain.count(resolution, device.key, span))[0][0]
            if ground.store.count(device, resolution, span) != counted:
                raise Wrong(f"{resolution.name} rows of {device.serial_number}: not {counted}")
