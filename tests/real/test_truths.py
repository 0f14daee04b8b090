"""Real meters, imported by the command line and read through the service: every hour, day, month
and window equals the count from their files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import orjson
import psycopg
import pytest

from api.server import create_service
from api.settings import Settings
from api.store.base import Store
from api.store.open import open_store
from api.timez import parse_instant, stamp
from tests.commands.conftest import CommandLine
from tests.real.truths import SOURCES, STORED_S, Source, alike, recount, recount_hours

pytestmark = pytest.mark.xdist_group("real")

ON_POSTGRES = ("bwdf_dma01_06", "daiad_amphiro_A_events")
Ask = Callable[..., Any]


class Imported:
    """Real sources in a store, and a client of its service."""

    def __init__(self, url: str, folder: Path, sources: dict[str, Source]) -> None:
        self.url = url
        environ = {"WEIR_DATABASE": url, "WEIR_INSTANCE": str(folder)}
        self.flask = CommandLine(environ)
        self.flask.ask("db", "upgrade")
        self.org = self.flask.ask("orgs", "create", "Real")["id"]
        for source in sources.values():
            self.flask.ask("devices", "import", source.devices, "--org", self.org)
        self.counts = {
            name: self.flask.ask(
                "readings", "import", source.readings, "--org", self.org, "--allow-refused"
            )
            for name, source in sources.items()
        }
        self.key = self.flask.ask("keys", "create", "--org", self.org)["key"]
        self.store: Store = open_store(url, read_only=True)
        self.service = create_service(self.store, Settings.from_env(environ)).test_client()

    def ask(self, path: str, **parameters: object) -> Any:
        answer = self.service.get(
            f"/management/v1/flow/{path}",
            query_string=parameters,
            headers={"service-api-key": self.key},
        )
        assert answer.status_code == 200, answer.text
        return orjson.loads(answer.data)


@pytest.fixture(scope="session")
def sources(shared_data: Path) -> dict[str, Source]:
    return {name: Source(name, shared_data) for name in SOURCES}


@pytest.fixture(scope="session")
def on_sqlite(
    sources: dict[str, Source], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Imported]:
    folder = tmp_path_factory.mktemp("real")
    imported = Imported(f"sqlite:///{folder / 'weir.sqlite'}", folder, sources)
    yield imported
    imported.store.close()


@pytest.fixture(scope="session")
def on_postgres(
    sources: dict[str, Source], postgres_server: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Imported]:
    with psycopg.connect(f"{postgres_server}/postgres", autocommit=True) as connection:
        connection.execute("CREATE DATABASE weir_real")
        few = {name: sources[name] for name in ON_POSTGRES}
        folder = tmp_path_factory.mktemp("real-postgres")
        imported = Imported(f"{postgres_server}/weir_real", folder, few)
        yield imported
        imported.store.close()
        connection.execute("DROP DATABASE weir_real WITH (FORCE)")


@pytest.fixture(
    params=[*(("on_sqlite", s) for s in SOURCES), *(("on_postgres", s) for s in ON_POSTGRES)],
    ids=lambda param: "-".join(param),
)
def case(request: pytest.FixtureRequest, sources: dict[str, Source]) -> tuple[Imported, Source]:
    where, name = request.param
    return request.getfixturevalue(where), sources[name]


# --- The known counts ----------------------------------------------------------------------------


def test_a_recount_with_repeats_equals_the_known_counts(
    sources: dict[str, Source],
) -> None:
    """So the recount can be trusted where repeats are left out."""
    source = sources["daiad_amphiro_A_events"]
    assert source.repeats
    for device, rows in source.rows.items():
        counted = recount(rows, source.given[device])
        for part in ("days", "months"):
            assert alike(counted[part], source.given[device][part]), (device, part)
        for ours, given in zip(counted["windows"], source.given[device]["windows"], strict=True):
            assert alike({k: ours.get(k) for k in given}, given), (device, given["name"])
        assert alike(recount_hours(rows), source.given_hours[device]), device


# --- The import ----------------------------------------------------------------------------------


def test_every_distinct_row_is_stored_once(case: tuple[Imported, Source]) -> None:
    imported, source = case
    rows = sum(given["rows"] for given in source.given.values())
    assert imported.counts[source.name] == {
        "read": rows,
        "stored": rows - source.repeats,
        "repeated": source.repeats,
        "refused": 0,
    }


def test_the_rollups_equal_a_recount(on_postgres: Imported) -> None:
    assert on_postgres.flask.ask("rollups", "verify")["wrong"] == 0


# --- The service ---------------------------------------------------------------------------------


def test_every_hour(case: tuple[Imported, Source]) -> None:
    """Of a source of many devices, of every third."""
    imported, source = case
    for device in _some_devices(source):
        hours = source.hours[device]
        results: dict[str, list[float | None]] = {}
        while True:
            page = imported.ask(
                f"datapoints/{device}", resolution="1hour", limit=10_000, offset=len(results)
            )["data"]
            for row in page:
                results[row["bucket_1hour"]] = [
                    row["total_flow_amount"],
                    row["min_flow_rate"],
                    row["max_flow_rate"],
                    row["avg_flow_rate"],
                ]
            if len(page) < 10_000:
                break
        expected = {hour: [total, *rest] for hour, (total, _, *rest) in hours.items()}
        assert alike(results, expected), device


@pytest.mark.parametrize(("resolution", "part"), [("day", "days"), ("month", "months")])
def test_every_local_day_and_month(
    case: tuple[Imported, Source], resolution: str, part: str
) -> None:
    imported, source = case
    for device, truth in source.truth.items():
        expected = truth[part]
        ends = [parse_instant(e["bucket_utc"]) + e["minutes"] * 60_000 for e in expected.values()]
        reply = imported.ask(
            f"datapoints/{device}",
            resolution=resolution,
            timezone=truth["timezone"],
            limit=10_000,
            **{
                "from": min(e["bucket_utc"] for e in expected.values()),
                "to": stamp(max(ends) - 1, fraction=True),
            },
        )
        fields = {
            row["bucket"][: 10 if part == "days" else 7]: [
                _utc(row["bucket"]),
                row["total_flow_amount"],
                row["min_flow_rate"],
                row["max_flow_rate"],
                row["avg_flow_rate"],
            ]
            for row in reply["data"]
        }
        assert alike(
            fields,
            {
                name: [e["bucket_utc"], e["total"], e["min"], e["max"], e["avg_throughput"]]
                for name, e in expected.items()
            },
        ), device


def _utc(zoned: str) -> str:
    return stamp(parse_instant(zoned))


def test_every_windows_total_and_counts(case: tuple[Imported, Source]) -> None:
    """Of a thousand windows each tests one of the five counts, in turn."""
    imported, source = case
    for number, (device, window) in enumerate(_windows(imported, source)):
        span, path, place = _span(window), f"datapoints/{device}", (device, window["name"])
        (total,) = imported.ask(path, resolution="total", **span)["data"]
        for column in ("total_flow_amount", "min_flow_rate", "max_flow_rate"):
            assert alike(total[column], window[column]), (*place, column)
        for resolution in _some(list(window["observed"]), number, source):
            reply = imported.ask(path, resolution=resolution, count="true", **span)
            observed = source.observed(device, window, resolution)
            assert reply == {"resolution": resolution, "count": observed}, (*place, resolution)


def test_every_windows_adaptive_choice(case: tuple[Imported, Source]) -> None:
    """Of a thousand windows each tests one of the eight budgets, in turn."""
    imported, source = case
    for number, (device, window) in enumerate(_windows(imported, source)):
        for budget, expected in _some(list(window["adaptive"].items()), number, source):
            reply = imported.ask(f"adaptive/{device}", maxDatapoints=budget, **_span(window))
            results = [reply["resolution"], reply["count"], reply["truncated"]]
            assert results == expected, (device, window["name"], budget)
            assert len(reply["data"]) == min(reply["count"], int(budget))


def test_every_windows_uptime_and_last_reading(case: tuple[Imported, Source]) -> None:
    imported, source = case
    for number, (device, window) in enumerate(_windows(imported, source)):
        resolution = list(STORED_S)[number % 4]
        reply = imported.ask(
            "latest",
            ids=device,
            metrics="uptime,lastSeen,lastDatapoint",
            uptimeResolution=resolution,
            **_span(window),
        )
        (entry,) = reply["data"]
        place = (device, window["name"])
        assert entry["uptime"] == {
            "actual": source.observed(device, window, resolution),
            "expected": window["expected_bucket_starts"][resolution],
        }, place
        last = entry["lastDatapoint"]
        if window["lastSeen"] is None:
            assert (entry["lastSeen"], last) == (None, None), place
            continue
        assert parse_instant(entry["lastSeen"]) == parse_instant(window["lastSeen"]), place
        measured = [last["flowRate"], last["flowDuration"], last["flowAmount"]]
        assert any(alike(measured, row) for row in window["last_rows_at_that_instant"]), place


def _some_devices(source: Source) -> list[str]:
    devices = sorted(source.hours)
    return devices if len(devices) < 10 else devices[::3]


def _windows(imported: Imported, source: Source) -> list[tuple[str, dict[str, Any]]]:
    """All of them on SQLite, every fourth on Postgres: the contract is tested on both."""
    every = [
        (device, window) for device, truth in source.truth.items() for window in truth["windows"]
    ]
    return every[:: 1 if imported.url.startswith("sqlite") else 4]


def _some(choices: list[Any], number: int, source: Source) -> list[Any]:
    """All of them for a source of few devices, else one that changes from window to window."""
    return choices if len(source.truth) < 10 else [choices[number % len(choices)]]


def _span(window: dict[str, Any]) -> dict[str, str]:
    return {"from": window["from"], "to": window["to"]}
