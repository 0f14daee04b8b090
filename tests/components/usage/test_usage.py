"""A usage summary's days, volumes and costs, against plain sums of the readings."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import date
from typing import Any
from uuid import uuid4

import pytest
from openpyxl import load_workbook

from api.client import Client
from api.errors import Internal
from api.metering.cost import Price
from api.store.base import NewDevice
from api.timez import HOUR_MS, MINUTE_MS, day_start, zone
from components.concurrent_queries import Deadline, ReplyCache, ServiceAccess
from components.units import US
from components.usage.queries import Summary, gather, pick
from components.usage.sums import ordered, totals
from components.usage.table import SORTED_BY, amounts, sums
from components.usage.url_state import SORTS, UsageView, read_usage_view
from tests.fleets import measured
from tests.world import ms
from web.downloads import routes, xlsx
from web.downloads import usage as downloads_usage

NEW_YORK, TOKYO = zone("America/New_York"), zone("Asia/Tokyo")
NOW = ms("2026-11-03T18:00Z")
STEP_MS = 10 * MINUTE_MS
AUTUMN = "2026-10-31..2026-11-03"  # New York's 1 November has 25 hours
HOLE = (ms("2026-11-02T12:00Z"), ms("2026-11-02T15:00Z"))


def readings(start: str, end: str) -> list[tuple[int, float]]:
    """(instant, gallons), every ten minutes except for a gap."""
    times = range(ms(start), ms(end), STEP_MS)
    return [(at, at // STEP_MS % 7 / 2) for at in times if not HOLE[0] <= at < HOLE[1]]


READINGS = {
    "U-NY": readings("2026-10-30T00:00Z", "2026-11-03T18:00Z"),
    "U-TOKYO": readings("2026-10-31T00:00Z", "2026-11-02T00:00Z"),
    "U-NEW": readings("2026-11-02T16:00Z", "2026-11-03T18:00Z"),
    "=U-NEVER": [],
}
DEVICES = [
    NewDevice(
        "U-NY",
        {
            "label": "Nora",
            "deviceTimeZone": "America/New_York",
            "reportingInterval": 600.0,
            "costPerGallon": {"value": 0.02, "currency": "USD"},
            "config": {"groups": ["East"]},
        },
    ),
    NewDevice(
        "U-TOKYO",
        {"label": "Toshi", "deviceTimeZone": "Asia/Tokyo", "reportingInterval": 600.0},
    ),
    NewDevice(
        "U-NEW",
        {
            "label": "Newt",
            "deviceTimeZone": "America/New_York",
            "reportingInterval": 600.0,
            "installedOn": "2026-11-02T16:00:00Z",
            "costPerGallon": {"value": 1.5, "currency": "EUR"},
        },
    ),
    NewDevice("=U-NEVER", {"label": "Never", "deviceTimeZone": "UTC"}),
]


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with measured(tmp_path_factory.mktemp("usage"), "Usage", DEVICES, READINGS) as opened:
        yield opened


@pytest.fixture
def access(client: Client) -> ServiceAccess:
    return ServiceAccess(client, ReplyCache())


def summary(access: ServiceAccess, **text: str) -> Summary:
    view = read_usage_view({"range": AUTUMN, **text})
    picked = pick(access, view, NOW)
    return gather(access, picked.meters, view, picked.price, Deadline(60), NOW)


def recomputed(serial: str, tz: Any, ordinal: int) -> list[float]:
    """The gallons of the readings of that local day."""
    start, end = day_start(tz, ordinal), day_start(tz, ordinal + 1)
    return [gallons for at, gallons in READINGS[serial] if start <= at < end]


# --- The sums ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["", "Asia/Kolkata", "America/New_York"])
def test_days_are_local_and_add_up(access: ServiceAccess, name: str) -> None:
    result = summary(access, zone=name)
    assert result.progress.complete
    assert {usage.meter.serial for usage in result.usages} == set(READINGS)
    for usage in result.usages:
        tz = zone(name or usage.meter.time_zone)
        assert usage.tz is tz
        for day in usage.days:
            values = recomputed(usage.meter.serial, tz, day.ordinal)
            assert day.gallons == (pytest.approx(sum(values)) if values else None)
            assert day.most_flow == (pytest.approx(max(values) / 10) if values else None)
        every = [g for d in usage.days for g in recomputed(usage.meter.serial, tz, d.ordinal)]
        assert usage.gallons == (pytest.approx(sum(every)) if every else None)


def by_serial(result: Summary) -> Mapping[str, Any]:
    return {usage.meter.serial: usage for usage in result.usages}


def test_the_day_of_25_hours_and_today(access: ServiceAccess) -> None:
    days = by_serial(summary(access))["U-NY"].days
    assert [date.fromordinal(day.ordinal).day for day in days] == [31, 1, 2, 3]
    assert [(d.end_ms - d.start_ms) // HOUR_MS for d in days] == [24, 25, 24, 24]
    assert [d.elapsed_ms // HOUR_MS for d in days] == [24, 25, 24, 13]
    assert [(d.observed, d.expected) for d in days] == [
        (144, 144),
        (150, 150),
        (144 - 18, 144),
        (78, 78),
    ]
    gallons = sum(recomputed("U-NY", NEW_YORK, days[1].ordinal))
    assert days[1].mean_flow == pytest.approx(gallons / (25 * 60))


def test_no_reading_is_expected_before_the_installation(access: ServiceAccess) -> None:
    days = by_serial(summary(access))["U-NEW"].days
    assert [day.expected for day in days] == [0, 0, 13 * 6, 13 * 6]
    assert by_serial(summary(access))["U-NEW"].uptime == 1.0


def test_a_cost_needs_a_price_and_keeps_its_currency(access: ServiceAccess) -> None:
    result = by_serial(summary(access))
    nora = result["U-NY"]
    assert nora.cost() == pytest.approx(nora.gallons * 0.02)
    assert nora.cost(nora.with_data[0]) == pytest.approx(nora.with_data[0].gallons * 0.02)
    assert result["U-TOKYO"].cost() is None
    by_tariff = replace(nora, price=Price(0.5, "USD", False, "City"), charges={1: 4.0, 2: 3.0})
    assert (by_tariff.cost(), by_tariff.cost(nora.with_data[0])) == (7.0, None)
    assert result["U-NEW"].price.currency == "EUR"
    all = totals(list(result.values()))
    assert all.costs == pytest.approx(
        {"USD": result["U-NY"].gallons * 0.02, "EUR": result["U-NEW"].gallons * 1.5}
    )
    assert (all.devices, all.with_data, all.priced) == (4, 3, 2)
    assert all.gallons == pytest.approx(
        sum(result[s].gallons for s in ("U-NY", "U-TOKYO", "U-NEW"))
    )


# --- Requests ------------------------------------------------------------------------------------


def test_a_summary_is_built_in_steps(access: ServiceAccess) -> None:
    view = read_usage_view({"range": AUTUMN})
    meters = pick(access, view, NOW).meters
    begun = gather(access, meters, view, None, Deadline(0), NOW)
    assert (begun.usages, begun.progress.complete) == ((), False)
    whole = gather(access, meters, view, None, Deadline(60), NOW)
    assert whole.progress.complete
    again = gather(access, meters, view, None, Deadline(0), NOW + 1_000)
    assert again.usages == whole.usages  # complete devices aren't requested again


def test_a_summary_of_no_device_is_complete(access: ServiceAccess) -> None:
    view = read_usage_view({"range": AUTUMN})
    nobody = gather(access, [], view, None, Deadline(0), NOW)
    assert (nobody.usages, nobody.progress.complete) == ((), True)


def test_a_summary_sends_one_request_a_device_and_one_a_day(
    access: ServiceAccess, monkeypatch: pytest.MonkeyPatch
) -> None:
    query: list[str] = []
    for name in ("datapoints", "latest"):
        plain = getattr(Client, name)

        def counted(self: Client, *a: Any, plain: Any = plain, name: str = name, **k: Any) -> Any:
            query.append(name)
            return plain(self, *a, **k)

        monkeypatch.setattr(Client, name, counted)
    summary(access, zone="UTC", devices=",".join(ids(access, "U-NY", "U-TOKYO")))
    # One of them checks whether readings are older than an installation date in the range.
    assert (query.count("datapoints"), query.count("latest")) == (2, 5)


def ids(access: ServiceAccess, *serials: str) -> list[str]:
    fields = {d.serial_number: d.id for d in access.client.devices().devices}
    return [fields[serial] for serial in serials]


def failing(monkeypatch: pytest.MonkeyPatch, *ids: str) -> None:
    plain = Client.datapoints

    def datapoints(self: Client, identifier: str, *a: Any, **k: Any) -> Any:
        if identifier in ids:
            raise Internal("The store is on fire.")
        return plain(self, identifier, *a, **k)

    monkeypatch.setattr(Client, "datapoints", datapoints)


def test_a_failing_device_does_not_fail_the_others(
    access: ServiceAccess, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing(monkeypatch, *ids(access, "U-TOKYO"))
    result = by_serial(summary(access))
    assert {s: bool(usage.failure) for s, usage in result.items()} == {
        serial: serial == "U-TOKYO" for serial in READINGS
    }
    assert result["U-NY"].uptime is not None


def test_a_failing_service_gives_no_summary(
    access: ServiceAccess, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        failing(patch, *ids(access, *READINGS))
        with pytest.raises(Internal):
            summary(access)
    assert summary(access).progress.complete  # and isn't cached


def test_too_many_devices_get_a_message_and_no_request(
    access: ServiceAccess, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("components.usage.queries.MOST_DEVICES", 3)
    picked = pick(access, UsageView(), NOW)
    assert picked.meters == ()
    assert picked.words.startswith("4 devices match, and a summary covers at most 3.")
    with pytest.raises(ValueError, match="4 devices match"):
        downloads_usage.days_file(access, {"range": AUTUMN})


@pytest.mark.parametrize(
    ("fields", "labels"),
    [
        ({"q": "to"}, ["Toshi"]),
        ({"group": "East"}, ["Nora"]),
        ({"q": "u-n"}, ["Nora", "Newt", "Never"]),
        ({"q": "nobody"}, []),
    ],
)
def test_devices_by_search_and_group(
    access: ServiceAccess, fields: dict[str, str], labels: list[str]
) -> None:
    picked = pick(access, read_usage_view(fields), NOW)
    assert sorted(meter.label for meter in picked.meters) == sorted(labels)
    assert bool(picked.words) == (not labels)


def test_a_device_outside_the_scope_is_not_chosen(access: ServiceAccess) -> None:
    assert pick(access, UsageView(devices=(str(uuid4()),)), NOW).meters == ()


# --- Files ---------------------------------------------------------------------------------------


@pytest.fixture
def at_now(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(downloads_usage, "now_ms", lambda: NOW)


def records(table: Any) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO("".join(routes.csv_lines(table)))))


@pytest.mark.usefixtures("at_now")
def test_the_days_file_is_the_summary(access: ServiceAccess) -> None:
    rows = records(
        downloads_usage.days_file(access, {"range": AUTUMN, "units": "metric", "sort": "label"})
    )
    assert {row["serial_number"] for row in rows} == {"U-NY", "U-TOKYO", "U-NEW", "'=U-NEVER"}
    nora = [row for row in rows if row["label"] == "Nora"]
    assert [row["day"] for row in nora] == ["2026-10-31", "2026-11-01", "2026-11-02", "2026-11-03"]
    assert [row["hours_of_day"] for row in nora] == ["24.0", "25.0", "24.0", "24.0"]
    assert nora[1]["day_begins_utc"] == "2026-11-01T04:00:00Z"
    gallons = sum(recomputed("U-NY", NEW_YORK, date(2026, 11, 1).toordinal()))
    assert float(nora[1]["volume (m3)"]) == pytest.approx(gallons * 0.003785411784)
    assert float(nora[1]["cost"]) == pytest.approx(gallons * 0.02, abs=1e-4)
    assert nora[1]["currency"] == "USD"
    never = next(row for row in rows if row["label"] == "Never")
    assert (never["volume (m3)"], never["cost"], never["currency"]) == ("", "", "")


@pytest.mark.usefixtures("at_now")
def test_the_devices_file_is_the_sum_of_the_days_file(access: ServiceAccess) -> None:
    days = records(downloads_usage.days_file(access, {"range": AUTUMN}))
    table = downloads_usage.devices_file(access, {"range": AUTUMN})
    assert table.name == "weir_usage_2026-10-31_2026-11-03_by-device"
    for row in records(table):
        own = [d for d in days if d["serial_number"] == row["serial_number"]]
        volumes = [float(d["volume (gal)"]) for d in own if d["volume (gal)"]]
        assert float(row["volume (gal)"] or 0) == pytest.approx(sum(volumes))
        assert (int(row["days"]), int(row["days_with_data"])) == (len(own), len(volumes))


@pytest.mark.usefixtures("at_now")
def test_a_file_that_takes_too_long_is_a_server_error(
    access: ServiceAccess, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(downloads_usage, "FILE_PATIENCE_S", 0.0)
    answer = routes.sent(
        lambda: downloads_usage.days_file(access, {"range": AUTUMN}), "csv", gzip=False
    )
    assert answer.status_code == 503
    assert "choose a shorter range" in answer.get_data(as_text=True)


@pytest.mark.usefixtures("at_now")
def test_the_workbook_equals_the_csv(access: ServiceAccess) -> None:
    fields = {"range": AUTUMN}
    rows = records(downloads_usage.days_file(access, fields))
    book = load_workbook(
        io.BytesIO(b"".join(xlsx.chunks(downloads_usage.days_file(access, fields))))
    )
    header, *cells = book.worksheets[0].iter_rows(values_only=True)
    assert list(rows[0]) == list(header)
    for row, cell in zip(rows, cells, strict=True):
        named = dict(zip(header, cell, strict=True))
        assert named["day"].date().isoformat() == row["day"]
        assert named["serial_number"] == row["serial_number"].removeprefix("'")
        volume = row["volume (gal)"]
        assert named["volume (gal)"] == (pytest.approx(float(volume)) if volume else None)


# --- The table -----------------------------------------------------------------------------------


def column(usages: Any, at: int) -> list[str]:
    return [cells[at] for cells in amounts([(each, each) for each in usages], US)]


def test_each_column_has_one_count_of_decimals(access: ServiceAccess) -> None:
    usages = summary(access).usages
    for at in (0, 2, 3):
        values = [text.split()[0] for text in column(usages, at) if text != "–"]
        assert len({len(text.partition(".")[2]) for text in values}) == 1, values


@pytest.mark.parametrize("head", SORTED_BY)
def test_every_head_sorts(access: ServiceAccess, head: str) -> None:
    usages = summary(access).usages
    sort = SORTED_BY[head]
    assert sort in SORTS
    result = ordered(usages, sort)
    assert sorted(u.meter.id for u in result) == sorted(u.meter.id for u in usages)
    values = {
        "volume": [-(u.gallons or -1) for u in result],
        "mean-flow": [-(u.mean_flow or -1) for u in result],
        "max-flow": [-(u.most_flow or -1) for u in result],
        "days": [len(u.with_data) for u in result],
    }.get(sort, [])
    assert values == sorted(values)


def test_a_partial_sum_is_not_written_as_the_total(
    access: ServiceAccess,
) -> None:
    usages = summary(access).usages
    whole = sums(totals(usages, len(usages)), US)[0]
    part = sums(totals(usages, len(usages) + 1), US)[0]
    assert whole.value != "–"
    values = sum(u.gallons is not None for u in usages)
    assert (part.value, part.note) == (
        "–",
        f"{whole.value} in {values} of {len(usages) + 1} devices",
    )
