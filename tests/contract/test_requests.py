"""Query parameters: the interface's tables of parameters and limits, row for row, and the rules for
reading them."""

from __future__ import annotations

from typing import Any

from tests.tables import cases
from tests.world import METER, World

DATAPOINTS = f"/flow/datapoints/{METER}"
ADAPTIVE = f"/flow/adaptive/{METER}"
RANGE = {"from": "2026-03-08T00:00:00Z", "to": "2026-03-08T02:00:00Z"}
NEEDED: dict[str, dict[str, str]] = {  # the required parameters of each endpoint
    "/organizations/mine": {},
    "/version": {},
    "/api-json": {},
    "/device": {},
    DATAPOINTS: {"resolution": "1hour"},
    ADAPTIVE: RANGE,
    "/flow/latest": {"ids": METER, "metrics": "uptime"},
}


def problems(world: World, path: str, query: Any) -> dict[str, str]:
    """Parameter → detail of a 400; empty for a 200."""
    answer = world.get(path, query)
    assert answer.status_code in (200, 400), answer.text
    if answer.status_code == 200:
        return {}
    return {e["parameter"]: e["detail"] for e in answer.get_json(force=True)["errors"]}


@cases(("path", "needed"), NEEDED.items())
def test_required_parameters_are_enough(world: World, path: str, needed: dict[str, str]) -> None:
    assert problems(world, path, needed) == {}


@cases(("path", "name"), [(path, name) for path, needed in NEEDED.items() for name in needed])
def test_a_missing_parameter_is_named(world: World, path: str, name: str) -> None:
    rest = {other: value for other, value in NEEDED[path].items() if other != name}
    assert problems(world, path, rest) == {name: "is required"}


@cases("path", NEEDED)
def test_an_unknown_parameter_is_named(world: World, path: str) -> None:
    query = {**NEEDED[path], "timzone": "UTC", "Limit": "5"}
    unknown = "is not a parameter of this endpoint"
    assert problems(world, path, query) == {"timzone": unknown, "Limit": unknown}


@cases("path", NEEDED)
def test_names_with_a_leading_underscore_are_ignored(world: World, path: str) -> None:
    assert problems(world, path, [*NEEDED[path].items(), ("_", "1"), ("_t", ""), ("_t", "")]) == {}


LIMITS = [
    (DATAPOINTS, "limit", "1", True),
    (DATAPOINTS, "limit", "10000", True),
    (DATAPOINTS, "limit", "0", False),
    (DATAPOINTS, "limit", "-1", False),
    (DATAPOINTS, "limit", "10001", False),
    (DATAPOINTS, "offset", "0", True),
    (DATAPOINTS, "offset", "1000000000", True),
    (DATAPOINTS, "offset", "9" * 40, True),
    (DATAPOINTS, "offset", "-1", False),
    (ADAPTIVE, "maxDatapoints", "1", True),
    (ADAPTIVE, "maxDatapoints", "10000", True),
    (ADAPTIVE, "maxDatapoints", "0", False),
    (ADAPTIVE, "maxDatapoints", "10001", False),
    ("/device", "limit", "1", True),
    ("/device", "limit", "1000000000", True),
    ("/device", "limit", "9" * 40, True),
    ("/device", "limit", "0", False),
    ("/device", "offset", "9" * 40, True),
    ("/device", "offset", "-1", False),
]

NUMBERS = [
    ("1000.0", True),
    ("1e3", True),
    ("1E+3", True),
    ("0100", True),
    ("5.5", False),
    ("1_000", False),
    ("٣", False),
    ("1,000", False),
    ("0x10", False),
    (" 5", False),
    ("NaN", False),
    ("inf", False),
    ("1e999", False),
    ("five", False),
]


@cases(
    ("path", "name", "value", "fine"),
    LIMITS + [(DATAPOINTS, "limit", value, fine) for value, fine in NUMBERS],
)
def test_numbers_are_whole_and_within_limits(
    world: World, path: str, name: str, value: str, fine: bool
) -> None:
    assert set(problems(world, path, {**NEEDED[path], name: value})) == (set() if fine else {name})


def test_limits_have_their_defaults(world: World) -> None:
    reply = world.json(DATAPOINTS, {"resolution": "raw"})
    assert (reply["limit"], reply["offset"], len(reply["data"])) == (1000, 0, 1000)
    year = {"from": "2026-01-01", "to": "2027-01-01"}
    assert world.json(ADAPTIVE, year)["count"] <= 1000


WORDS = [
    (DATAPOINTS, "resolution", "raw 1min 5min 10min 1hour day month total", "2min hour RAW 1Hour"),
    (DATAPOINTS, "count", "true false", "True 1 yes"),
    (DATAPOINTS, "timezone", "UTC Asia/Kolkata America/New_York Etc/GMT+5 EST5EDT",
     "utc Asia/Kalkuta +01:00 ../UTC Asia/ localtime"),
    ("/device", "pagination", "true false", "TRUE 0"),
    ("/device", "active", "true false null", "None all"),
    ("/device", "order", "asc desc ASC Desc", "up ascending"),
    ("/device", "orderBy", "id category serialNumber created updated label installedOn installed"
     " alertsActive deviceTimeZone model organizationId resellerId distributorId"
     " networkUniqueIdentifier", "config costPerGallon kFactor billingSubscriptions Label key"),
    ("/flow/latest", "uptimeResolution", "1min 5min 10min 1hour", "raw day month total"),
    ("/flow/latest", "metrics", "uptime lastSeen lastDatapoint quality uptime,quality",
     "Uptime seen uptime, ,uptime uptime,,quality"),
]  # fmt: skip


@cases(
    ("path", "name", "word", "fine"),
    [
        (path, name, word, fine)
        for path, name, good, bad in WORDS
        for words, fine in ((good, True), (bad, False))
        for word in words.split(" ")
    ],
)
def test_enumerated_values_are_exact(
    world: World, path: str, name: str, word: str, fine: bool
) -> None:
    query = {**NEEDED[path], name: word}
    assert set(problems(world, path, query)) == (set() if fine else {name})


INSTANTS = [
    ("2026-03-08T01:30:00Z", "2026-03-08T01:30:00.000Z"),
    ("2026-03-08t01:30:00z", "2026-03-08T01:30:00.000Z"),
    ("2026-03-08T01:30Z", "2026-03-08T01:30:00.000Z"),
    ("2026-03-08 01:30:00", "2026-03-08T01:30:00.000Z"),
    ("2026-03-07T20:30:00-05:00", "2026-03-08T01:30:00.000Z"),
    ("2026-03-08T07:00:00+05:30", "2026-03-08T01:30:00.000Z"),
    ("2026-03-08T07:00:00+0530", "2026-03-08T01:30:00.000Z"),
    ("2026-03-08T01:30:00.1239999Z", "2026-03-08T01:30:00.123Z"),
    ("2026-03-08", "2026-03-08T00:00:00.000Z"),
    ("2026-02-30", None),
    ("2026-03-08T25:00:00Z", None),
    ("2026-03-08T01:30:00+25:00", None),
    ("08/03/2026", None),
    ("1772928000", None),
    ("now", None),
    ("2026-03-08T01:30:00 EST", None),
    ("0000-01-01", None),
]


@cases(("text", "meant"), INSTANTS)
def test_instants_are_iso_8601_in_utc_by_default(
    world: World, text: str, meant: str | None
) -> None:
    query = {**NEEDED["/flow/latest"], "from": text, "to": text}
    if meant is None:
        assert set(problems(world, "/flow/latest", query)) == {"from", "to"}
    else:
        assert world.json("/flow/latest", query)["range"] == {"from": meant, "to": meant}


def test_a_plus_that_was_decoded_as_a_space_is_still_a_plus(world: World) -> None:
    bare = f"{DATAPOINTS}?resolution=raw&count=true&from=2026-03-08T07:00:00+05:30"
    meant = {"resolution": "raw", "count": "true", "from": "2026-03-08T01:30:00Z"}
    sent = world.client.get(f"/management/v1{bare}", headers=dict(world.credentials["all"].headers))
    assert sent.json == world.json(DATAPOINTS, meant)


def test_no_offset_means_utc_even_with_a_timezone(world: World) -> None:
    ends = {"from": "2026-03-08T00:00:00", "to": "2026-03-08T02:00:00"}
    zoned = {"resolution": "1hour", "timezone": "America/New_York", **ends}
    assert [row["bucket_1hour"] for row in world.json(DATAPOINTS, zoned)["data"]] == [
        "2026-03-07T19:00:00-05:00",
        "2026-03-07T20:00:00-05:00",
        "2026-03-07T21:00:00-05:00",
    ]


@cases("path", [DATAPOINTS, ADAPTIVE, "/flow/latest"])
def test_from_may_equal_to_but_not_follow_it(world: World, path: str) -> None:
    ends = {"from": "2026-03-08T00:00:00.001Z", "to": "2026-03-08T00:00:00Z"}
    assert problems(world, path, NEEDED[path] | ends) == {"from": "must not be after to"}
    ends["from"] = ends["to"]
    assert problems(world, path, NEEDED[path] | ends) == {}


def test_latest_from_may_not_follow_now(world: World) -> None:
    query = NEEDED["/flow/latest"] | {"from": "2999-01-01"}
    assert problems(world, "/flow/latest", query) == {"from": "must not be after to"}


@cases(
    ("path", "name"),
    [
        (DATAPOINTS, "resolution"), (DATAPOINTS, "from"), (DATAPOINTS, "to"),
        (DATAPOINTS, "limit"), (DATAPOINTS, "offset"), (DATAPOINTS, "count"),
        (DATAPOINTS, "timezone"), (DATAPOINTS, "filter"), (ADAPTIVE, "from"), (ADAPTIVE, "to"),
        (ADAPTIVE, "maxDatapoints"), (ADAPTIVE, "timezone"), ("/flow/latest", "ids"),
        ("/flow/latest", "metrics"), ("/flow/latest", "uptimeResolution"), ("/device", "limit"),
        ("/device", "order"), ("/device", "orderBy"), ("/device", "pagination"),
        ("/device", "serialNumber"), ("/device", "networkUniqueIdentifier"), ("/device", "active"),
    ],
)  # fmt: skip
def test_an_empty_parameter_is_refused(world: World, path: str, name: str) -> None:
    assert set(problems(world, path, {**NEEDED[path], name: ""})) == {name}


@cases(
    ("path", "name", "value"),
    [
        (DATAPOINTS, "resolution", "1hour"),
        (DATAPOINTS, "limit", "5"),
        (ADAPTIVE, "from", RANGE["from"]),
        ("/flow/latest", "to", RANGE["to"]),
        ("/device", "active", "true"),
        ("/device", "serialNumber", "M-1"),
    ],
)
def test_a_repeated_scalar_is_refused(world: World, path: str, name: str, value: str) -> None:
    rest = {other: text for other, text in NEEDED[path].items() if other != name}
    query = [*rest.items(), (name, value), (name, value)]
    assert problems(world, path, query) == {name: "is given more than once"}


def test_lists_may_be_comma_separated_repeated_or_both(world: World) -> None:
    ends = {"to": RANGE["to"]}
    once = world.json("/flow/latest", {"ids": "M-1,T-1", "metrics": "uptime,quality", **ends})
    twice = {"ids": ["M-1", "T-1"], "metrics": ["uptime", "quality"], **ends}
    mixed = {"ids": ["M-1,T-1", "M-1"], "metrics": ["uptime,quality", "uptime"], **ends}
    assert world.json("/flow/latest", twice) == once == world.json("/flow/latest", mixed)


def test_every_problem_is_named_at_once(world: World) -> None:
    query = [
        ("resolution", "weekly"), ("from", "2026-03-09"), ("to", "2026-03-08"), ("limit", "0"),
        ("offset", "x"), ("count", "maybe"), ("timezone", "Mars/Base"), ("filter", "flow:gt:1"),
        ("page", "2"), ("limit", "2"),
    ]  # fmt: skip
    result = problems(world, DATAPOINTS, query)
    assert set(result) == {name for name, _ in query} - {"to"}


@cases(("number", "fine"), [(1, True), (50, True), (51, False)])
def test_latest_takes_fifty_ids_counted_with_repeats(world: World, number: int, fine: bool) -> None:
    for ids in (["M-1"] * number, ",".join(["M-1"] * number)):
        query = {"ids": ids, "metrics": "uptime"}
        assert set(problems(world, "/flow/latest", query)) == (set() if fine else {"ids"})


FILTERS = [
    ("flowRate:gt:1", True, True),
    ("flowAmount:lte:-1.5", True, True),
    ("quality:eq:1e2", True, True),
    ("signalStrength:neq:0", True, True),
    ("networkRssi:gte:1e+1", True, True),
    ("onboardTemperature:lt:20", True, True),
    ("flowDuration:gt:1", True, False),
    ("minFlowRate:gt:1", False, True),
    ("maxFlowRate:gt:1", False, True),
    ("minQuality:gt:1", False, True),
    ("maxQuality:gt:1", False, True),
    ("minSignalStrength:gt:1", False, True),
    ("maxSignalStrength:gt:1", False, True),
    ("minNetworkRssi:gt:1", False, True),
    ("maxNetworkRssi:gt:1", False, True),
    ("minOnboardTemperature:gt:1", False, True),
    ("maxOnboardTemperature:gt:1", False, True),
    ("minFlowAmount:gt:1", False, False),
    ("avgFlowRate:gt:1", False, False),
    ("totalFlowAmount:gt:1", False, False),
    ("flow_rate:gt:1", False, False),
    ("flowRate:like:1", False, False),
    ("flowRate:GT:1", False, False),
    ("flowRate:gt:", False, False),
    ("flowRate:gt", False, False),
    ("flowRate", False, False),
    ("flowRate:gt:1:2", False, False),
    ("flowRate:gt:abc", False, False),
    ("flowRate:gt:NaN", False, False),
    ("flowRate:gt:1e999", False, False),
    ("flowRate:gt:1_0", False, False),
    ("flowRate:gt: 1", False, False),
]


@cases("resolution", ["raw", "1min", "5min", "10min", "1hour", "day", "month", "total"])
@cases(("text", "on_raw", "on_aggregated"), FILTERS)
def test_filters_check_fields_operators_and_numbers(
    world: World, resolution: str, text: str, on_raw: bool, on_aggregated: bool
) -> None:
    fine = on_raw if resolution == "raw" else on_aggregated
    query = {"resolution": resolution, "count": "true", "filter": text}
    assert set(problems(world, DATAPOINTS, query)) == (set() if fine else {"filter"})


@cases(("number", "fine"), [(20, True), (21, False)])
def test_at_most_twenty_filters(world: World, number: int, fine: bool) -> None:
    query = [("resolution", "raw"), ("count", "true")] + [("filter", "flowRate:gt:1")] * number
    assert set(problems(world, DATAPOINTS, query)) == (set() if fine else {"filter"})


def test_a_value_is_never_echoed_at_length(world: World) -> None:
    answer = world.get(DATAPOINTS, {"resolution": "raw", "timezone": "x" * 3000})
    assert answer.status_code == 400
    assert len(answer.data) < 1000
