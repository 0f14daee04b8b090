"""Every page works on a remote server, in normal operation and in any failure."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest

from api.auth import key_digest
from api.catalog import DAY_MS, FLOW_RATE, HOUR_MS
from api.client import Client, transport
from api.client.transport import ATTEMPTS, MAX_CONNECTIONS
from api.store.base import Grant, Key
from api.timez import now_ms, stamp
from benchmarks.site.renderer import DEPENDENCIES, dependencies
from tests.dashboards import ORGANIZATION, ORGANIZATION_NAME, Fleet
from tests.fleets import CADENCE_S, COUNT, MARKUP, TROUBLED, serial
from tests.remote.conftest import Near, Site, dashboard
from tests.remote.station import FINE, Station, Weather
from tests.servers import free_port
from tests.web.auth import wire

STEADY = serial(30)
KNOWN_FOR_S = 3
OUT_WITHIN_S = 10
MANY = 32
SLOW = Weather(delay_s=0.25)
PAGE = b"<html><body>Please sign in to the guest network</body></html>"
PORTAL = Weather(answers=None, body=PAGE, headers=(("Content-Type", "text/html"),))
DOWN = "The service can't be reached."


def wall(site: Site, **fields: Any) -> dict[str, Any]:
    answer = wire.wall(site, {"window": "24h", "sort": "serial", **fields})
    assert answer.status_code == 200, answer.text
    return answer.json()["response"]["fleet-board"]["data"]


def whole_wall(site: Site) -> dict[str, Any]:
    """As the browser does: repeated until nothing is missing."""
    for number in range(60):
        board = wall(site, request_id=number)
        if "error" in board or board["again_ms"] > 1_000:
            return board
    raise AssertionError("never complete")


def chart(site: Site, fleet: Fleet, length_ms: int = 6 * HOUR_MS) -> dict[str, Any]:
    """The reply of the chart's callback alone."""
    start, end = fleet.started_ms - length_ms, fleet.started_ms
    question = {"from": stamp(start), "to": stamp(end), "width_px": 800, "theme": "light"}
    body = dependencies(site.open(DEPENDENCIES).json())
    of_chart = next(each for each in body if each.outputs[0] == "chart-graph.figure")
    subject = {"device_id": fleet.ids[STEADY], "time_zone": "UTC", "interval_s": CADENCE_S}
    answer = wire.callback(
        site,
        list(of_chart.outputs),
        {"chart-question.data": question},
        {"chart-subject.data": subject},
    )
    assert answer.status_code == 200, answer.text
    return answer.json()["response"]


def notice(answer: dict[str, Any]) -> str:
    return answer["chart-failed"]["data"]


# --- Normal operation ----------------------------------------------------------------------------


def test_the_wall_shows_the_remote_fleet(site: Site, station: Station, fleet: Fleet) -> None:
    board = whole_wall(site)
    assert board["pages"]["words"] == f"1–50 of {COUNT}"
    assert [tile["serial"] for tile in board["tiles"]] == [serial(n) for n in range(50)]
    states = {index: board["tiles"][index]["state"] for index in TROUBLED}
    assert states == TROUBLED
    assert {seen.key for seen in station.seen} == {fleet.key}
    assert all(seen.path.startswith(("/management/v1/", "/insight/v1/")) for seen in station.seen)


def test_the_list_shows_the_remote_fleet(site: Site, station: Station) -> None:
    answer = wire.rows(site).json()["response"]["devices-grid"]["getRowsResponse"]
    assert answer["rowCount"] == COUNT
    assert MARKUP in str(answer["rowData"])


def test_a_devices_page_has_its_header(site: Site, station: Station, fleet: Fleet) -> None:
    answer = wire.page(site, f"/devices/{fleet.ids[STEADY]}")
    assert "Riser 30" in answer.text
    assert ORGANIZATION_NAME in answer.text


def test_a_chart_has_the_remote_readings(site: Site, station: Station, fleet: Fleet) -> None:
    """Against the rows that the remote server returns directly."""
    start, end = fleet.started_ms - 6 * HOUR_MS, fleet.started_ms
    asking = Client.remote(station.url, fleet.key)
    result = asking.adaptive(fleet.ids[STEADY], from_ms=start, to_ms=end)
    asking.close()
    answer = chart(site, fleet)
    drawn = [y for y in answer["chart-graph"]["figure"]["data"][2]["y"] if y is not None]
    rates = [value for value in result.values(FLOW_RATE.name) if value is not None]
    assert len(rates) > 60
    assert drawn[-len(rates) :] == pytest.approx(rates) or set(rates) <= set(drawn)
    assert notice(answer) == ""


# --- Failures ------------------------------------------------------------------------------------


def test_a_slow_server_is_waited_for(site: Site, station: Station, fleet: Fleet) -> None:
    station.turn(SLOW)
    board = wall(site)
    assert len(board["tiles"]) == 50
    assert notice(chart(site, fleet)) == ""


def test_a_hanging_server_times_out_and_is_not_retried(
    station: Station, fleet: Fleet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transport, "READ_TIMEOUT_S", 0.4)
    with dashboard(tmp_path, station.url, fleet.key) as near:
        station.turn(Weather(delay_s=1.2))
        answer = chart(Site(near), fleet)
    assert notice(answer) == "The service didn't respond in time."
    assert "chart-graph" not in answer
    requests = [seen.path for seen in station.seen if "/flow/" in seen.path]
    assert len(requests) == len(set(requests))


@pytest.fixture
def down(station: Station) -> Iterator[Station]:
    station.stop()
    yield station
    if station._running is None:
        station.start()


def test_while_the_server_is_down_the_last_chart_stays(
    site: Site, down: Station, fleet: Fleet
) -> None:
    deadline = time.monotonic() + KNOWN_FOR_S
    while "error" not in (board := wall(site)):  # for a moment the cached reply is used
        assert time.monotonic() < deadline, "the wall noticed nothing"
        time.sleep(0.2)
    assert board["error"] == DOWN
    assert "tiles" not in board
    answer = chart(site, fleet)
    assert notice(answer) == DOWN
    assert "chart-graph" not in answer  # the chart stays
    page = wire.page(site, f"/devices/{fleet.ids[STEADY]}")
    assert page.status_code == 200
    assert "t be loaded" in page.text
    assert DOWN in page.text
    assert site.open("/session").status_code == 204  # nobody is signed out
    down.start()
    assert len(whole_wall(site)["tiles"]) == 50
    assert notice(chart(site, fleet)) == ""


def test_an_unreachable_server_has_a_message(tmp_path: Path) -> None:
    with dashboard(tmp_path, f"http://127.0.0.1:{free_port()}", str(uuid4())) as near:
        site = Site(near)
        assert wall(site)["error"] == DOWN
        assert site.open("/").status_code == 200


def test_a_reply_that_is_not_json_has_a_message_and_ends_no_session(
    site: Site, station: Station, fleet: Fleet
) -> None:
    station.turn(PORTAL)
    sentence = "The response is text/html, not JSON."
    assert notice(chart(site, fleet)) == sentence
    assert site.open("/session").status_code == 204
    station.turn(FINE)
    assert notice(chart(site, fleet)) == ""


def busy(wait_s: int, answers: int | None) -> Weather:
    body = b'{"detail": "Too many requests."}'
    headers = (("Content-Type", "application/problem+json"), ("Retry-After", str(wait_s)))
    return Weather(answers=answers, status="429 TOO MANY REQUESTS", body=body, headers=headers)


def test_a_busy_server_is_retried_after_its_retry_after(
    site: Site, station: Station, fleet: Fleet
) -> None:
    chart(site, fleet)  # its credential is cached as valid: only the chart's requests follow
    station.turn(busy(1, answers=1))
    answer = chart(site, fleet)
    assert notice(answer) == ""
    first, second = station.seen[:2]
    assert first.path == second.path
    assert second.at_s - first.at_s >= 1


def test_a_long_retry_after_is_respected(site: Site, station: Station, fleet: Fleet) -> None:
    chart(site, fleet)
    station.turn(busy(120, answers=None))
    start = time.monotonic()
    answer = chart(site, fleet)
    assert time.monotonic() - start < 5
    assert "Try again in 120 s." in notice(answer)
    requests = [seen.path for seen in station.seen]
    assert len(requests) == len(set(requests)) <= ATTEMPTS


# --- Many readers --------------------------------------------------------------------------------


def test_many_readers_share_a_few_connections(near: Near, station: Station, fleet: Fleet) -> None:
    station.turn(Weather(delay_s=0.1))

    def look(number: int) -> str:
        site = Site(near)
        try:
            if number % 4 == 0:
                return wall(site).get("error", "")
            return notice(chart(site, fleet, length_ms=DAY_MS - number * HOUR_MS // 4))
        finally:
            site.http.close()

    with ThreadPoolExecutor(MANY) as people:
        assert set(people.map(look, range(MANY))) == {""}
    assert len(station.seen) >= MANY * 3 // 4  # the charts at least
    assert 2 <= station.most_at_once <= MAX_CONNECTIONS


# --- The key -------------------------------------------------------------------------------------


def test_a_key_revoked_at_the_remote_server_is_signed_out_here(
    near: Near, station: Station, fleet: Fleet
) -> None:
    secret = str(uuid4())
    grant = Grant(everything=True)
    fleet.store.create_key(Key("key_to_revoke", ORGANIZATION, "test", key_digest(secret), grant, 0))
    site = Site(near, signed_in=False)
    signed_in = site.open("/sign-in", "POST", data={"key": secret, "next": "/devices"})
    assert signed_in.status_code == 303
    assert wire.wall(site, {}).status_code == 200
    assert secret in {seen.key for seen in station.seen}
    fleet.store.revoke_key("key_to_revoke", now_ms())
    deadline = time.monotonic() + OUT_WITHIN_S
    while (answer := wire.wall(site, {})).status_code == 200:
        assert time.monotonic() < deadline, "still looking"
        time.sleep(0.25)
    assert_signed_out(answer)
    assert_signed_out(wire.rows(site))
    site.http.close()


def assert_signed_out(answer: httpx.Response) -> None:
    assert answer.status_code == 401
    assert answer.headers["Weir-Sign-In"].startswith("/sign-in")
    assert "Riser" not in answer.text
