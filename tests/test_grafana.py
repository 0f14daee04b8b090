"""The dashboard of deploy/grafana: each of its queries is sent to the service, and its response
read by GJSON, as Grafana's Infinity data source does."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode

import gjson
import pytest
import yaml
from flask.testing import FlaskClient

from api.catalog import KEY_HEADER
from api.commands.keys import new_key
from api.insight.finding_evaluator import Evaluator
from api.insight.status_projection import Projection
from api.roles import Role
from api.server import create_service
from api.settings import Settings
from api.store.base import Grant, NewDevice, Store
from api.timez import now_ms, stamp
from tests.store.fleet import everything, reading

GRAFANA: Final = Path(__file__).resolve().parents[1] / "deploy/grafana"
DASHBOARD: Final[dict[str, Any]] = json.loads((GRAFANA / "dashboards/fleet.json").read_text())
SOURCE: Final[dict[str, Any]] = yaml.safe_load(
    (GRAFANA / "provisioning/datasources/weir.yaml").read_text()
)["datasources"][0]
TEN_MINUTES_MS: Final = 600_000
DAYS: Final = 3


def queries() -> Iterator[tuple[str, dict[str, Any]]]:
    for panel in DASHBOARD["panels"]:
        for target in panel["targets"]:
            yield panel["title"], target
    for variable in DASHBOARD["templating"]["list"]:
        yield variable["name"], variable["query"]["infinityQuery"]


class Source:
    """Sends queries as the data source does, with the dashboard's variables filled in."""

    def __init__(self, client: FlaskClient, key: str, variables: dict[str, str]) -> None:
        self._client, self._key, self._variables = client, key, variables

    def rows(self, query: dict[str, Any]) -> list[dict[str, Any]]:
        """Each row's columns by their text, as Infinity's backend parser gives them."""
        pairs = [(one["key"], self._filled(one["value"])) for one in query["url_options"]["params"]]
        headers = {SOURCE["jsonData"]["apiKeyKey"]: self._key}
        answer = self._client.get(
            f"{self._filled(query['url'])}?{urlencode(pairs)}", headers=headers
        )
        assert answer.status_code == 200, answer.text
        root = query["root_selector"]
        body = gjson.get(answer.json, root) if root else answer.json
        rows = body if isinstance(body, list) else [body]
        return [
            {c["text"]: gjson.get(row, c["selector"]) for c in query["columns"]} for row in rows
        ]

    def _filled(self, text: str) -> str:
        filled = re.sub(r"\$\{(\w+)(?::[\w:]+)?\}", lambda m: self._variables[m[1]], text)
        assert "$" not in filled
        return filled


@pytest.fixture
def source(sqlite_store: Store) -> Source:
    """With a fleet of one leaking meter that has reported for three days."""
    store, at_ms = sqlite_store, now_ms()
    store.create_organization("Acme", organization_id="acme")
    since = {"label": "Harbor main", "installedOn": "2020-01-01T00:00:00Z"}
    store.import_devices("acme", [NewDevice("S-1", since)])
    [device] = store.resolve(everything("acme"), ["S-1"])
    assert device is not None
    values = {"flow_rate": 0.5, "flow_amount": 5.0, "quality": 90.0}
    times = range(at_ms - DAYS * 86_400_000, at_ms, TEN_MINUTES_MS)
    store.write([reading(device, time_ms, **values) for time_ms in times])
    Projection(store).all_due()
    Evaluator(store).up_to_date(key=device.key)
    key = new_key(store, "acme", "grafana", Grant(everything=True), role=Role.VIEWER)["key"]
    client = create_service(store, Settings.from_env({"WEIR_SECRET_KEY": "s" * 40})).test_client()
    week_ms = 7 * 86_400_000
    variables = {"device": device.id, "__from": stamp(at_ms - week_ms), "__to": stamp(at_ms)}
    return Source(client, key, variables)


_TYPES: Final = {"string": str, "number": (int, float), "timestamp": str}


def test_every_query_returns_rows_of_its_columns(source: Source) -> None:
    empty: list[str] = []
    for title, query in queries():
        rows = source.rows(query)
        assert rows, title
        for column in query["columns"]:
            values = [row[column["text"]] for row in rows if row[column["text"]] is not None]
            if not values:
                empty.append(column["text"])
            assert all(isinstance(value, _TYPES[column["type"]]) for value in values)
            if column["type"] == "timestamp":
                assert all(datetime.fromisoformat(value).tzinfo for value in values)
    assert empty == []


def test_the_panels_show_the_measured_values(source: Source) -> None:
    by_title = {title: source.rows(query) for title, query in queries()}
    [states] = by_title["Devices by state"]
    assert states == {"Reporting": 1, "Degraded": 0, "Silent": 0, "No data": 0}
    assert by_title["Flow now"] == [{"Flow": 0.5}]
    [leak] = [
        row for row in by_title["Open findings, worst first"] if row["Kind"] == "continuous-flow"
    ]
    assert leak["Device"] == "S-1"
    assert by_title["device"][0]["__text"] == "Harbor main"
    volumes = [row["Volume"] for row in by_title["Volume of $device, by the day (UTC)"]]
    assert sum(volumes) == 5.0 * DAYS * 144
    assert {row["Mean"] for row in by_title["Flow of $device, by the hour"]} == {0.5}


def test_the_dashboard_uses_the_provisioned_source_and_key() -> None:
    assert SOURCE["jsonData"]["apiKeyKey"] == KEY_HEADER
    assert SOURCE["jsonData"]["customHealthCheckUrl"].startswith(SOURCE["url"])
    used = {target["datasource"]["uid"] for _, target in queries()}
    assert used == {SOURCE["uid"]}
    assert {query["parser"] for _, query in queries()} == {"backend"}
    ids = [panel["id"] for panel in DASHBOARD["panels"]]
    assert len(ids) == len(set(ids))
    provider = yaml.safe_load((GRAFANA / "provisioning/dashboards/weir.yaml").read_text())
    path = provider["providers"][0]["options"]["path"]
    text = (GRAFANA.parents[1] / "docs/grafana.md").read_text()
    assert f"grafana/dashboards:{path}:ro" in text
    compose = yaml.safe_load(re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)[0])
    given = compose["services"]["grafana"]["environment"]
    assert SOURCE["type"] in given["GF_PLUGINS_PREINSTALL"]
    wanted = {SOURCE["url"], SOURCE["secureJsonData"]["apiKeyValue"]}
    assert {f"${name}" for name in given} >= wanted


def test_panels_do_not_overlap() -> None:
    cells = [
        (x, y)
        for panel in DASHBOARD["panels"]
        for x in range(panel["gridPos"]["x"], panel["gridPos"]["x"] + panel["gridPos"]["w"])
        for y in range(panel["gridPos"]["y"], panel["gridPos"]["y"] + panel["gridPos"]["h"])
    ]
    assert len(cells) == len(set(cells))
    assert max(x for x, _ in cells) < 24
