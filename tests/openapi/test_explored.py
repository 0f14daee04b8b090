"""Requests generated from the OpenAPI document: allowed ones get a documented response, others are
refused, and nothing breaks.

500 cases here, the same each time; ``API_CASES=5000 make test ARGS=tests/openapi`` tries more.
"""

from __future__ import annotations

import math
import os
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st
from schemathesis import Case, GenerationMode
from schemathesis.schemas import APIOperation, BaseSchema

from api import timez
from api.catalog import AGGREGATED_FILTER_FIELDS, RAW_FILTER_FIELDS
from api.params import ZONE_FORMAT
from api.routes import ROUTES
from tests.world import GATEWAY, LONE, METER, OLD, TWIN, World

CASES = int(os.environ.get("API_CASES", "500"))
DEVICES = (METER, TWIN, LONE, OLD, GATEWAY, "M-1", "net-t1", "L/1")

schemathesis.openapi.format(ZONE_FORMAT, st.sampled_from(sorted(timez.zone_names())))


@pytest.fixture(scope="module")
def document(world: World) -> BaseSchema:
    document = schemathesis.openapi.from_dict(world.json("/api-json"))
    document.app = world.client.application
    return document


def operation(document: BaseSchema, path: str) -> APIOperation[Any, Any, Any, Any]:
    results = (result.ok() for result in document.get_all_operations())
    return next(each for each in results if each.path == path)


def consistent(query: dict[str, Any]) -> bool:
    """Whether the parameters fit together, which the document can't express: the order of the ends,
    a filter's field at this resolution, a number that a double can represent."""
    fields = RAW_FILTER_FIELDS if query.get("resolution") == "raw" else AGGREGATED_FILTER_FIELDS
    for text in query.get("filter", ()):
        field, _, value = text.split(":")
        if field not in fields or not math.isfinite(float(value.replace(" ", "+"))):
            return False
    if "from" not in query:
        return True
    try:
        start = timez.parse_instant(query["from"])
        end = timez.parse_instant(query["to"]) if "to" in query else timez.now_ms()
    except ValueError:  # year 0 in UTC, once the offset is applied
        return False
    return start <= end or ("to" not in query and "resolution" in query)


MODES = {
    (route.operation.path, mode)
    for route in ROUTES
    for mode in GenerationMode
    if not (route.operation.public and mode is GenerationMode.NEGATIVE)  # no condition to negate
}


@pytest.mark.parametrize(
    ("path", "mode"), sorted(MODES), ids=lambda part: getattr(part, "value", part)
)
def test_the_service_responds_as_documented(
    world: World, document: BaseSchema, path: str, mode: GenerationMode
) -> None:
    headers = dict(world.credentials["all"].headers)

    @settings(
        max_examples=math.ceil(CASES / len(MODES)),
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(
        case=operation(document, path).as_strategy(generation_mode=mode),
        device=st.none() | st.sampled_from(DEVICES),
    )
    def explore(case: Case, device: str | None) -> None:
        if mode is GenerationMode.POSITIVE:
            assume(consistent(dict(case.query or {})))
            if device is not None and "{id}" in path:
                case.path_parameters = {"id": device}
        case.call_and_validate(headers=headers)

    explore()
