"""Managing embeds: permissions, scope, and the errors."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from api.auth import issue_token
from api.catalog import EMBEDS_PREFIX, KEY_HEADER, PATH_PREFIX
from api.server import create_service
from api.store.base import Grant, NewDevice, OrganizationChange
from api.store.open import open_web_store
from api.timez import now_ms, parse_instant, stamp
from tests.embeds.conftest import Stage
from tests.tables import cases
from tests.world import ACME, FOREIGN, LONE, METER, OLD, QUIET, TWIN


def problems(stage: Stage, **definition: Any) -> dict[str, str]:
    """The reason of each refused field."""
    fields = {"view": "chart", "devices": [METER], **definition}
    answer = stage.ask("POST", "/embeds", fields)
    assert answer.status_code == 400, answer.text
    assert answer.content_type == "application/problem+json"
    return {each["parameter"]: each["detail"] for each in answer.json["errors"]}  # pyright: ignore[reportOptionalSubscript]


def bearer(stage: Stage, devices: list[str] | None = None, **rights: Any) -> dict[str, str]:
    token = issue_token(stage.world.settings, ACME, devices, 3600, **rights)
    return {"Authorization": f"Bearer {token}"}


# --- Create, read, revoke ------------------------------------------------------------------------


def test_omitted_fields_have_defaults(stage: Stage) -> None:
    made = stage.make()
    at = parse_instant(made.pop("created"))
    assert abs(at - now_ms()) < 60_000
    embed_id, maker = made.pop("id"), made.pop("createdBy")
    assert embed_id.startswith("emb_")
    assert len(embed_id) > 25
    assert maker.startswith("key_")
    assert made == {
        "organizationId": ACME,
        "state": "active",
        "path": f"/embed/{embed_id}",
        "view": "chart",
        "devices": [METER],
        "metric": "flow_rate",
        "origins": [],
        "window": {"last": 86_400},
        "zone": "device",
        "units": "us",
        "theme": "system",
        "controls": [],
        "notes": False,
        "compare": None,
        "title": "",
        "expires": None,
        "revoked": None,
    }


def test_an_embed_without_units_has_its_organization_s(stage: Stage) -> None:
    store = stage.world.store
    store.change_organization(ACME, OrganizationChange("Org-Acme", None, {"units": "metric"}))
    try:
        assert [stage.make()["units"], stage.make(units="us")["units"]] == ["metric", "us"]
    finally:
        store.change_organization(ACME, OrganizationChange("Org-Acme", None, {"units": None}))


def test_every_given_field_is_stored(stage: Stage) -> None:
    fields = {
        "view": "wall",
        "devices": [TWIN, METER],
        "origins": ["https://portal.example", "http://localhost:3000"],
        "window": {"last": 7 * 86_400},
        "zone": "Asia/Kathmandu",
        "units": "metric",
        "theme": "dark",
        "controls": ["range", "theme"],
        "notes": True,
        "title": "Süd <b>&amp; co",
        "expires": "2090-01-01T00:00:00.000Z",
    }
    made = stage.make(**fields)
    assert {name: made[name] for name in fields} == fields
    again = stage.ask("GET", f"/embeds/{made['id']}")
    assert again.json == made
    assert again.headers["Cache-Control"] == "no-store"


def test_a_device_may_be_named_in_any_way_and_is_stored_by_its_uuid(stage: Stage) -> None:
    made = stage.make(view="wall", devices=["net-m1", "T-1", METER.upper(), OLD])
    assert made["devices"] == [METER, TWIN, OLD]


def test_a_fixed_window_is_stored_in_utc(stage: Stage) -> None:
    window = {"from": "2026-03-08T00:00:00-05:00", "to": "2026-03-09T00:00:00-04:00"}
    assert stage.make(window=window)["window"] == {
        "from": "2026-03-08T05:00:00.000Z",
        "to": "2026-03-09T04:00:00.000Z",
    }


def test_a_revoked_embed_stays_with_its_time(stage: Stage) -> None:
    made = stage.make()
    revoked = stage.ask("DELETE", f"/embeds/{made['id']}").json
    assert revoked is not None
    assert revoked["state"] == "revoked"
    assert stage.ask("DELETE", f"/embeds/{made['id']}").json == revoked
    assert stage.ask("GET", f"/embeds/{made['id']}").json == revoked


@pytest.mark.parametrize("ended", ["revoked", "expired", "stopped"])
@pytest.mark.parametrize("body", [{}, {"ttl": 60}])
def test_no_token_is_issued_for_an_ended_embed(
    stage: Stage, ended: str, body: dict[str, int]
) -> None:
    """The host's server gets the reason, instead of giving its visitors a dead token."""
    secret, key_id = stage.world.new_key(Grant(everything=True))
    ends_ms = now_ms() + 1_500  # it is made before, also on a busy machine
    result = {"expires": stamp(ends_ms, fraction=True)} if ended == "expired" else {}
    made = stage.make(by={KEY_HEADER: secret}, **result)["id"]
    if ended == "revoked":
        stage.ask("DELETE", f"/embeds/{made}")
    if ended == "stopped":
        stage.world.store.revoke_key(key_id, now_ms())
    while ended == "expired" and now_ms() <= ends_ms:
        time.sleep(0.05)
    refused = stage.ask("POST", f"/embeds/{made}/tokens", body)
    assert (refused.status_code, refused.json["reason"]) == (409, f"embed-{ended}")  # pyright: ignore[reportOptionalSubscript]
    assert "token" not in refused.json


# --- Scope ---------------------------------------------------------------------------------------


def listed(stage: Stage, by: str | dict[str, str]) -> set[str]:
    return {embed["id"] for embed in stage.ask("GET", "/embeds", by=by).json or []}


def test_a_key_sees_embeds_with_all_devices_in_its_scope(stage: Stage) -> None:
    whole = stage.make(view="wall", devices=[METER, LONE])["id"]
    north = stage.make(view="wall", devices=[METER, QUIET])["id"]
    assert {whole, north} <= listed(stage, "all")
    assert listed(stage, "group") & {whole, north} == {north}
    assert listed(stage, "devices") & {whole, north} == set()
    assert listed(stage, "foreign") == set()
    for method, path in (("GET", ""), ("DELETE", ""), ("POST", "/tokens")):
        for by in ("group", "foreign", "nothing"):
            answer = stage.ask(method, f"/embeds/{whole}{path}", by=by)
            assert answer.status_code == 404
    assert stage.ask("GET", f"/embeds/{whole}").json["state"] == "active"  # pyright: ignore[reportOptionalSubscript]


def test_a_key_sees_its_own_embeds_with_any_grant(stage: Stage) -> None:
    made = stage.make(by="both", devices=[TWIN])["id"]
    stage.world.store.import_devices(ACME, [_in_groups("T-1")])
    try:
        assert made in listed(stage, "both")
        assert stage.ask("DELETE", f"/embeds/{made}", by="both").status_code == 200
    finally:
        stage.world.store.import_devices(ACME, [_in_groups("T-1", "north", "all floors")])


def _in_groups(serial: str, *groups: str) -> NewDevice:
    return NewDevice(serial, groups=groups)


@cases("hidden", [METER, FOREIGN, "no such", "a\0b"])
def test_a_device_outside_the_grant_is_refused_by_name(stage: Stage, hidden: str) -> None:
    fields = {"view": "wall", "devices": [LONE, hidden]}
    answer = stage.ask("POST", "/embeds", fields, by="devices")
    assert answer.status_code == 400
    (problem,) = answer.json["errors"]  # pyright: ignore[reportOptionalSubscript]
    assert problem["parameter"] == "devices"
    assert "not found, or you don't have access" in problem["detail"]
    assert LONE not in problem["detail"]


def test_a_bearer_needs_write_permission_to_change_embeds(stage: Stage) -> None:
    made, reading = stage.make()["id"], bearer(stage)
    assert made in listed(stage, reading)
    for method, path in (("POST", ""), ("DELETE", f"/{made}"), ("POST", f"/{made}/tokens")):
        answer = stage.ask(method, f"/embeds{path}", {"view": "chart"}, by=reading)
        assert answer.status_code == 403
        assert 'error="insufficient_scope", scope="weir:embed"' in str(answer.headers)
    making = bearer(stage, [TWIN], may_embed=True)
    assert stage.make(by=making, devices=[TWIN])["createdBy"] == "token"
    refused = stage.ask("POST", "/embeds", {"view": "chart", "devices": [METER]}, by=making)
    assert refused.status_code == 400


def test_without_a_credential_every_route_is_unauthorized(stage: Stage) -> None:
    for method, path in (
        ("GET", "/embeds"),
        ("POST", "/embeds"),
        ("GET", "/embeds/x"),
        ("DELETE", "/embeds/x"),
        ("POST", "/embeds/x/tokens"),
    ):
        assert stage.ask(method, path, by="nobody").status_code == 401


def test_an_embeds_token_cannot_manage_embeds(stage: Stage) -> None:
    made = stage.make()
    own = {"Authorization": f"Bearer {stage.token(made['id'])}"}
    for method, path in (
        ("GET", "/embeds"),
        ("POST", "/embeds"),
        ("GET", f"/embeds/{made['id']}"),
        ("DELETE", f"/embeds/{made['id']}"),
        ("POST", f"/embeds/{made['id']}/tokens"),
    ):
        assert stage.ask(method, path, {}, by=own).status_code == 401
        shown = stage.shown.open(f"{EMBEDS_PREFIX}{path}", method=method, headers=own)
        assert shown.status_code == 404  # its own service has no such routes


# --- Invalid requests ----------------------------------------------------------------------------


@cases(
    ("field", "value", "words"),
    [
        ("view", "map", "must be one of chart, tile, wall"),
        ("view", 3, "must be one of chart, tile, wall"),
        ("view", None, "must be one of"),
        ("devices", [], "must name a device"),
        ("devices", METER, "must be a list"),
        ("devices", [3], "must be a list"),
        ("devices", [""], "empty"),
        ("devices", ["x" * 201], "too long"),
        ("devices", [METER, TWIN], "a chart shows 1"),
        ("devices", [METER] * 51, "at most 50"),
        ("metric", "flow", "must be one of flow_rate, volume"),
        ("origins", "https://a.example", "must be a list"),
        ("origins", [f"https://a{n}.example" for n in range(21)], "at most 20"),
        ("window", {"last": 599}, "must be from 600"),
        ("window", {"last": "86400"}, "whole number of seconds"),
        ("window", {"last": 3600.5}, "whole number of seconds"),
        ("window", {"last": True}, "whole number of seconds"),
        ("window", {"last": 10**12}, "must be from 600"),
        ("window", {"last": 3600, "from": "2026-01-01"}, 'must be {"last"'),
        ("window", {"from": "2026-01-01"}, 'must be {"last"'),
        ("window", "24h", 'must be {"last"'),
        ("window", {"from": "2026-01-02", "to": "2026-01-01"}, "end after it starts"),
        ("window", {"from": "2026-01-01", "to": "2026-01-01"}, "end after it starts"),
        ("window", {"from": "1990-01-01", "to": "2026-01-01"}, "five years"),
        ("window", {"from": 0, "to": 1}, "ISO 8601"),
        ("zone", "Mars/Olympus", "IANA"),
        ("zone", "../etc/passwd", "IANA"),
        ("zone", None, "IANA"),
        ("units", "imperial", "must be one of us, metric"),
        ("theme", "auto", "must be one of system, light, dark"),
        ("controls", ["range", "devices"], "'devices' is not a control"),
        ("controls", "range", "must be a list"),
        ("notes", "yes", "must be true or false"),
        ("compare", "decade", "must be one of day, week"),
        ("compare", "device:M-1", "must be one of day, week"),
        ("title", "x" * 121, "at most 120"),
        ("title", "a\0b", "can't be displayed"),
        ("title", "a\u202eb", "can't be displayed"),
        ("title", 3, "must be a string"),
        ("expires", "soon", "ISO 8601"),
        ("expires", 1_900_000_000, "ISO 8601"),
        ("expires", "2020-01-01T00:00:00Z", "past"),
        ("organizationId", ACME, "not a field"),
        ("devise", [METER], "not a field"),
    ],
)
def test_an_invalid_field_is_named(stage: Stage, field: str, value: Any, words: str) -> None:
    result = problems(stage, **{field: value})
    assert list(result) == [field]
    assert words in result[field]


@pytest.mark.parametrize("view", ["tile", "wall"])
def test_tiles_have_the_windows_that_they_can_draw(stage: Stage, view: str) -> None:
    for last in (3_600, 86_400, 604_800, 2_592_000):
        assert stage.make(view=view, window={"last": last})["metric"] is None
    for window in ({"last": 7_200}, {"from": "2026-01-01", "to": "2026-01-02"}):
        assert "3600, 86400" in problems(stage, view=view, window=window)["window"]
    assert "is a chart's" in problems(stage, view=view, metric="volume")["metric"]


def test_every_problem_is_named_at_once(stage: Stage) -> None:
    assert set(problems(stage, view="x", zone="y", theme="z", more=1)) == {
        "view", "zone", "theme", "more",
    }  # fmt: skip


@cases("body", [b"[]", b"{", b"\xff", b"null", b'"x"', b"[" * 60_000])
def test_a_body_that_is_not_an_object_is_refused(stage: Stage, body: bytes) -> None:
    headers = dict(stage.world.credentials["all"].headers)
    answer = stage.service.post(f"{EMBEDS_PREFIX}/embeds", data=body, headers=headers)
    assert answer.status_code == 400


def test_a_huge_body_is_refused(stage: Stage) -> None:
    headers = dict(stage.world.credentials["all"].headers)
    body = b'{"title": "' + b"x" * 70_000 + b'"}'
    answer = stage.service.post(f"{EMBEDS_PREFIX}/embeds", data=body, headers=headers)
    assert answer.status_code == 413


def test_a_mistyped_query_and_a_wrong_method_are_named(stage: Stage) -> None:
    assert stage.ask("GET", "/embeds?limt=3").status_code == 400
    wrong = stage.ask("PUT", "/embeds", {})
    assert wrong.status_code == 405
    assert wrong.json["detail"] == "Use GET or POST here."  # pyright: ignore[reportOptionalSubscript]


# --- Services without embeds ---------------------------------------------------------------------


def test_embeds_are_not_in_the_interfaces_document(stage: Stage) -> None:
    document = stage.service.get(
        f"{PATH_PREFIX}/api-json", headers=dict(stage.world.credentials["all"].headers)
    )
    assert "embed" not in document.text.lower()


def test_a_service_without_a_place_for_them_has_no_such_path(stage: Stage) -> None:
    bare = create_service(stage.world.store, stage.world.settings).test_client()
    headers = dict(stage.world.credentials["all"].headers)
    assert bare.get(f"{EMBEDS_PREFIX}/embeds", headers=headers).status_code == 404


def test_before_an_upgrade_the_rest_of_the_service_works(stage: Stage, tmp_path: Path) -> None:
    web = open_web_store(f"sqlite:///{tmp_path / 'weir.sqlite'}")
    early = create_service(stage.world.store, stage.world.settings, web=web).test_client()
    headers = dict(stage.world.credentials["all"].headers)
    answer = early.get(f"{EMBEDS_PREFIX}/embeds", headers=headers)
    assert answer.status_code == 503
    assert "weir db upgrade" in answer.text
    assert early.get(f"{PATH_PREFIX}/device", headers=headers).status_code == 200
