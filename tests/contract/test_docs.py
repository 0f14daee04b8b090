"""docs/service.md is complete, and its examples are true."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from api.catalog import AGGREGATE_COLUMNS, AGGREGATES, RAW_COLUMNS, RAW_FILTER_FIELDS, RESOLUTIONS
from api.errors import STATUS_ERRORS, StoreMissing
from api.routes import ROUTES
from tests.tables import cases
from tests.world import World

TEXT = (Path(__file__).parents[2] / "docs" / "service.md").read_text("utf-8")
EXAMPLES = re.findall(r"^GET (\S+)\n→ (\d{3}) (\{.*\})$", TEXT, re.MULTILINE)

PARAMETERS = {
    name
    for route in ROUTES
    for name in route.operation.query.model_json_schema().get("properties", {})
}


@cases(
    "named",
    sorted(
        {route.operation.path for route in ROUTES}
        | PARAMETERS
        | {resolution.name for resolution in RESOLUTIONS}
        | {resolution.stamp for resolution in RESOLUTIONS if resolution.stamp}
        | {error.code for error in (*STATUS_ERRORS.values(), StoreMissing)}
        | set(RAW_FILTER_FIELDS)
        | set(RAW_COLUMNS)
    ),
)
def test_every_endpoint_parameter_and_term_is_named(named: str) -> None:
    assert f"`{named}`" in TEXT or f"`{named}=" in TEXT


def test_every_aggregated_column_follows_from_the_text() -> None:
    fields = {
        "avg": "flow_rate flow_amount quality signal_strength network_rssi onboard_temperature"
    }
    fields["min"] = fields["max"] = fields["avg"].replace("flow_amount ", "")
    fields["total"] = "flow_amount"
    named = {f"{function}_{name}" for function, names in fields.items() for name in names.split()}
    assert named == set(AGGREGATE_COLUMNS)
    assert len(AGGREGATES) == len(named)


def test_there_are_examples_of_each_kind() -> None:
    shown = " ".join(path for path, _, _ in EXAMPLES)
    assert TEXT.count("\nGET ") == len(EXAMPLES)
    for path in ("/device", "/flow/datapoints/", "/flow/adaptive/", "/flow/latest"):
        assert path in shown


@cases(("url", "status", "owed"), EXAMPLES)
def test_an_example_has_the_shown_response(world: World, url: str, status: str, owed: str) -> None:
    answer = world.client.get(url, headers=dict(world.credentials["all"].headers))
    assert answer.status_code == int(status)
    assert_within(json.loads(owed), answer.get_json(force=True))


def assert_within(owed: Any, responses: Any) -> None:
    """Everything in the example is in the response, which may have more fields."""
    if isinstance(owed, dict):
        for name, value in owed.items():
            assert_within(value, responses[name])
    elif isinstance(owed, list):
        assert len(owed) == len(responses)
        for shown, value in zip(owed, responses, strict=True):
            assert_within(shown, value)
    else:
        assert owed == responses
