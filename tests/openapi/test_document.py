"""The OpenAPI document: valid, complete, and with the same facts as the validating code."""

from __future__ import annotations

import re
from typing import Any

import pytest
from schemathesis.specs.openapi.definitions import OPENAPI_30_VALIDATOR

from api import timez
from api.catalog import LIMIT, MAX_DATAPOINTS, OFFSET, PATH_PREFIX, SITE_ROOT
from api.params.param_types import ZONE_PATTERN
from tests.contract.test_datapoints import RESOLUTIONS
from tests.tables import cases
from tests.world import World

PREFIX = "/management/v1"


@pytest.fixture(scope="module")
def document(world: World) -> dict[str, Any]:
    return world.json("/api-json")


def operations(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {path.removeprefix(PREFIX): item["get"] for path, item in document["paths"].items()}


def parameters(document: dict[str, Any], path: str) -> dict[str, dict[str, Any]]:
    return {p["name"]: p for p in operations(document)[path]["parameters"]}


def test_it_is_a_valid_openapi_3_0_document(document: dict[str, Any]) -> None:
    assert document["openapi"] == "3.0.3"
    assert [str(error) for error in OPENAPI_30_VALIDATOR.iter_errors(document)] == []


@pytest.mark.parametrize(("root", "server"), [("", "/"), ("/weir", "/weir")])
def test_its_server_is_the_sites_address(world: World, root: str, server: str) -> None:
    sent = {"headers": world.credentials["all"].headers, "environ_overrides": {SITE_ROOT: root}}
    answer = world.client.get(f"{PATH_PREFIX}/api-json", **sent)
    assert answer.get_json()["servers"] == [{"url": server}]


def test_it_has_the_interface_s_version(document: dict[str, Any]) -> None:
    assert document["info"]["version"] == "1.0.0"


def test_every_reference_resolves(document: dict[str, Any]) -> None:
    def references(part: Any) -> list[str]:
        if isinstance(part, dict):
            own = [part["$ref"]] if isinstance(part.get("$ref"), str) else []
            return own + [r for value in part.values() for r in references(value)]
        return [r for value in part for r in references(value)] if isinstance(part, list) else []

    result = references(document)
    assert result
    for reference in result:
        target: Any = document
        for step in reference.removeprefix("#/").split("/"):
            target = target[step]


# The interface's tables of query parameters: name → type, required.
PARAMETERS: dict[str, dict[str, tuple[str, bool]]] = {
    "/organizations/mine": {},
    "/version": {},
    "/api-json": {},
    "/device": {
        "limit": ("number", False), "offset": ("number", False), "order": ("string", False),
        "orderBy": ("string", False), "pagination": ("boolean", False),
        "serialNumber": ("string", False), "networkUniqueIdentifier": ("string", False),
        "active": ("string", False),
    },
    "/flow/datapoints/{id}": {
        "id": ("string", True), "resolution": ("string", True), "from": ("string", False),
        "to": ("string", False), "limit": ("number", False), "offset": ("number", False),
        "count": ("boolean", False), "timezone": ("string", False), "filter": ("array", False),
    },
    "/flow/adaptive/{id}": {
        "id": ("string", True), "from": ("string", True), "to": ("string", True),
        "maxDatapoints": ("number", False), "timezone": ("string", False),
    },
    "/flow/latest": {
        "ids": ("string", True), "metrics": ("array", True), "from": ("string", False),
        "to": ("string", False), "uptimeResolution": ("string", False),
    },
}  # fmt: skip


def test_the_parameters_are_the_interface_s(document: dict[str, Any]) -> None:
    shown = {
        path: {p["name"]: (p["schema"]["type"], p["required"]) for p in operation["parameters"]}
        for path, operation in operations(document).items()
    }
    assert shown == PARAMETERS


@cases(
    ("path", "name", "facts"),
    [
        ("/flow/datapoints/{id}", "limit", {"minimum": 1, "maximum": 10_000, "default": 1000}),
        ("/flow/datapoints/{id}", "offset", {"minimum": 0, "default": 0}),
        ("/flow/datapoints/{id}", "resolution", {"enum": list(RESOLUTIONS)}),
        ("/flow/datapoints/{id}", "from", {"format": "date-time"}),
        ("/flow/datapoints/{id}", "timezone", {"format": "iana-time-zone"}),
        ("/flow/adaptive/{id}", "maxDatapoints",
         {"minimum": 1, "maximum": 10_000, "default": 1000}),
        ("/flow/latest", "uptimeResolution",
         {"enum": ["1min", "5min", "10min", "1hour"], "default": "1min"}),
        ("/device", "active", {"enum": ["true", "false", "null"], "default": "true"}),
        ("/device", "pagination", {"default": False}),
        ("/device", "order", {"default": "asc"}),
        ("/device", "orderBy", {"default": "label"}),
    ],
)  # fmt: skip
def test_limits_defaults_and_enumerations_are_documented(
    document: dict[str, Any], path: str, name: str, facts: dict[str, Any]
) -> None:
    schema = parameters(document, path)[name]["schema"]
    assert {key: schema.get(key) for key in facts} == facts


def test_the_limits_are_those_that_validate(document: dict[str, Any]) -> None:
    shown = {name: p["schema"] for name, p in parameters(document, "/flow/datapoints/{id}").items()}
    assert (shown["limit"]["minimum"], shown["limit"]["maximum"]) == (LIMIT.minimum, LIMIT.maximum)
    assert shown["offset"]["minimum"] == OFFSET.minimum
    budget = parameters(document, "/flow/adaptive/{id}")["maxDatapoints"]["schema"]
    assert budget["default"] == MAX_DATAPOINTS.default


def test_zones_are_a_format_not_a_list(document: dict[str, Any]) -> None:
    for path in ("/flow/datapoints/{id}", "/flow/adaptive/{id}"):
        assert "enum" not in parameters(document, path)["timezone"]["schema"]


def test_operations_have_chosen_names(document: dict[str, Any]) -> None:
    assert {path: op["operationId"] for path, op in operations(document).items()} == {
        "/organizations/mine": "listMyOrganizations",
        "/version": "getVersion",
        "/device": "listDevices",
        "/api-json": "getApiJson",
        "/flow/datapoints/{id}": "getDatapoints",
        "/flow/adaptive/{id}": "getAdaptive",
        "/flow/latest": "getLatest",
    }


def test_all_but_the_version_need_one_of_two_credentials(document: dict[str, Any]) -> None:
    assert document["security"] == [{"serviceApiKey": []}, {"bearer": []}]
    schemes = document["components"]["securitySchemes"]
    assert (schemes["serviceApiKey"]["name"], schemes["serviceApiKey"]["in"]) == (
        "service-api-key", "header",
    )  # fmt: skip
    assert (schemes["bearer"]["scheme"], schemes["bearer"]["bearerFormat"]) == ("bearer", "JWT")
    open_to_all = {path for path, op in operations(document).items() if op.get("security") == []}
    assert open_to_all == {"/version"}


def test_errors_are_documented_as_problems(document: dict[str, Any]) -> None:
    for path, op in operations(document).items():
        statuses = set(op["responses"]) - {"200", "304"}
        assert {"400", "500", "503"} <= statuses
        assert ({"401", "403", "429"} <= statuses) == (path != "/version")
        assert ("404" in statuses) == ("{id}" in path)
        for status in statuses:
            name = op["responses"][status]["$ref"].rsplit("/", 1)[1]
            response = document["components"]["responses"][name]
            assert set(response["content"]) == {"application/problem+json"}


# The interface's objects: required fields, then the others.
OBJECTS: dict[str, tuple[str, str]] = {
    "Organization": ("id name created",
        "active updated defaultCostPerGallon accountOrganizations subscriptions"),
    "Device": ("id category serialNumber created updated label installedOn installed"
        " costPerGallon alertsActive kFactor deviceTimeZone model networkUniqueIdentifier",
        "organizationId resellerId config distributorId billingSubscriptions"),
    "VersionResponse": ("version", ""),
    "PaginatedDeviceResponse": ("data total", ""),
    "DatapointsResponse": ("resolution", "timezone limit offset data count"),
    "AdaptiveResponse": ("resolution count truncated timezone data", ""),
    "LatestResponse": ("range qualityResolution uptimeResolution expectedBuckets data", ""),
    "LatestEntry": ("deviceId serialNumber networkUniqueIdentifier",
        "lastSeen uptime quality lastDatapoint"),
    "LatestDatapoint": ("recordedAt flowRate flowDuration flowAmount quality signalStrength"
        " networkRssi onboardTemperature", ""),
    "DevicePreviewResponse": ("billingInterval", "preview planKey additional plan"),
    "TransferDeviceBillingStatus": (
        "sourceSubscriptionsCanceled targetSubscriptionCreated errors", ""),
    "TransferDeviceResponseDto": ("device billing", ""),
    "TransferDevicePreviewResponseDto": (
        "preview planKey billingInterval additional plan sourceSubscription", ""),
    "Problem": ("type title status detail instance", "errors"),
}  # fmt: skip


@cases("name", OBJECTS)
def test_objects_have_the_interface_s_fields(document: dict[str, Any], name: str) -> None:
    required, others = (set(fields.split()) for fields in OBJECTS[name])
    schema = document["components"]["schemas"][name]
    assert set(schema["properties"]) == required | others
    assert set(schema["required"]) == required


def test_there_are_no_other_objects(document: dict[str, Any]) -> None:
    assert set(document["components"]["schemas"]) == set(OBJECTS)


@cases("resolution", RESOLUTIONS)
def test_rows_are_described_column_by_column(document: dict[str, Any], resolution: str) -> None:
    schema = document["components"]["schemas"]["DatapointsResponse"]["properties"]["data"]
    assert f"{resolution}: " in schema["items"]["description"]


def test_the_columns_of_our_own_charts_are_not_documented(document: dict[str, Any]) -> None:
    assert "vnd.weir" not in str(document)


def test_every_zone_fits_the_pattern_of_timezone() -> None:
    assert [name for name in timez.zone_names() if not re.search(ZONE_PATTERN, name)] == []
    for wrong in ("", "America/", "/UTC", "+05:30", "America/Den ver", "a/b/c/d"):
        assert not re.search(ZONE_PATTERN, wrong)
