"""A summary's comparison with earlier days, its sums by group, bars and calendars."""

from __future__ import annotations

from datetime import date
from typing import Any
from zoneinfo import ZoneInfo

from api.client.expectations import ItemVolumes, Volumes
from api.errors import NotOffered
from api.metering.cost import Price
from api.timez import DAY_MS
from components import html_json
from components.concurrent_queries import ReplyCache, ServiceAccess
from components.directory_queries import Meter
from components.units import US
from components.usage.insight_queries import Earlier, earlier
from components.usage.sections import earlier_total, groups_section
from components.usage.sums import Day, DeviceUsage
from components.usage.table import table
from components.usage.url_state import Dates, UsageView, months_before
from tests.tables import cases

UTC = ZoneInfo("UTC")
FIRST = date(2026, 3, 29).toordinal()
FIRST_MS = (FIRST - date(1970, 1, 1).toordinal()) * DAY_MS


def usage(
    name: str,
    *gallons: float | None,
    groups: tuple[str, ...] = (),
    under_way: bool = False,
    hours: int = 24,
) -> DeviceUsage:
    """One day for each volume; with ``under_way`` the last of them is half over."""
    meter = Meter(
        id=name, label=name.title(), serial=name, time_zone="UTC", installed=True,
        installed_on_ms=None, cadence_ms=None, quality_limit=60, price=None, currency="USD",
        groups=groups, sought=name,
    )  # fmt: skip
    days = tuple(
        Day(
            FIRST + n,
            FIRST_MS + n * DAY_MS,
            FIRST_MS + (n + 1) * DAY_MS,
            DAY_MS // 2 if under_way and n == len(gallons) - 1 else DAY_MS,
            volume,
            1.0,
            hours,
            24,
        )
        for n, volume in enumerate(gallons)
    )
    return DeviceUsage(meter, UTC, days, Price(0.5, "USD", own=True))


@cases(
    ("first", "last", "months", "expected"),
    [
        ("2026-11-01", "2026-11-21", 1, ("2026-10-01", "2026-10-21")),
        ("2026-03-29", "2026-03-31", 1, ("2026-02-28", "2026-02-28")),
        ("2024-02-28", "2024-02-29", 12, ("2023-02-28", "2023-02-28")),
        ("2026-01-01", "2026-01-31", 1, ("2025-12-01", "2025-12-31")),
    ],
)
def test_the_same_days_of_an_earlier_month(
    first: str, last: str, months: int, expected: tuple[str, str]
) -> None:
    dates = Dates(*(date.fromisoformat(day).toordinal() for day in (first, last)))
    result = months_before(dates, months)
    assert tuple(date.fromordinal(day).isoformat() for day in result) == expected


class Server:
    """A service with this many gallons for each device, which records its requests."""

    principal, width = "p", 2

    def __init__(self, gallons: float = 40.0, coverage: float = 1.0, error: Any = None) -> None:
        self.gallons, self.coverage, self.error = gallons, coverage, error
        self.requests: list[tuple[Any, dict[str, Any]]] = []

    def volumes(self, items: Any, *_: Any, **span: Any) -> Volumes:
        self.requests.append((items, span))
        if self.error:
            raise self.error
        made = [
            ItemVolumes(each, each, each, "", 1, 0, {}, self.gallons, self.coverage, ())
            for each in items
        ]
        return Volumes("UTC", (), tuple(made))


def access(server: Server) -> ServiceAccess:
    return ServiceAccess(server, ReplyCache())  # pyright: ignore[reportArgumentType]


TWO = [usage("a", 30.0, 20.0, 5.0, under_way=True), usage("b", 10.0, 20.0, 5.0, under_way=True)]


def test_whole_days_are_compared_by_one_request_that_is_cached() -> None:
    server = Server()
    one = access(server)
    for _ in range(2):
        result = earlier(one, TWO, 1)
        assert result is not None
        assert (result.gallons, result.now) == (80.0, 80.0)  # today doesn't count
    ((items, span),) = server.requests
    assert sorted(items) == ["device:a", "device:b"]
    assert span["to_ms"] - span["from_ms"] == DAY_MS - 1  # 28 February only: that year has no 29th


@cases(
    ("usages", "server", "expected"),
    [
        (TWO, Server(coverage=0.8), (None, None)),
        ([usage("a", 1.0, hours=12)], Server(), (None, None)),
        ([usage("a", 1.0, under_way=True)], Server(), None),
        ([], Server(), None),
        (TWO, Server(error=NotOffered("no")), None),
    ],
)
def test_too_few_readings_give_no_comparison(
    usages: list[DeviceUsage], server: Server, expected: Any
) -> None:
    result = earlier(access(server), usages, 12)
    assert (None if result is None else (result.gallons, result.now)) == expected


def test_the_names_of_the_same_earlier_days() -> None:
    dates = Dates(*(date(2026, 10, day).toordinal() for day in (1, 21)))
    more = earlier_total(1, Earlier(dates, 100.0, 112.0), US)
    assert (more.value, more.note) == ("100 gal", "now +12% · 1–21 Oct 2026")
    assert earlier_total(12, Earlier(dates, 100.0, 88.0), US).note == "now −12% · 1–21 Oct 2026"
    unknown = earlier_total(1, Earlier(dates, None, None), US)
    assert (unknown.value, unknown.note) == ("–", "not enough data · 1–21 Oct 2026")


def test_sums_by_group_are_sorted_by_volume() -> None:
    usages = [usage("a", 30.0, groups=("North", "Cooling")), usage("b", 10.0, groups=("South",))]
    text = str(html_json.as_nodes(groups_section(usages, US)))
    assert text.index("North") < text.index("South")
    for words in ("30 gal", "75.0%", "$15.00", "A device counts in each of its groups."):
        assert words in text
    assert groups_section(usages[1:], US) == []


def test_bars_are_shares_of_the_largest_and_an_opened_device_has_a_calendar() -> None:
    usages = [usage("a", 30.0, None, 10.0), usage("b", 10.0)]
    text = str(html_json.as_nodes(table(usages, UsageView(opened="a"))))
    assert text.count("volume-bar") == 2
    assert "width:100.0%" in text
    assert "width:25.0%" in text
    assert text.count("'blank'") == 6  # 29 March 2026 is a Sunday
    assert "Mon 30 Mar 2026: no data" in text
    assert "the most on 29 Mar 2026: 30 gal" in text
