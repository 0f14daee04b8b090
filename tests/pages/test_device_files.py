"""The files of a device: rows over the wire, their names, and what refuses them."""

from __future__ import annotations

import csv
import io

import httpx
import pytest

from api.catalog import RESOLUTION_BY_NAME
from api.timez import DAY_MS, HOUR_MS, stamp
from tests.dashboards import (
    CLOCKS,
    SPRING,
    Site,
)


def file(site: Site, serial: str, **query: str) -> tuple[str, dict[str, str]]:
    start = {"from": stamp(SPRING), "to": stamp(SPRING + HOUR_MS - 1000)}
    return f"/download/devices/{site.fleet.ids[serial]}/rows.csv", {**start, **query}


def test_a_file_over_the_wire(web: httpx.Client, site: Site) -> None:
    path, query = file(site, CLOCKS, zone="Asia/Kolkata", resolution="10min", units="metric")
    answer = web.get(path, params=query)
    assert answer.status_code == 200
    assert answer.headers["Content-Type"].startswith("text/csv")
    assert answer.headers["Cache-Control"] == "private, no-store"
    assert answer.headers["Content-Disposition"] == (
        'attachment; filename="weir_FM-CLOCKS_2026-03-08T050000Z_2026-03-08T055959Z_10min.csv"'
    )
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert [row["time_local (Asia/Kolkata)"][:16] for row in rows] == [
        f"2026-03-08T{hm}" for hm in ("10:30", "10:40", "10:50", "11:00", "11:10", "11:20")
    ]


def test_raw_rows_are_all_of_them(web: httpx.Client, site: Site) -> None:
    path, _ = file(site, CLOCKS)
    query = {"from": stamp(SPRING - DAY_MS), "to": stamp(SPRING + 2 * DAY_MS - 1000)}
    rows = web.get(path, params=query).text.splitlines()
    assert len(rows) == 1 + 3 * DAY_MS // 20_000  # more than one page


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ({"from": "yesterday"}, 400),
        ({"to": ""}, 400),
        ({"resolution": "total"}, 400),
        ({"resolution": "2min"}, 400),
    ],
)
def test_what_can_not_be_understood(
    web: httpx.Client, site: Site, query: dict[str, str], status: int
) -> None:
    path, usual = file(site, CLOCKS)
    assert web.get(path, params={**usual, **query}).status_code == status


def test_a_file_of_nobody_s_device(web: httpx.Client, site: Site) -> None:
    _, query = file(site, CLOCKS)
    answer = web.get("/download/devices/..%2F..%2Fetc/rows.csv", params=query)
    assert answer.status_code == 404


def test_a_file_while_the_service_is_down(web: httpx.Client, site: Site) -> None:
    path, query = file(site, CLOCKS)
    site.broken.set()
    try:
        answer = web.get(path, params=query)
    finally:
        site.broken.clear()
    assert answer.status_code == 500
    assert "The store is on fire." in answer.text
    assert "Content-Disposition" not in answer.headers


def test_every_resolution_that_a_chart_shows_can_be_had(web: httpx.Client, site: Site) -> None:
    path, query = file(site, CLOCKS)
    for name in RESOLUTION_BY_NAME.keys() - {"total"}:
        assert web.get(path, params={**query, "resolution": name}).status_code == 200, name
