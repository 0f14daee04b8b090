"""`/insight/v1/volumes`: devices and groups side by side, each as if requested alone."""

from __future__ import annotations

from itertools import pairwise
from typing import Any
from urllib.parse import urlencode

import pytest

from api.catalog import DAY, INSIGHT_PREFIX
from api.client import Client, Credential
from api.errors import NotFound
from api.timez import parse_instant
from tests.tables import cases
from tests.world import FOREIGN, METER, TWIN, World

SPAN = {"from": "2026-03-06T05:00:00Z", "to": "2026-03-11T03:59:59.999Z"}  # New York's days


def ask(world: World, *items: str, by: str = "all", **query: Any) -> Any:
    pairs = [("item", item) for item in items] + list({**SPAN, **query}.items())
    return world.client.get(
        f"{INSIGHT_PREFIX}/volumes?{urlencode(pairs)}", headers=dict(world.credentials[by].headers)
    )


def got(world: World, *items: str, **query: Any) -> Any:
    answer = ask(world, *items, **query)
    assert answer.status_code == 200, answer.text
    return answer.json


def alone(world: World, device: str, resolution: str) -> dict[int, float]:
    """Start of the bucket → gallons, from the readings endpoint."""
    calendar = {"timezone": "America/New_York"} if resolution == "day" else {}
    rows = world.json(
        f"/flow/datapoints/{device}",
        {"resolution": resolution, "limit": 1000, **SPAN, **calendar},
    )["data"]
    start = "bucket" if resolution == "day" else f"bucket_{resolution}"
    return {
        parse_instant(row[start]): row["total_flow_amount"]
        for row in rows
        if row["total_flow_amount"] is not None
    }


@cases("resolution", ["1hour", "day"])
def test_a_group_is_the_sum_of_its_devices(world: World, resolution: str) -> None:
    """Over the 23-hour day of 8 March; the first device's zone decides the days."""
    result = got(world, f"device:{METER}", "device:net-t1", "group:north", resolution=resolution)
    assert result["timezone"] == "America/New_York"
    starts = [parse_instant(start) for start in result["starts"]]
    expected = [alone(world, METER, resolution), alone(world, TWIN, resolution)]
    for item, own in zip(result["data"], expected, strict=False):
        assert item["volumes"] == [pytest.approx(own[at]) if at in own else None for at in starts]
        assert item["volume"] == pytest.approx(sum(own.values()))
    group = result["data"][2]
    both = [[own[at] for own in expected if at in own] for at in starts]
    assert group["volumes"] == [pytest.approx(sum(each)) if each else None for each in both]
    assert (group["devices"], group["kind"], group["deviceId"]) == (3, "group", None)
    if resolution == "day":
        assert [b - a for a, b in pairwise(starts)][2] == 23 * 3_600_000


def test_coverage_is_the_share_of_expected_readings(world: World) -> None:
    meter, quiet = got(world, f"device:{METER}", "device:Q 1")["data"]
    assert 0.9 < meter["coverage"] <= 1
    assert (quiet["coverage"], quiet["volume"]) == (0, None)


@cases(
    ("items", "labels"),
    [
        (("device:nobody", f"device:{TWIN}", "group:nowhere"), ["alpha"]),
        ((f"device:{FOREIGN}", "group:north"), ["north"]),
    ],
)
def test_missing_items_are_left_out(
    world: World, items: tuple[str, ...], labels: list[str]
) -> None:
    assert [each["label"] for each in got(world, *items)["data"]] == labels


def test_a_group_has_only_the_devices_in_scope(world: World) -> None:
    by = next(name for name, each in world.credentials.items() if each.sees == {TWIN})
    assert ask(world, f"device:{METER}", by=by).status_code == 404
    assert ask(world, f"device:{FOREIGN}").status_code == 404


@cases(
    ("items", "query", "parameter"),
    [
        ((), {}, "item"),
        (("device:",), {}, "item"),
        (("floor:3",), {}, "item"),
        ((f"device:{METER}",) * 51, {}, "item"),
        ((f"device:{METER}",), {"resolution": "raw"}, "resolution"),
        ((f"device:{METER}",), {"from": "2020-01-01T00:00:00Z", "resolution": "1hour"},
         "resolution"),
        ((f"device:{METER}",), {"to": "2020-01-01T00:00:00Z"}, "from"),
        ((f"device:{METER}",), {"timezone": "Mars"}, "timezone"),
    ],
)  # fmt: skip
def test_an_invalid_request_names_its_parameter(
    world: World, items: tuple[str, ...], query: dict[str, str], parameter: str
) -> None:
    answer = ask(world, *items, **query)
    assert answer.status_code == 400
    assert [error["parameter"] for error in answer.json["errors"]] == [parameter]


def test_the_client_reads_them(world: World) -> None:
    key = world.credentials["all"].headers["service-api-key"]
    client = Client.in_process(world.client.application, Credential.key(key))
    from_ms, to_ms = (parse_instant(SPAN[end]) for end in ("from", "to"))
    reply = client.volumes(["device:M-1", "group:north"], DAY, from_ms=from_ms, to_ms=to_ms)
    assert len(reply.edges_ms) == 6
    assert [len(each.volumes) for each in reply.items] == [5, 5]
    with pytest.raises(NotFound):
        client.volumes(["device:nobody"], DAY, from_ms=from_ms, to_ms=to_ms)
