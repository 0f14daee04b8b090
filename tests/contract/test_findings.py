"""`/insight/v1/findings`: scope, order, evidence, and dismissal as "not a problem"."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import pytest

from api.catalog import HOUR_MS, INSIGHT_PREFIX, KEY_HEADER
from api.client import Client, Credential
from api.errors import Conflict, NotFound
from api.insight.finding_evaluator import Evaluator
from api.insight.findings import KINDS, SEVERITIES
from api.roles import Role
from api.store.base import AuditQuery, Grant, ReadingRow
from api.timez import parse_instant
from tests import citus
from tests.insight.series import START, changed, district, household
from tests.store.fleet import reading
from tests.tables import cases
from tests.world import FOREIGN, GATEWAY, LONE, METER, QUIET, TWIN, World, opened
from tests.world import Credential as As

ROW = {
    "id", "deviceId", "serialNumber", "kind", "severity", "state", "start", "end", "openedAt",
    "value", "unit", "usual", "gallons", "costPerDay", "words",
}  # fmt: skip


@pytest.fixture(scope="module", params=citus.FILE_OR_CLUSTER)
def world(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[World]:
    """Leaks in some meters and in one of another organization, all evaluated."""
    with (
        citus.place(request.param, tmp_path_factory.mktemp("findings")) as url,
        opened(url) as world,
    ):
        for id, gallons in ((METER, 54.0), (LONE, 3.0), (QUIET, 9.0), (FOREIGN, 99.0)):
            world.store.write(leak(world, id, gallons))
        Evaluator(world.store).up_to_date()
        secret = world.new_key(Grant(everything=True), role=Role.ADMINISTRATOR)[0]
        world.credentials["administrator"] = As({KEY_HEADER: secret}, world.credentials["all"].sees)
        yield world


def leak(world: World, id: str, gallons: float) -> list[ReadingRow]:
    return [
        reading(world.devices[id], START + n * HOUR_MS, flow_amount=value + gallons * (n >= 240))
        for n, value in enumerate(household(20))
    ]


def get(world: World, path: str = "", by: str = "all", **query: Any) -> Any:
    answer = world.client.get(
        f"{INSIGHT_PREFIX}/findings{path}?{urlencode(query, doseq=True)}",
        headers=dict(world.credentials[by].headers),
    )
    assert answer.status_code == 200, answer.text
    return answer.json


def post(world: World, path: str, body: Any = None, by: str = "all") -> Any:
    return world.client.post(
        f"{INSIGHT_PREFIX}/findings{path}",
        json=body if body is not None else {},
        headers=dict(world.credentials[by].headers),
    )


def leaks(world: World, **query: Any) -> list[Any]:
    return list(get(world, kind="continuous-flow", **query)["data"])


def test_a_row_has_exactly_the_fields_of_the_contract(world: World) -> None:
    page = get(world)
    assert page.keys() == {"count", "limit", "offset", "data"}
    assert (page["limit"], page["offset"]) == (100, 0)
    assert len(page["data"]) == min(page["count"], 100)
    assert all(row.keys() == ROW for row in page["data"])
    assert {row["kind"] for row in page["data"]} <= {kind.name for kind in KINDS}


def test_findings_are_listed_worst_first(world: World) -> None:
    rows = get(world, limit=1000)["data"]
    keys = [(SEVERITIES.index(r["severity"]), -(r["costPerDay"] or 0.0)) for r in rows]
    assert keys == sorted(keys)


def test_pages_together_have_every_finding(world: World) -> None:
    whole = get(world, limit=1000)["data"]
    parts = [get(world, limit=40, offset=n)["data"] for n in range(0, len(whole) + 40, 40)]
    assert [row for part in parts for row in part] == whole
    assert get(world, count="true") == {
        "count": len(whole), "limit": 100, "offset": 0, "data": [],
    }  # fmt: skip


@cases(
    ("query", "keeps"),
    [
        ({"device": METER}, lambda row: row["deviceId"] == METER),
        ({"device": "M-1"}, lambda row: row["deviceId"] in (METER, LONE)),
        ({"group": "north"}, lambda row: row["deviceId"] in (METER, TWIN, QUIET)),
        ({"kind": "continuous-flow,stuck"},
         lambda row: row["kind"] in ("continuous-flow", "stuck")),
        ({"severity": ["critical", "notice"]}, lambda row: row["severity"] != "warning"),
        ({"state": "open"}, lambda row: row["state"] == "open"),
        ({"state": "closed"}, lambda row: row["state"] == "closed"),
        ({"state": "dismissed"}, lambda row: row["state"] == "dismissed"),
        ({"from": "2026-03-01T00:00:00Z"},
         lambda row: row["end"] is None or row["end"] >= "2026-03-01"),
        ({"to": "2026-03-01T00:00:00Z"}, lambda row: row["start"] <= "2026-03-01T00:00:00Z"),
    ],
)  # fmt: skip
def test_a_filter_keeps_matching_findings(world: World, query: dict[str, Any], keeps: Any) -> None:
    rows, result = get(world, limit=1000)["data"], get(world, limit=1000, **query)["data"]
    expected = [row for row in rows if keeps(row)]
    if query == {"device": "M-1"}:  # one device: its serial number counts before the network's
        assert {row["deviceId"] for row in result} == {METER}
    else:
        assert result == expected


@cases(
    ("query", "parameter"),
    [
        ({"kind": "leak"}, "kind"),
        ({"severity": "bad"}, "severity"),
        ({"state": "new"}, "state"),
        ({"limit": 1001}, "limit"),
        ({"limit": 0}, "limit"),
        ({"offset": -1}, "offset"),
        ({"from": "yesterday"}, "from"),
        ({"from": "2026-03-02T00:00:00Z", "to": "2026-03-01T00:00:00Z"}, "from"),
        ({"nonsense": "1"}, "nonsense"),
    ],
)
def test_an_invalid_request_names_its_parameter(
    world: World, query: dict[str, Any], parameter: str
) -> None:
    answer = world.client.get(
        f"{INSIGHT_PREFIX}/findings?{urlencode(query)}",
        headers=dict(world.credentials["all"].headers),
    )
    assert answer.status_code == 400
    fields: Any = answer.json
    assert [error["parameter"] for error in fields["errors"]] == [parameter]


@cases("by", ["all", "group", "devices", "both", "nothing", "token", "token for one"])
def test_findings_outside_the_scope_are_not_listed(world: World, by: str) -> None:
    sees = world.credentials[by].sees
    expected = [row for row in get(world, limit=1000)["data"] if row["deviceId"] in sees]
    page = get(world, by=by, limit=1000)
    assert page["data"] == expected
    assert page["count"] == len(expected)


@cases("by", ["devices", "group", "nothing", "foreign"])
def test_foreign_and_missing_are_byte_for_byte_the_same(world: World, by: str) -> None:
    of = next(
        row["id"]
        for row in (leaks(world, by="all") + leaks(world, by="foreign"))
        if row["deviceId"] not in world.credentials[by].sees
        and not (by == "foreign" and row["deviceId"] == FOREIGN)
    )
    missing = "00000000-0000-5000-8000-000000000000"
    for method, end in (("GET", ""), ("POST", "/dismiss"), ("POST", "/restore")):
        bodies: list[Any] = []
        for id in (of, missing):
            answer = world.client.open(
                f"{INSIGHT_PREFIX}/findings/{id}{end}",
                method=method,
                headers={**world.credentials[by].headers, "X-Request-Id": "same"},
            )
            assert answer.status_code == 404
            fields: Any = answer.json
            fields.pop("instance", None)  # the request's id
            bodies.append(fields)
        assert bodies[0] == bodies[1]
    assert leaks(world, by="all")  # and nothing was dismissed
    assert not get(world, state="dismissed")["data"]


def test_the_evidence_is_a_series_around_it(world: World) -> None:
    (row,) = leaks(world, device=QUIET)
    result = get(world, f"/{row['id']}")
    assert {name: result[name] for name in ROW} == row
    shown = result["evidence"]
    assert (shown["resolution"], shown["metric"]) == ("1hour", "total_flow_amount")
    starts = [parse_instant(each["bucket_start"]) for each in shown["data"]]
    assert starts == sorted(starts)
    assert starts[0] <= parse_instant(row["start"]) - 20 * HOUR_MS
    during = [e["value"] for e in shown["data"] if e["bucket_start"] >= row["start"]]
    assert min(during) == pytest.approx(row["value"])


def test_not_a_problem_raises_the_threshold_and_can_be_undone(world: World) -> None:
    (row,) = leaks(world, device=LONE)
    others = [each for each in get(world, limit=1000)["data"] if each["id"] != row["id"]]
    answer = post(world, f"/{row['id']}/dismiss", {"reason": "  the garden  "})
    assert answer.status_code == 200, answer.text
    assert answer.json["finding"] == row | {"state": "dismissed"}
    assert answer.json["threshold"]["factor"] == 1.5
    assert "1.5 times" in answer.json["threshold"]["words"]
    assert post(world, f"/{row['id']}/dismiss").status_code == 409
    evaluator = Evaluator(world.store)
    assert evaluator.up_to_date().devices == 1
    assert get(world, f"/{row['id']}")["dismissed"]["reason"] == "the garden"
    assert [each["id"] for each in get(world, state="dismissed")["data"]] == [row["id"]]
    rest = [each for each in get(world, limit=1000)["data"] if each["id"] != row["id"]]
    assert rest == others
    assert evaluator.wrong(world.devices[LONE].key) is False
    undone = post(world, f"/{row['id']}/restore")
    assert undone.json["threshold"]["factor"] == 1
    assert post(world, f"/{row['id']}/restore").status_code == 409
    evaluator.up_to_date()
    assert leaks(world, device=LONE) == [row]
    assert world.store.finding_settings("org-acme") == []


def test_a_finding_in_repair_keeps_its_threshold(world: World) -> None:
    (row,) = leaks(world, device=LONE)
    answer = post(world, f"/{row['id']}/dismiss", {"as": "being-repaired"})
    assert answer.json["threshold"]["factor"] == answer.json["threshold"]["before"] == 1
    assert "stays as it is" in answer.json["threshold"]["words"]
    assert world.store.finding_settings("org-acme") == []
    assert get(world, f"/{row['id']}")["dismissed"]["as"] == "being-repaired"
    assert post(world, f"/{row['id']}/restore").json["threshold"]["factor"] == 1
    Evaluator(world.store).up_to_date()


def test_a_leak_has_no_new_normal(world: World) -> None:
    (row,) = leaks(world, device=LONE)
    answer = post(world, f"/{row['id']}/dismiss", {"as": "new-normal"})
    assert answer.status_code == 400
    assert [error["parameter"] for error in answer.json["errors"]] == ["as"]
    assert leaks(world, device=LONE) == [row]


def test_a_burst_becomes_the_new_normal_and_that_can_be_undone(world: World) -> None:
    gallons = changed(district(40), 38 * 24, 40 * 24, lambda value: value * 1.6)
    rows = [
        reading(world.devices[GATEWAY], START + n * HOUR_MS, flow_amount=value)
        for n, value in enumerate(gallons)
        if value is not None
    ]
    world.store.write(rows)
    evaluator = Evaluator(world.store)
    evaluator.up_to_date()
    (row,) = get(world, kind="burst", device=GATEWAY, state="open")["data"]
    answer = post(world, f"/{row['id']}/dismiss", {"as": "new-normal"})
    assert answer.json["threshold"]["words"] == (
        "Burst: what flows since it began is this device's new normal."
    )
    ((_, _, kind, name, _),) = world.store.finding_settings("org-acme")
    assert (kind, name) == ("burst", "normal_from")
    evaluator.up_to_date()
    assert evaluator.wrong(world.devices[GATEWAY].key) is False
    assert [each["id"] for each in get(world, device=GATEWAY, kind="burst")["data"]] == [row["id"]]
    post(world, f"/{row['id']}/restore")
    assert world.store.finding_settings("org-acme") == []
    evaluator.up_to_date()
    assert get(world, kind="burst", device=GATEWAY, state="open")["data"] == [row]


@cases("body", [{"reason": 7}, {"reason": "x" * 501}, {"why": "so"}, {"as": "so"}, []])
def test_an_invalid_reason_is_refused_and_changes_nothing(world: World, body: Any) -> None:
    (row,) = leaks(world, device=METER)
    assert post(world, f"/{row['id']}/dismiss", body).status_code == 400
    assert leaks(world, device=METER) == [row]


def test_the_client_reads_them(world: World) -> None:
    key = world.credentials["all"].headers["service-api-key"]
    client = Client.in_process(world.client.application, Credential.key(key))
    page = client.findings(device=METER, kinds=["continuous-flow"], states=["open"])
    (result,) = page.findings
    assert (page.count, result.device_id, result.end_ms) == (1, METER, None)
    assert client.findings(count_only=True).count == get(world)["count"]
    detail = client.finding(result.id)
    assert detail.finding == result
    assert detail.series
    judged = client.dismiss_finding(result.id, "known")
    assert (judged.finding.state, judged.factor) == ("dismissed", 1.5)
    with pytest.raises(Conflict):
        client.dismiss_finding(result.id)
    assert client.restore_finding(result.id).finding == result
    with pytest.raises(NotFound):
        client.finding("nothing")


# --- Settings ------------------------------------------------------------------------------------


def settings(world: World, status: int = 200, **query: Any) -> Any:
    address = f"{INSIGHT_PREFIX}/settings?{urlencode(query)}"
    answer = world.client.get(address, headers=dict(world.credentials["all"].headers))
    assert answer.status_code == status, answer.text
    return answer.json


def change(world: World, status: int = 200, **body: Any) -> Any:
    headers = dict(world.credentials["administrator"].headers)
    answer = world.client.patch(f"{INSIGHT_PREFIX}/settings", json=body, headers=headers)
    assert answer.status_code == status, answer.text
    return answer.json


def limit(fields: Any) -> tuple[float, str, bool, float]:
    (row,) = (r for r in fields["data"] if (r["kind"], r["key"]) == ("continuous-flow", "limit"))
    return row["value"], row["origin"], row["own"], row["inherited"]


def test_a_setting_names_its_source_and_can_be_reset(world: World) -> None:
    device, leak_ = world.devices[METER].id, "continuous-flow"
    assert limit(settings(world, device=device)) == (1.0, "default", False, 1.0)
    assert limit(change(world, kind=leak_, set={"limit": 2})) == (2.0, "organization", True, 1.0)
    own = change(world, device=device, kind=leak_, set={"limit": 3.5, "enabled": True})
    assert limit(own) == (3.5, "device", True, 2.0)
    assert limit(settings(world, device=device)) == (3.5, "device", True, 2.0)
    back = change(world, device=device, kind=leak_, set={"limit": None, "enabled": None})
    assert limit(back) == (2.0, "organization", False, 2.0)
    assert limit(change(world, kind=leak_, set={"limit": None})) == (1.0, "default", False, 1.0)
    assert not world.store.finding_settings(world.devices[METER].organization_id)
    audited = world.store.audit(AuditQuery(kind="settings"))
    assert [each.action for each in audited] == ["unset", "unset", "set", "set"]


@cases(
    ("body", "named", "words"),
    [
        ({"kind": "nothing", "set": {"limit": 1}}, "kind", "must be one of"),
        ({"kind": "burst", "set": {}}, "set", "must name a setting"),
        ({"kind": "burst", "set": {"limit": 1}}, "set", "has no setting 'limit'"),
        ({"kind": "burst", "set": {"score": "x"}}, "score", "must be a number from"),
        ({"kind": "burst", "set": {"enabled": 2}}, "enabled", "must be on or off"),
        ({"kind": "burst", "set": [1]}, "set", "must be an object"),
        ({"kind": "burst", "set": {"score": 9}, "device": "a", "group": "b"}, "group", "together"),
    ],
)
def test_a_bad_setting_is_named_and_changes_nothing(
    world: World, body: Any, named: str, words: str
) -> None:
    (problem,) = change(world, status=400, **body)["errors"]
    assert problem["parameter"] == named
    assert words in problem["detail"]
    assert not world.store.finding_settings(world.devices[METER].organization_id)


def test_settings_outside_the_scope_are_not_found(world: World) -> None:
    foreign = world.devices[FOREIGN].id
    change(world, status=404, device=foreign, kind="burst", set={"score": 9})
    settings(world, status=404, device=foreign)
    settings(world, status=404, group="no such group")


def test_the_openapi_document_has_every_route(world: World) -> None:
    answer = world.client.get(
        f"{INSIGHT_PREFIX}/api-json", headers=dict(world.credentials["all"].headers)
    )
    document: Any = answer.json
    messages = {(path, method) for path, methods in document["paths"].items() for method in methods}
    assert messages >= {
        (f"{INSIGHT_PREFIX}/findings", "get"),
        (f"{INSIGHT_PREFIX}/findings/{{id}}", "get"),
        (f"{INSIGHT_PREFIX}/findings/{{id}}/dismiss", "post"),
        (f"{INSIGHT_PREFIX}/findings/{{id}}/restore", "post"),
    }
    dismissal = document["paths"][f"{INSIGHT_PREFIX}/findings/{{id}}/dismiss"]["post"]
    assert dismissal["requestBody"]
    assert {"400", "404", "409"} <= dismissal["responses"].keys()
