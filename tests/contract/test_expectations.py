"""`/insight/v1/devices/{id}/usual|forecast|month-end`, against the rules applied to the
readings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import pytest

from api.catalog import DAY_MS, HOUR_MS, INSIGHT_PREFIX
from api.client import Client, Credential
from api.errors import NotFound
from api.metering.forecast import forecast
from api.store.base import NewDevice, ReadingRow
from api.timez import parse_instant, stamp, zone
from tests import citus
from tests.insight.series import district
from tests.metering.test_comparison import recounted
from tests.store.fleet import everything, reading
from tests.tables import cases
from tests.world import ACME, FOREIGN, World, opened

NEW_YORK = zone("America/New_York")
START = parse_instant("2026-01-05T05:00:00Z")  # a Monday's midnight in New York
DAYS = 70
END = START + DAYS * DAY_MS  # 2026-03-16; clocks went forward on 8 March
SERIALS = ("W-1", "W-2", "W-3")


@pytest.fixture(scope="module", params=citus.FILE_OR_CLUSTER)
def world(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[World]:
    """W-1 uses the same every day, W-2 varies randomly, W-3 is new."""
    fields = {
        "deviceTimeZone": NEW_YORK.key,
        "reportingInterval": 3600.0,
        "costPerGallon": {"value": 0.01, "currency": "USD"},
    }
    with (
        citus.place(request.param, tmp_path_factory.mktemp("expectations")) as url,
        opened(url) as world,
    ):
        world.store.import_devices(ACME, [NewDevice(serial, fields) for serial in SERIALS])
        for serial, volumes in (
            ("W-1", [100.0 + n % 24 for n in range(DAYS * 24)]),
            ("W-2", district(DAYS)),
            ("W-3", [50.0] * 15 * 24),
        ):
            world.store.write(rows(world, serial, volumes))
        yield world


def rows(world: World, serial: str, volumes: list[float]) -> list[ReadingRow]:
    (device,) = world.store.resolve(everything(ACME), [serial])
    assert device is not None
    first = END - len(volumes) * HOUR_MS
    return [
        reading(device, first + n * HOUR_MS, flow_amount=value) for n, value in enumerate(volumes)
    ]


def ask(world: World, serial: str, what: str, **query: Any) -> Any:
    return world.client.get(
        f"{INSIGHT_PREFIX}/devices/{serial}/{what}?{urlencode(query)}",
        headers=dict(world.credentials["all"].headers),
    )


def got(world: World, serial: str, what: str, **query: Any) -> Any:
    answer = ask(world, serial, what, **query)
    assert answer.status_code == 200, answer.text
    return answer.json


def test_usual_equals_identical_earlier_days(world: World) -> None:
    """By local hours: weeks before the change of clocks pair with those after it."""
    first, last = END - 28 * DAY_MS, END - 21 * DAY_MS
    result = got(world, "W-1", "usual", **{"from": stamp(first), "to": stamp(last - 1)})
    assert result["timezone"] == NEW_YORK.key
    assert result["count"] == len(result["data"]) == 7 * 24
    for row in result["data"]:
        at = parse_instant(row["bucket_start"])
        volume = 100.0 + (at - START) // HOUR_MS % 24
        assert row["volume"] == pytest.approx(volume, rel=0.005)  # stored in 16 bits
        assert row["low"] <= row["volume"] <= row["high"]


def test_there_is_no_usual_before_three_weeks(world: World) -> None:
    span = {"from": stamp(END - 10 * DAY_MS), "to": stamp(END)}
    assert got(world, "W-3", "usual", **span)["data"] == []


def test_a_forecast_follows_the_rule_from_earlier_readings(world: World) -> None:
    as_of = END - 5 * DAY_MS + 17 * 60_000
    result = got(world, "W-2", "forecast", asOf=stamp(as_of))
    hours = {END - (DAYS * 24 - n) * HOUR_MS: v for n, v in enumerate(district(DAYS))}
    made = forecast(hours, as_of, NEW_YORK)
    assert [parse_instant(r["bucket_start"]) for r in result["data"]] == [
        r.bucket_start_ms for r in made
    ]
    assert [r["volume"] for r in result["data"]] == pytest.approx(
        [r.volume for r in made], rel=0.01
    )
    first = result["data"][0]
    assert first["low95"] <= first["low80"] <= first["volume"] <= first["high80"] <= first["high95"]
    assert len(got(world, "W-2", "forecast", asOf=stamp(as_of), hours=3)["data"]) == 3


def test_a_month_end_is_near_the_real_one(world: World) -> None:
    as_of = parse_instant("2026-02-15T05:00:00Z")  # midnight in New York
    result = got(world, "W-2", "month-end", asOf=stamp(as_of))
    at = {END - (DAYS * 24 - n) * HOUR_MS: v for n, v in enumerate(district(DAYS))}
    first, end = (parse_instant(f"2026-{month}-01T05:00:00Z") for month in ("02", "03"))
    so_far = sum(v for start, v in at.items() if first <= start < as_of)
    whole = sum(v for start, v in at.items() if first <= start < end)
    assert result["month"] == "2026-02"
    assert result["soFar"] == pytest.approx(so_far)
    assert result["expected"] == pytest.approx(whole, rel=0.02)
    assert result["cost"]["expected"] == pytest.approx(result["expected"] * 0.01)
    assert result["low80"] is None  # this organization has too few finished months for an interval


def test_a_month_end_of_a_new_meter_is_too_early(world: World) -> None:
    result = got(world, "W-3", "month-end", asOf=stamp(END - 8 * DAY_MS))
    assert result["expected"] is None
    assert result["cost"]["expected"] is None
    assert result["soFar"] == pytest.approx(50.0 * 7 * 24)


@cases(
    ("what", "query", "parameter"),
    [
        ("forecast", {"hours": 0}, "hours"),
        ("forecast", {"hours": 169}, "hours"),
        ("forecast", {"asOf": "soon"}, "asOf"),
        ("month-end", {"hours": 1}, "hours"),
        ("usual", {"to": stamp(END)}, "from"),
        ("usual", {"from": stamp(END), "to": stamp(START)}, "from"),
        ("usual", {"from": stamp(END - 401 * DAY_MS), "to": stamp(END)}, "from"),
    ],
)
def test_an_invalid_request_names_its_parameter(
    world: World, what: str, query: dict[str, Any], parameter: str
) -> None:
    answer = ask(world, "W-1", what, **query)
    assert answer.status_code == 400
    assert [error["parameter"] for error in answer.json["errors"]] == [parameter]


@pytest.mark.parametrize("what", ["usual", "forecast", "month-end"])
def test_a_device_of_another_organization_is_not_found(world: World, what: str) -> None:
    span = {"from": stamp(START), "to": stamp(START)} if what == "usual" else {}
    assert ask(world, FOREIGN, what, **span).status_code == 404


def test_the_client_reads_them(world: World) -> None:
    key = world.credentials["all"].headers["service-api-key"]
    client = Client.in_process(world.client.application, Credential.key(key))
    usual = client.usual("W-1", from_ms=END - 22 * DAY_MS, to_ms=END - 21 * DAY_MS)
    assert len(usual) == 25
    (first,) = client.forecast("W-2", hours=1, as_of_ms=END)
    assert first.bucket_start_ms == END
    month = client.month_end("W-2", as_of_ms=END)
    assert (month.month, month.currency) == ("2026-03", "USD")
    assert month.cost is not None
    with pytest.raises(NotFound):
        client.month_end("nobody")


# --- Comparison ----------------------------------------------------------------------------------

ZONES = ("America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "Pacific/Apia")
AROUND = {
    "America/New_York": ("2026-03-08T05:00:00Z", "2026-11-01T04:00:00Z"),
    "Australia/Lord_Howe": ("2026-04-04T13:00:00Z", "2026-10-03T13:30:00Z"),
    "Asia/Kathmandu": ("2026-04-04T18:15:00Z",),
    "Pacific/Apia": ("2011-12-29T10:00:00Z", "2021-04-03T10:00:00Z"),
}
TEN_MS = 600_000


@pytest.mark.parametrize("shift", ["day", "week"])
@pytest.mark.parametrize("name", ZONES)
def test_each_hour_is_compared_with_the_same_local_hour(
    world: World, name: str, shift: str
) -> None:
    """Each ten-minute reading has its own number as its volume, so sums show which were taken."""
    serial = f"C-{name}-{shift}"
    world.store.import_devices(ACME, [NewDevice(serial, {"deviceTimeZone": name})])
    (device,) = world.store.resolve(everything(ACME), [serial])
    assert device is not None
    tz = zone(name)
    for text in AROUND[name]:
        change = parse_instant(text) // HOUR_MS * HOUR_MS
        first, last = change - 9 * DAY_MS, change + 3 * DAY_MS
        volumes = {at: 1.0 + (at - first) // TEN_MS for at in range(first, last, TEN_MS)}
        world.store.write([reading(device, at, flow_amount=v) for at, v in volumes.items()])
        start, end = change - DAY_MS, change + 2 * DAY_MS
        result = got(
            world, serial, "comparison",
            **{"compare": shift, "from": stamp(start), "to": stamp(end - 1)},
        )  # fmt: skip
        paired: dict[int, float] = {}
        for at in range(start, end, TEN_MS):
            other = recounted(tz, "week" if shift == "week" else "day", at)
            if other is not None:
                hour = at // HOUR_MS * HOUR_MS
                paired[hour] = paired.get(hour, 0.0) + volumes[other]
        got_by_hour = {parse_instant(r["bucket_start"]): r["volume"] for r in result["data"]}
        whole = {hour: v for hour, v in paired.items() if start <= hour < end}
        assert got_by_hour == pytest.approx(whole), (name, text)
        assert result["otherVolume"] == pytest.approx(sum(paired.values()))
        assert result["volume"] == pytest.approx(
            sum(volumes[at] for at in range(start, end, TEN_MS))
        )


def test_days_and_another_device_are_compared_too(world: World) -> None:
    span = {"from": stamp(END - 14 * DAY_MS), "to": stamp(END - 1), "timezone": "UTC"}
    days = got(world, "W-2", "comparison", compare="week", resolution="day", **span)
    assert [row["other_start"] for row in days["data"]] == [
        stamp(parse_instant(row["bucket_start"]) - 7 * DAY_MS, fraction=True)
        for row in days["data"]
    ]
    other = got(world, "W-2", "comparison", compare="device:W-3", **span)
    assert {row["volume"] for row in other["data"]} == {50.0}
    assert other["difference"] == pytest.approx(other["volume"] - other["otherVolume"])


@cases(
    ("query", "status"),
    [
        ({"compare": "decade"}, 400),
        ({"compare": "device:"}, 400),
        ({"compare": f"device:{FOREIGN}"}, 404),
        ({"compare": "week", "resolution": "raw"}, 400),
        ({"compare": "week", "resolution": "1min"}, 400),
        ({"compare": "week", "metric": "height"}, 400),
    ],
)
def test_invalid_comparisons_are_refused(world: World, query: dict[str, Any], status: int) -> None:
    span = {"from": stamp(END - 40 * DAY_MS), "to": stamp(END)}
    assert ask(world, "W-1", "comparison", **span, **query).status_code == status


def test_a_side_without_enough_data_has_no_difference(world: World) -> None:
    span = {"from": stamp(END - 10 * DAY_MS), "to": stamp(END - 1)}
    result = got(world, "W-3", "comparison", compare="week", **span)
    assert result["otherCoverage"] < 0.9
    assert (result["difference"], result["percent"]) == (None, None)
