"""Readings over HTTP: permissions, the result of each row, and protection against bad bodies."""

from __future__ import annotations

import gzip
import io
import json
import sys
import time
import zlib
from collections.abc import Iterator, Mapping
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from api import catalog
from api.catalog import INGEST_BODY_BYTES, INGEST_ROWS, KEY_HEADER, RAW
from api.errors import Busy, Unavailable
from api.ingest.http_intake import HttpIntake
from api.server.intake import READINGS_PATH, create_intake
from api.settings import Settings
from api.store.base import NewDevice, Span
from api.timez import parse_instant
from tests.ingest.station import JSON, Station
from tests.store.fleet import NOON_MS
from tests.tables import cases
from tests.world import ACME, FOREIGN, LONE, METER, OLD, SECRET, TWIN, opened

NOON = "2026-03-08T12:00:00Z"
LINES = "application/x-ndjson"


@pytest.fixture(scope="module")
def station(place_url: str) -> Iterator[Station]:
    with opened(place_url) as world:
        station = Station(world)
        yield station
        station.writer.close()


def row(device: object, **values: object) -> dict[str, object]:
    return {"device": device, "recordedAt": NOON, **values}


# --- Results of rows -----------------------------------------------------------------------------


def test_rows_are_readable_once_acknowledged_and_each_exception_is_listed(
    station: Station,
) -> None:
    rows = [
        row("M-1", quality=101), row(METER.upper(), quality=102), row("nobody", quality=1),
        row("M-1", quality=101), row("M-1"), row("net-t1", quality=103),
    ]  # fmt: skip
    assert station.reply_to(rows) == {
        "accepted": 3,
        "repeated": 1,
        "refused": 2,
        "results": [
            {"row": 2, "result": "refused", "reason": "unknown device"},
            {"row": 3, "result": "repeated"},
            {"row": 4, "result": "refused", "reason": "no measured field"},
        ],
    }
    assert {101, 102} <= set(station.quality_of(METER))
    assert 103 in station.quality_of(TWIN)


def test_all_results_are_returned_in_order_on_request(station: Station) -> None:
    rows = [row("T-1", quality=110), row("T-1", quality=110), None]
    result = station.reply_to(rows, query="results=all")
    assert [r["result"] for r in result["results"]] == ["stored", "repeated", "refused"]
    assert [r["row"] for r in result["results"]] == [0, 1, 2]


def test_amounts_that_look_like_a_register_are_stored_with_a_warning(station: Station) -> None:
    times = [f"2026-03-01T{hour:02}:00:00Z" for hour in range(24)]
    rows = [
        {"device": "T-1", "recordedAt": at, "flowAmount": 1000.0 + n} for n, at in enumerate(times)
    ]
    result = station.reply_to(rows)
    assert result["accepted"] == 24
    assert result["warnings"] == [
        "flowAmount looks like a register: it only rises for T-1; send it as register"
    ]
    assert "warnings" not in station.reply_to(rows[:23])


def test_a_flow_beyond_the_meters_size_is_stored_with_a_warning(station: Station) -> None:
    store, changed = station.world.store, {"config": {"meterSize": "DN 15"}}
    store.import_devices("org-acme", [NewDevice("T-1", changed)])
    at = "2026-03-03T00:00:00Z"
    answer = station.reply_to([{"device": "T-1", "recordedAt": at, "flowRate": 20.5}])
    assert answer["accepted"] == 1
    assert answer["warnings"] == [
        "flowRate is larger than a meter of its size can have: 20.5 for T-1"
    ]
    at = "2026-03-03T01:00:00Z"
    answer = station.reply_to([{"device": "T-1", "recordedAt": at, "flowRate": 19.5}])
    assert "warnings" not in answer


def test_a_register_becomes_a_reading_and_a_repeat_changes_nothing(station: Station) -> None:
    rows = [
        {"device": "T-1", "recordedAt": f"2026-03-02T0{hour}:00:00Z", "register": count}
        for hour, count in ((0, 5.0), (1, 7.5))
    ]
    assert station.reply_to(rows)["accepted"] == 2
    assert station.reply_to(rows)["repeated"] == 2
    meter, at_ms = station.world.devices[TWIN], parse_instant("2026-03-02T01:00:00Z")
    (reading,) = station.world.store.rows(meter, RAW, Span(at_ms, at_ms), limit=5)
    assert reading[:4] == (at_ms, 2.5 / 60, 3600.0, 2.5)


def test_a_row_without_a_timestamp_has_its_receipt_time_and_a_mark(station: Station) -> None:
    station.now_ms = NOON_MS + 1
    result = station.reply_to([{"device": "M-1", "quality": 120}, row("M-1", quality=121)])
    station.now_ms = NOON_MS
    assert result["results"] == [
        {"row": 0, "result": "stored", "recordedAt": "2026-03-08T12:00:00.001Z"}
    ]
    meter = station.world.devices[METER]
    assert station.world.store.undated(meter, Span(NOON_MS, NOON_MS + 1)) == [NOON_MS + 1]


def test_equal_rows_without_a_timestamp_are_each_an_event(station: Station) -> None:
    rows = [{"device": name, "quality": 125} for name in ("M-1", METER, "T-1")]  # M-1 twice
    station.now_ms = NOON_MS + 5_000
    stamps = [r["recordedAt"][17:] for _ in range(2) for r in station.reply_to(rows)["results"]]
    station.now_ms = NOON_MS
    assert stamps == ["05.000Z", "05.001Z", "05.000Z", "05.002Z", "05.003Z", "05.001Z"]


@pytest.mark.parametrize(
    "kind", [LINES, "application/jsonl", "application/x-ndjson; charset=utf-8"]
)
def test_lines_are_rows_and_a_bad_one_affects_no_other(station: Station, kind: str) -> None:
    rows = [row("M-1", quality=130), row("M-1", quality=131)]
    body = b"\n\r\n".join([orjson.dumps(rows[0]), b'{"device":', b'"M-1"', orjson.dumps(rows[1])])
    result = station.reply_to(body, kind)
    assert result["refused"] == 2
    assert [r["row"] for r in result["results"] if r["result"] == "refused"] == [1, 2]
    assert {130, 131} <= set(station.quality_of(METER))


def test_one_object_is_one_row_and_gzip_is_unpacked(station: Station) -> None:
    packed = gzip.compress(orjson.dumps(row("M-1", quality=140)))
    two_members = gzip.compress(b"[") + gzip.compress(orjson.dumps(row("M-1", quality=140)) + b"]")
    assert station.reply_to(packed, Content_Encoding="gzip")["accepted"] == 1
    assert station.reply_to(two_members, Content_Encoding="gzip")["repeated"] == 1


def test_refused_rows_are_recorded_with_their_key(station: Station) -> None:
    station.reply_to([row("a device of nobody", quality=1)])
    [stored] = [r for r in station.world.store.refusals(ACME) if r.device == "a device of nobody"]
    assert stored.source.startswith("http key_")
    assert "a device of nobody" in stored.sample


# --- Permissions ---------------------------------------------------------------------------------


@cases(
    ("by", "device", "is_known"),
    [
        ("all", "M-1", True), ("all", FOREIGN, False), ("all", OLD, True), ("all", "O-1", False),
        ("north", "M-1", True), ("north", "T-1", True), ("north", LONE, False),
        ("north", "L/1", False), ("foreign", "M-1", True), ("foreign", METER, False),
    ],
)  # fmt: skip
def test_a_key_sends_for_its_granted_devices(
    station: Station, by: str, device: str, is_known: bool
) -> None:
    [result] = station.reply_to([row(device, quality=150)], by=by, query="results=all")["results"]
    assert (result.get("reason") == "unknown device") is not is_known


def test_a_serial_number_means_the_device_of_the_keys_own_organization(station: Station) -> None:
    station.reply_to([row("M-1", quality=160)], by="foreign")
    assert 160 in station.quality_of(FOREIGN)
    assert 160 not in station.quality_of(METER)


def test_reading_and_sending_need_different_keys(station: Station) -> None:
    world = station.world
    for name, status in (("all", 403), ("token", 403), ("nobody", 401)):
        sent = {"Content-Type": JSON, **world.credentials[name].headers}
        answer = station.client.post(READINGS_PATH, data=b"not even JSON", headers=sent)
        assert answer.status_code == status, name
    for path in ("/organizations/mine", "/device", "/flow/latest?ids=M-1"):
        answer = world.client.get(
            f"{catalog.PATH_PREFIX}{path}", headers={KEY_HEADER: station.keys["all"]}
        )
        assert answer.status_code == 403


# --- Refused bodies ------------------------------------------------------------------------------


@cases(
    ("body", "kind", "headers", "status"),
    [
        (b"[]", "text/csv", {}, 415),
        (b"[]", "", {}, 415),
        (b"[]", JSON, {"Content-Encoding": "br"}, 415),
        (b"", JSON, {}, 400),
        (b"null", JSON, {}, 400),
        (b"3", JSON, {}, 400),
        (b"[", JSON, {}, 400),
        (b"\xff\xfe", JSON, {}, 400),
        (b"[" * 100_000, JSON, {}, 400),
        (b'{"a":' * 100_000, JSON, {}, 400),
        (b"[]", JSON, {"Content-Encoding": "gzip"}, 400),
        (gzip.compress(b"[]")[:-4], JSON, {"Content-Encoding": "gzip"}, 400),
        (b" " * (INGEST_BODY_BYTES + 1), JSON, {}, 413),
        (b"[" + b"{}," * INGEST_ROWS + b"{}]", JSON, {}, 413),
        (b"{}\n" * (INGEST_ROWS + 1), LINES, {}, 413),
        (b"[" + b"[]," * 1_000_000 + b"[]]", JSON, {}, 413),
        (b"[" + b"1," * 1_000_000 + b"1]", JSON, {}, 413),
        (b"\n" * 1_000_000, LINES, {}, 413),
    ],
)
def test_bodies_without_rows_are_refused(
    station: Station, body: bytes, kind: str, headers: Mapping[str, str], status: int
) -> None:
    answer = station.post(body, kind, **headers)
    assert (answer.status_code, answer.json["status"]) == (status, status)  # pyright: ignore


def test_a_body_without_a_length_is_limited_too(station: Station) -> None:
    endless: Any = {"CONTENT_LENGTH": "", "wsgi.input_terminated": True}
    assert straight(station, b" " * (INGEST_BODY_BYTES + 1), **endless)[0] == 413
    assert straight(station, b"[]", **endless)[0] == 200


def test_a_body_shorter_than_its_length_is_refused(station: Station) -> None:
    sent: Any = {"CONTENT_LENGTH": "999", "wsgi.input_terminated": True, "CONTENT_TYPE": LINES}
    assert straight(station, b"{}\n", **sent)[0] == 400


def test_a_compression_bomb_is_never_unpacked(station: Station) -> None:
    body = zlib.compressobj(9, wbits=31)
    bomb = b"".join([body.compress(bytes(1 << 20)) for _ in range(256)]) + body.flush()
    assert len(bomb) < 1 << 20
    assert station.post(bomb, JSON, Content_Encoding="gzip").status_code == 413


def test_a_body_of_countless_small_members_is_soon_refused(station: Station) -> None:
    member = gzip.compress(b"")
    body = member * (INGEST_BODY_BYTES // len(member))
    began_s = time.process_time()
    assert station.post(body, JSON, Content_Encoding="gzip").status_code == 413
    assert time.process_time() - began_s < 20  # it once took two minutes


@cases("query", ["results=some", "results=", "results=all&results=all", "x=1"])
def test_invalid_parameters_are_refused(station: Station, query: str) -> None:
    assert station.post([], query=query).status_code == 400


@cases("method", ["GET", "PUT", "DELETE", "PATCH"])
def test_other_methods_are_refused_with_the_allowed_one(station: Station, method: str) -> None:
    answer = station.client.open(READINGS_PATH, method=method)
    assert answer.status_code == 405
    assert "POST" in answer.headers["Allow"]


@pytest.mark.parametrize("path", ["/ingest/v1", "/ingest/v1/reading", "/ingest/v1/readings/"])
def test_other_paths_are_not_found(station: Station, path: str) -> None:
    assert station.client.post(path).status_code == 404


@pytest.mark.parametrize(
    ("problem", "status"),
    [(Busy("full", retry_after_s=1.2), 429), (Unavailable("gone", retry_after_s=2.0), 503)],
)
def test_a_busy_writer_gives_a_time_to_retry(
    station: Station, problem: Exception, status: int
) -> None:
    station.problem = problem
    answer = station.post([row("M-1", quality=1)])
    station.problem = None
    assert (answer.status_code, answer.headers["Retry-After"]) == (status, "2")


def test_a_key_is_limited_to_its_rate(station: Station) -> None:
    limited = Settings.from_env({"WEIR_SECRET_KEY": SECRET, "WEIR_RATE_LIMIT": "0.2"})
    reception = HttpIntake(station.world.store, station._post)
    client = create_intake(station.world.store, limited, reception, limits=True).test_client()
    sent = {KEY_HEADER: station.keys["all"], "Content-Type": JSON}
    answers = [client.post(READINGS_PATH, data=b"[]", headers=sent) for _ in range(3)]
    assert [a.status_code for a in answers] == [200, 200, 429]
    assert int(answers[-1].headers["Retry-After"]) > 1


# --- Any input -----------------------------------------------------------------------------------

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text()
    | st.sampled_from(["M-1", "T-1", METER, NOON, "\x00", "\ud800", "1e400", "NaN"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(
        st.sampled_from(["device", "recordedAt", "recorded_at", "flowRate", "flow_rate", "quality",
                         "x"]) | st.text(max_size=5),
        inner, max_size=6,
    ),
    max_leaves=12,
)  # fmt: skip


def straight(station: Station, body: bytes, **environ: str) -> tuple[int, bytes]:
    """Through WSGI alone: an HTTP client would correct the request."""
    statuses: list[str] = []
    full: dict[str, Any] = {
        "REQUEST_METHOD": "POST", "PATH_INFO": READINGS_PATH, "QUERY_STRING": "",
        "SERVER_NAME": "x", "SERVER_PORT": "80", "SERVER_PROTOCOL": "HTTP/1.1",
        "wsgi.url_scheme": "http", "wsgi.input": io.BytesIO(body), "wsgi.errors": sys.stderr,
        "CONTENT_LENGTH": str(len(body)), "CONTENT_TYPE": JSON,
        "HTTP_SERVICE_API_KEY": station.keys["all"], **environ,
    }  # fmt: skip
    answer = station.app.wsgi_app(full, lambda status, headers, exc=None: statuses.append(status))  # pyright: ignore
    return int(statuses[0][:3]), b"".join(answer)


def counts(body: bytes) -> int:
    reply = orjson.loads(body)
    return reply["accepted"] + reply["repeated"] + reply["refused"]


def dumped(value: object) -> bytes:
    """By the standard library, which writes NaN and lone surrogates as some senders do."""
    return json.dumps(value).encode()


@settings(max_examples=50, deadline=None)
@given(rows=st.lists(ANYTHING, max_size=5))
def test_every_row_of_any_json_has_a_result(station: Station, rows: list[Any]) -> None:
    status, body = straight(station, dumped(rows))
    assert (status, counts(body)) == (200, len(rows))
    status, body = straight(station, b"\n".join(map(dumped, rows)), CONTENT_TYPE=LINES)
    assert (status, counts(body)) == (200, len(rows))


@settings(max_examples=50, deadline=None)
@given(
    body=st.binary(max_size=300) | st.binary(max_size=100).map(gzip.compress),
    kind=st.sampled_from(
        [JSON, LINES, "application/json;charset=latin-1", "text/html", "", "\xff"]
    ),
    coding=st.sampled_from(["", "gzip", "GZIP ", "deflate", "gzip, gzip"]),
    length=st.sampled_from(["", "-1", "x", "5", "99999999999999999999"]) | st.none(),
)
def test_any_bytes_get_an_orderly_response(
    station: Station, body: bytes, kind: str, coding: str, length: str | None
) -> None:
    sent = {"CONTENT_TYPE": kind, "HTTP_CONTENT_ENCODING": coding}
    if length is not None:
        sent["CONTENT_LENGTH"] = length
    status, answer = straight(station, body, **sent)
    assert status in (200, 400, 413, 415)
    assert status == 200 or orjson.loads(answer)["status"] == status
