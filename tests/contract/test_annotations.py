"""Notes, maintenance, corrections and the audit log over HTTP."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from api.catalog import HOUR_MS, INSIGHT_PREFIX
from api.roles import Role
from api.store.base import Grant, Scope, Store
from api.timez import now_ms, stamp
from tests.tables import cases
from tests.world import ACME, LONE, METER, TWIN, Credential, World, build, opened

NORTH = Grant(groups=frozenset({"north"}))
NOON, LATER = "2026-03-08T12:00:00.000Z", "2026-03-08T13:00:00.000Z"


@pytest.fixture
def world(sqlite_store: Store) -> World:
    """A world for one test, which changes it."""
    return _peopled(build(sqlite_store))


@pytest.fixture(scope="module")
def still(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """A shared world, which no test changes."""
    with opened(f"sqlite:///{tmp_path_factory.mktemp('still') / 'weir.sqlite'}") as world:
        yield _peopled(world)


def _peopled(world: World) -> World:
    for role in Role:
        for name, grant in (("", Grant(everything=True)), (" of north", NORTH)):
            secret, _ = world.new_key(grant, role=role)
            world.credentials[role.value + name] = Credential(
                {"service-api-key": secret}, frozenset()
            )
    return world


def ask(
    world: World, method: str, path: str, body: Any = None, by: str = "administrator"
) -> tuple[int, Any]:
    answer = world.client.open(
        f"{INSIGHT_PREFIX}{path}",
        method=method,
        data=None if body is None else json.dumps(body),
        content_type="application/json",
        headers=dict(world.credentials[by].headers),
    )
    return answer.status_code, answer.json


def made(world: World, path: str, by: str = "administrator", **body: Any) -> Any:
    status, result = ask(world, "POST", path, body, by)
    assert status == 201, result
    return result


def note(world: World, by: str = "operator", **more: Any) -> Any:
    return made(world, "/notes", by, **{"device": TWIN, "from": NOON, "text": "Valve", **more})


def test_a_note_is_written_searched_changed_and_deleted(world: World) -> None:
    first = note(world, text="  Valve   replaced \n by Ann ")
    assert first["text"] == "Valve replaced\nby Ann"
    assert (first["deviceId"], first["from"], first["to"]) == (TWIN, NOON, None)
    span = note(world, device=None, group="north", to=LATER, text="Flushing")
    lone = note(world, device=LONE)

    def listed(query: str = "", by: str = "viewer") -> list[str]:
        status, result = ask(world, "GET", f"/notes{query}", by=by)
        assert status == 200
        assert result["count"] == len(result["data"])
        return [each["id"] for each in result["data"]]

    assert set(listed()) == {first["id"], span["id"], lone["id"]}
    assert set(listed(f"?device={TWIN}")) == {first["id"], span["id"]}
    assert listed("?group=north") == [span["id"]]
    assert listed("?q=VALVE%20r") == [first["id"]]
    assert listed("?q=100%25_") == []
    assert listed(f"?from={LATER}") == []
    assert listed("?from=2026-03-08T12:30:00Z") == [span["id"]]
    assert set(listed(by="viewer of north")) == {first["id"], span["id"]}
    assert listed(by="devices") == [lone["id"]]
    assert listed(by="foreign") == []
    assert ask(world, "GET", f"/notes/{lone['id']}", by="viewer of north")[0] == 404
    status, changed = ask(world, "PATCH", f"/notes/{first['id']}", {"to": LATER}, "operator")
    assert (status, changed["to"], changed["text"]) == (200, LATER, first["text"])
    assert ask(world, "DELETE", f"/notes/{first['id']}", {}, "operator")[0] == 200
    assert ask(world, "GET", f"/notes/{first['id']}")[0] == 404


def test_a_page_of_devices_includes_the_notes_of_its_window(world: World) -> None:
    now = now_ms()
    of_group: dict[str, Any] = {"device": None, "group": "north"}
    for hours, text, more in ((2, "Own", {}), (1, "Group’s", of_group), (30, "Before", {})):
        note(world, text=text, **{"from": stamp(now - hours * HOUR_MS)}, **more)

    def noted(by: str, window: str = "24h") -> list[str]:
        path = f"/devices?ids={TWIN}&include=notes&window={window}"
        status, result = ask(world, "GET", path, by=by)
        assert status == 200
        return [each["text"] for each in result["data"][0]["notes"]]

    assert noted("viewer") == noted("viewer of north") == ["Own", "Group’s"]
    assert noted("viewer", "7d") == ["Before", "Own", "Group’s"]
    secret, _ = world.new_key(Grant(devices=frozenset({TWIN})))
    world.credentials["one"] = Credential({"service-api-key": secret}, frozenset())
    assert noted("one") == ["Own"]  # the group isn't in its grant


def test_a_note_is_changed_by_its_author_or_an_administrator(world: World) -> None:
    mine = note(world, "operator")
    other = "operator of north"
    assert ask(world, "PATCH", f"/notes/{mine['id']}", {"text": "no"}, other)[0] == 403
    assert ask(world, "DELETE", f"/notes/{mine['id']}", {}, other)[0] == 403
    body = {"device": TWIN, "from": NOON, "text": "x"}
    assert ask(world, "POST", "/notes", body, "viewer")[0] == 403
    status, changed = ask(world, "PATCH", f"/notes/{mine['id']}", {"text": "yes"})
    assert (status, changed["text"]) == (200, "yes")
    assert changed["changedBy"] != changed["createdBy"]
    assert ask(world, "DELETE", f"/notes/{mine['id']}", {})[0] == 200


@cases(
    ("path", "body", "status", "field"),
    [
        ("/notes", {"from": NOON, "text": "x"}, 400, "device"),
        ("/notes", {"device": TWIN, "group": "north", "from": NOON, "text": "x"}, 400, "device"),
        ("/notes", {"device": TWIN, "text": "x"}, 400, "from"),
        ("/notes", {"device": TWIN, "from": "noon", "text": "x"}, 400, "from"),
        ("/notes", {"device": TWIN, "from": NOON, "to": NOON, "text": "x"}, 400, "to"),
        ("/notes", {"device": TWIN, "from": NOON, "text": " "}, 400, "text"),
        ("/notes", {"device": TWIN, "from": NOON, "text": "x" * 2001}, 400, "text"),
        ("/notes", {"device": TWIN, "from": NOON, "text": "\x07"}, 400, "text"),
        ("/notes", {"device": TWIN, "from": NOON, "text": "x", "why": 1}, 400, "why"),
        ("/notes", {"device": "nobody", "from": NOON, "text": "x"}, 404, None),
        ("/notes", {"group": "no such", "from": NOON, "text": "x"}, 404, None),
        ("/maintenance", {"device": TWIN, "from": NOON, "reason": "x"}, 400, "to"),
        ("/maintenance", {"device": TWIN, "from": NOON, "to": LATER}, 400, "reason"),
        ("/maintenance", {"device": TWIN, "from": NOON, "to": LATER, "reason": "x",
                          "repeat": "hourly"}, 400, "repeat"),
        ("/maintenance", {"device": TWIN, "from": NOON, "to": LATER, "reason": "x",
                          "repeat": "daily"}, 400, "until"),
        ("/maintenance", {"device": TWIN, "from": NOON, "to": LATER, "reason": "x",
                          "until": LATER}, 400, "until"),
        ("/maintenance", {"device": TWIN, "from": NOON, "to": LATER, "reason": "x",
                          "repeat": "daily", "until": "2029-01-01T00:00:00Z"}, 400, "until"),
        ("/maintenance", {"device": TWIN, "from": NOON, "to": "2026-03-10T12:00:00Z",
                          "reason": "x", "repeat": "daily", "until": "2026-04-01"}, 400, "to"),
        ("/maintenance", {"device": TWIN, "from": NOON, "to": LATER, "reason": "x",
                          "zone": "Mars"}, 400, "zone"),
        ("/corrections", {"device": TWIN, "from": NOON, "to": LATER, "reason": "x"},
         400, "effect"),
        ("/corrections", {"device": TWIN, "from": NOON, "to": LATER, "reason": "x",
                          "effect": "scale"}, 400, "factor"),
        ("/corrections", {"device": TWIN, "from": NOON, "to": LATER, "reason": "x",
                          "effect": "exclude", "factor": 2}, 400, "factor"),
        ("/corrections", {"device": TWIN, "from": NOON, "to": LATER, "reason": "x",
                          "effect": "scale", "factor": 1e9}, 400, "factor"),
        ("/corrections", {"device": TWIN, "from": NOON, "to": LATER, "reason": "x",
                          "effect": "exclude", "metrics": ["flow"]}, 400, "metrics"),
        ("/corrections", {"device": TWIN, "from": NOON, "to": "2099-01-01", "reason": "x",
                          "effect": "exclude"}, 400, "to"),
        ("/corrections", {"device": TWIN, "from": "2020-01-01", "to": "2020-01-02",
                          "reason": "x", "effect": "exclude"}, 409, None),
    ],
)  # fmt: skip
def test_an_invalid_request_names_its_field_and_changes_nothing(
    still: World, path: str, body: Any, status: int, field: str | None
) -> None:
    result, message = ask(still, "POST", path, body)
    assert result == status, message
    if field is not None:
        assert [error["parameter"] for error in message["errors"]] == [field]
    assert ask(still, "GET", path)[1]["count"] == 0
    assert ask(still, "GET", "/audit")[1]["count"] == 0


def test_one_list_has_every_kind(world: World) -> None:
    """The request of a chart: everything of a device in a span, latest first, each with its
    kind."""
    note(world, text="Valve")
    span = {"device": TWIN, "from": "2026-03-08T14:00:00Z", "to": "2026-03-08T15:00:00Z"}
    plan = made(world, "/maintenance", reason="Works", **span)

    def listed(query: str) -> list[tuple[str, str]]:
        status, result = ask(world, "GET", f"/annotations?device={TWIN}{query}", by="viewer")
        assert (status, result["count"]) == (200, len(result["data"]))
        return [(each["kind"], each.get("text") or each["reason"]) for each in result["data"]]

    assert listed("") == [("maintenance", "Works"), ("note", "Valve")]
    assert listed("&kind=note,correction") == [("note", "Valve")]
    assert listed("&from=2026-03-08T14:30:00Z&to=2026-03-08T16:00:00Z")[0][1] == "Works"
    assert listed("&to=2026-03-08T13:59:00Z") == [("note", "Valve")]
    assert ask(world, "GET", "/annotations?kind=rumour")[0] == 400
    own = ask(world, "GET", f"/maintenance/{plan['id']}")[1]
    assert own == ask(world, "GET", "/annotations?kind=maintenance")[1]["data"][0]


def test_maintenance_is_planned_changed_and_cancelled(world: World) -> None:
    body = {"from": NOON, "to": LATER, "reason": "Pump", "repeat": "weekly", "until": "2026-06-01"}
    plan = made(world, "/maintenance", device=METER, **body)
    assert (plan["repeat"], plan["zone"]) == ("weekly", "America/New_York")
    assert ask(world, "POST", "/maintenance", {"device": METER, **body}, "operator")[0] == 403
    changes = {"repeat": None, "until": None, "reason": "Pump 2"}
    status, changed = ask(world, "PATCH", f"/maintenance/{plan['id']}", changes)
    assert (status, changed["repeat"], changed["until"]) == (200, None, None)
    assert ask(world, "PATCH", f"/maintenance/{plan['id']}", {"to": NOON})[0] == 400
    assert ask(world, "PATCH", f"/maintenance/{plan['id']}", {})[0] == 400
    assert ask(world, "DELETE", f"/maintenance/{plan['id']}", {})[0] == 200
    _, log = ask(world, "GET", "/audit?kind=maintenance")
    assert [each["action"] for each in log["data"]] == ["delete", "change", "create"]
    assert log["data"][1]["before"]["reason"] == "Pump"
    assert log["data"][1]["after"]["reason"] == "Pump 2"
    assert log["data"][0]["after"] is None


def _volume(world: World) -> float:
    rows = world.json(
        f"/flow/datapoints/{TWIN}",
        {"resolution": "1hour", "from": "2026-03-08T06:00:00Z", "to": "2026-03-08T18:00:00Z"},
    )["data"]
    return sum(row["total_flow_amount"] for row in rows)


def due(world: World, identifier: str) -> bool:
    scope = Scope(ACME, Grant(everything=True))
    (device,) = world.store.resolve(scope, [identifier])
    assert device is not None
    return bool(world.store.due_findings(1, key=device.key))


def test_a_correction_is_previewed_made_seen_and_revoked(world: World) -> None:
    before = _volume(world)
    body = {"device": TWIN, "from": "2026-03-08T06:00:00Z", "to": "2026-03-08T18:00:00Z",
            "effect": "scale", "factor": 0.5, "reason": "wrong K factor"}  # fmt: skip
    status, preview = ask(world, "POST", "/corrections/preview", body)
    assert status == 200
    assert preview["gallons"]["before"] == pytest.approx(before)
    assert preview["gallons"]["after"] == pytest.approx(before / 2)
    assert 0 < preview["values"] <= preview["readings"]
    assert _volume(world) == before
    correction = made(world, "/corrections", **body)
    assert correction["metrics"] == ["flow_rate", "flow_amount"]
    assert _volume(world) == pytest.approx(before / 2)
    assert world.store.verify().wrong == 0
    assert not due(world, TWIN)  # status and findings are updated before the response
    status, rows = ask(
        world, "GET", f"/corrections/{correction['id']}/readings?limit=5", by="viewer"
    )
    assert (status, len(rows["data"])) == (200, 5)
    for row in rows["data"]:
        was, now = row["original"]["flow_amount"], row["counts_as"]["flow_amount"]
        assert now == (None if was is None else was * 0.5)
        assert row["original"]["quality"] == row["counts_as"]["quality"]
    status, ended = ask(world, "POST", f"/corrections/{correction['id']}/revoke", {"reason": "ok"})
    assert (status, ended["state"], ended["revokeReason"]) == (200, "revoked", "ok")
    assert _volume(world) == before
    again = ask(world, "POST", f"/corrections/{correction['id']}/revoke", {"reason": "ok"})
    assert again[0] == 409
    assert ask(world, "GET", "/corrections")[1]["count"] == 1
    assert ask(world, "GET", "/corrections?revoked=false")[1]["count"] == 0


def test_raw_rows_of_an_excluded_span_are_listed_without_values(world: World) -> None:
    fields = {"resolution": "raw", "from": NOON, "to": "2026-03-08T12:00:59Z"}
    before = world.json(f"/flow/datapoints/{TWIN}", fields)["data"]
    made(world, "/corrections", device=TWIN, **{"from": NOON}, to=LATER, effect="exclude",
         reason="hose test")  # fmt: skip
    after = world.json(f"/flow/datapoints/{TWIN}", fields)["data"]
    assert [row["recorded_at"] for row in after] == [row["recorded_at"] for row in before]
    assert {value for row in after for name, value in row.items() if name != "recorded_at"} == {
        None
    }


def test_the_audit_log_is_for_administrators_of_all_devices(world: World) -> None:
    written = note(world)
    status, log = ask(world, "GET", "/audit")
    assert (status, log["count"]) == (200, 1)
    (entry,) = log["data"]
    assert (entry["kind"], entry["action"], entry["subject"]) == ("note", "create", written["id"])
    assert entry["after"]["text"] == "Valve"
    assert entry["author"] == written["createdBy"]
    assert ask(world, "GET", "/audit?q=nothing%20like%20it")[1]["count"] == 0
    assert ask(world, "GET", f"/audit?author={entry['author']}")[1]["count"] == 1
    assert ask(world, "GET", "/audit?to=2020-01-01")[1]["count"] == 0
    for by in ("operator", "viewer", "administrator of north"):
        assert ask(world, "GET", "/audit", by=by)[0] == 403


def test_me_has_the_role(still: World) -> None:
    result: Callable[[str], Any] = lambda by: ask(still, "GET", "/me", by=by)[1]  # noqa: E731
    assert [result(role.value)["role"] for role in Role] == [role.value for role in Role]
    assert [result(role.value)["mayEmbed"] for role in Role] == [False, True, True]
    assert result("token")["role"] == "viewer"
    assert result("token")["units"] == "us"
