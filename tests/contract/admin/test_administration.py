"""``/admin/v1``: changes by administrators, on every database."""

from __future__ import annotations

from schemathesis.specs.openapi.definitions import OPENAPI_30_VALIDATOR

from api.catalog import KEY_HEADER, RAW
from api.domain.device_fields import FIELDS
from api.insight.alerts.rules import Rule, StoredRule
from api.insight.status_projection import Projection
from api.store.base import DeviceQuery, Grant, Refusal, Scope, Span
from api.store.base.billing import BillingRow
from tests.contract.admin.conftest import Admin, actions
from tests.world import ACME, FOREIGN, LONE, METER, OTHER, TWIN, World

# --- Devices -------------------------------------------------------------------------------------

VALUES = {  # for each field: a valid value and an invalid one
    "label": ("Yard", ""),
    "active": (False, "no"),
    "groups": (["south", "north"], "south"),
    "parent": ("T-1", 5),
    "networkUniqueIdentifier": ("net-new", None),
    "category": ("Gateway", "Boiler"),
    "model": ("FM-9", "a\x00b"),
    "meterSize": ("DN 20", "DN banana"),
    "highFlowLimit": (40.5, 0),
    "continuousFlowByDesign": (True, 1),
    "deviceTimeZone": ("Europe/Rome", "Mars/Base"),
    "reportingInterval": (900, 0.1),
    "installedOn": ("2020-01-02T00:00:00.000Z", "soon"),
    "price": (0.0125, -1),
    "currency": ("EUR", "euro"),
    "registerUnit": ("m3", "barrel"),
    "litresPerPulse": (10, 0),
    "registerDigits": (6, 2.5),
    "registerOffset": (-12.5, "12"),
    "registerGap": ("spread", "lost"),
}


def test_every_field_can_be_set_and_is_checked(world: World, admin: Admin) -> None:
    assert set(VALUES) == {field.name for field in FIELDS}
    good = {name: value for name, (value, _) in VALUES.items()}
    reply = admin.ask("PATCH", "/devices", {"devices": [METER], "set": good})
    assert reply["changed"] == 1
    assert {name: reply["data"][0][name] for name in good} == {
        **good,
        "groups": ["north", "south"],
    }
    bad = {name: value for name, (_, value) in VALUES.items()}
    problem = admin.ask("PATCH", "/devices", {"devices": [METER], "set": bad}, 400)
    assert {each["parameter"] for each in problem["errors"]} == set(bad)
    assert admin.device(METER)["label"] == "Yard"
    assert actions(world, "device") == [("change", admin.key_id)]


def test_values_are_reset(admin: Admin) -> None:
    some = {"price": 0.1, "highFlowLimit": 3, "reportingInterval": 60, "parent": "T-1"}
    admin.ask("PATCH", "/devices", {"devices": [LONE], "set": some})
    none = dict.fromkeys(some)
    after = admin.ask("PATCH", "/devices", {"devices": [LONE], "set": none})["data"][0]
    assert {name: after[name] for name in some} == none


def test_the_second_of_two_editors_gets_a_conflict(admin: Admin) -> None:
    seen = {id: admin.device(id)["updated"] for id in (METER, TWIN)}
    body = {"devices": list(seen), "updated": list(seen.values()), "set": {"model": "A"}}
    assert admin.ask("PATCH", "/devices", body)["changed"] == 2
    problem = admin.ask("PATCH", "/devices", body | {"set": {"model": "B"}}, 409)
    assert problem["reason"] == "changed"
    assert admin.device(METER)["model"] == admin.device(TWIN)["model"] == "A"
    for updated in ([], seen[METER]):
        admin.ask("PATCH", "/devices", body | {"updated": updated}, 400)
    one = {"devices": [METER], "updated": [admin.device(METER)["updated"]]}
    admin.ask("PATCH", "/devices", one | {"set": {"groups": ["a"]}})  # of another table
    admin.ask("PATCH", "/devices", one | {"set": {"groups": ["b"]}}, 409)


def test_a_duplicate_name_is_refused_and_changes_nothing(admin: Admin) -> None:
    both = {"networkUniqueIdentifier": "net-t1", "label": "Other"}
    admin.ask("PATCH", "/devices", {"devices": [METER], "set": both}, 409)
    assert admin.device(METER)["label"] == "beta"


def test_devices_are_created_and_deleted(world: World, admin: Admin) -> None:
    new = {
        "serialNumber": "N-1",
        "set": {"label": "New", "groups": ["north"], "meterSize": "DN 15"},
    }
    made = admin.ask("POST", "/devices", new, 201)
    assert (made["label"], made["groups"], made["meterSize"]) == ("New", ["north"], "DN 15")
    admin.ask("POST", "/devices", new, 409)
    extent = admin.ask("GET", f"/devices/{TWIN}/extent")
    assert extent["readings"] == len(world.readings[TWIN]) > 0
    admin.ask("DELETE", f"/devices/{TWIN}", {"serialNumber": "M-1"}, 400)
    gone = admin.ask("DELETE", f"/devices/{TWIN}", {"serialNumber": "T-1"})
    assert gone["readings"] == extent["readings"]
    admin.ask("GET", f"/devices/{TWIN}/extent", status=404)
    assert {action for action, _ in actions(world, "device")} == {"create", "delete"}


def test_late_readings_of_a_deleted_device_are_removed(world: World, admin: Admin) -> None:
    key = world.devices[TWIN].key
    admin.ask("DELETE", f"/devices/{TWIN}", {"serialNumber": "T-1"})
    world.store.write(world.readings[TWIN][:5])
    Projection(world.store).all_due()
    assert world.store.count(world.devices[TWIN], RAW, Span()) == 0
    assert key not in [due.key for due in world.store.due_by_reading(100)]


def test_late_readings_of_an_inactive_device_stay(world: World, admin: Admin) -> None:
    admin.ask("PATCH", "/devices", {"devices": [TWIN], "set": {"active": False}})
    world.store.write([(world.devices[TWIN].key, 10**12, *(1.0,) * 7)])
    Projection(world.store).all_due()
    world.store.forget_device(world.devices[TWIN].key)
    count = world.store.count(world.devices[TWIN], RAW, Span())
    assert count == len(world.readings[TWIN]) + 1


def test_a_meter_exchange_is_recorded_and_undone(world: World, admin: Admin) -> None:
    body = {"at": "2026-03-01T09:00:00Z", "last": 812.5, "networkUniqueIdentifier": "net-9"}
    admin.ask("POST", f"/devices/{METER}/exchanges", body | {"last": -1}, 400)
    after = admin.ask("POST", f"/devices/{METER}/exchanges", body, 201)
    assert after["exchanges"] == [{"at": "2026-03-01T09:00:00Z", "first": 0, "last": 812.5}]
    assert after["networkUniqueIdentifier"] == "net-9"
    admin.ask("POST", f"/devices/{METER}/exchanges", body, 409)
    path = f"/devices/{METER}/exchanges"
    assert admin.ask("DELETE", path, {"at": "2026-03-01T10:00:00.000+01:00"})["exchanges"] == []
    assert [action for action, _ in actions(world, "device")] == ["undo exchange", "exchange"]
    within = {"at": "2026-03-01T09:00:00.500Z"}  # a register at 09:00:00 is the old meter's
    assert admin.ask("POST", path, within, 201)["exchanges"] == [{**within, "first": 0}]
    assert admin.ask("DELETE", path, within)["exchanges"] == []


# --- The organization, groups --------------------------------------------------------------------


def test_the_organization_s_settings_apply_to_its_devices(world: World, admin: Admin) -> None:
    before = admin.ask("GET", "/organization")
    body = {
        "name": "Acme Water", "price": 0.004, "currency": "EUR", "zone": "Europe/Rome",
        "holidays": ["2026-12-25", "2026-01-01"], "units": "metric", "updated": before["updated"],
    }  # fmt: skip
    assert before["units"] == "us"
    after = admin.ask("PATCH", "/organization", body)
    assert after["holidays"] == ["2026-01-01", "2026-12-25"]
    assert world.store.holidays(ACME) == after["holidays"]
    assert after["units"] == "metric"
    assert admin.device(TWIN)["currency"] == "EUR"  # it has no price of its own
    assert admin.device(METER)["currency"] is None  # it has one, in dollars
    made = admin.ask("POST", "/devices", {"serialNumber": "N-1"}, 201)
    assert (made["deviceTimeZone"], made["currency"]) == ("Europe/Rome", "EUR")
    assert admin.ask("PATCH", "/organization", body, 409)["reason"] == "changed"
    admin.ask("PATCH", "/organization", {"units": "imperial"}, 400)
    admin.ask("PATCH", "/organization", {"currency": "USD", "price": None, "units": "us"})
    assert world.store.organization_settings(ACME) == {"zone": "Europe/Rome"}
    assert admin.device(TWIN)["currency"] is None
    assert actions(world, "organization") == [("change", admin.key_id)] * 2


def test_the_demo_fleet_is_refused_beside_other_meters(world: World, admin: Admin) -> None:
    """What happens in an empty store: tests/ingest/test_demo_keeper.py."""
    expected = {"state": "none", "share": 0.0, "possible": False, "writer": False}
    assert admin.ask("GET", "/demo") == expected
    assert admin.ask("POST", "/demo", {}, 409)["reason"] == "not-empty"
    assert "Type demo" in admin.ask("DELETE", "/demo", {"confirm": "yes"}, 400)["detail"]
    assert "no demo fleet" in admin.ask("DELETE", "/demo", {"confirm": "demo"}, 409)["detail"]
    assert Admin(world, Grant(groups=frozenset({"north"}))).ask("GET", "/demo", None, 403)


def test_groups_are_made_renamed_and_deleted(world: World, admin: Admin) -> None:
    grant = Grant(groups=frozenset({"north"}))
    sent = {KEY_HEADER: world.new_key(grant)[0]}
    admin.ask("POST", "/groups", {"name": "south", "devices": [LONE]}, 201)
    admin.ask("POST", "/groups", {"name": "south", "devices": [TWIN]}, 409)
    admin.ask("POST", "/groups", {"name": "empty", "devices": []}, 400)
    body = {"name": "south", "newName": "South", "add": [TWIN], "remove": [LONE]}
    assert admin.ask("PATCH", "/groups", body)["devices"] == 1
    admin.ask("PATCH", "/groups", {"name": "South", "newName": "north"}, 409)
    rule = StoredRule("r", ACME, Rule("Leaks", groups=("north",)), "key", 0, 0)
    world.store.keep_rule(rule.row(), ())
    plan = BillingRow("p", ACME, "budget", "group:north", '{"amount": "5"}', None, "key", 0, 0)
    world.store.keep_billing_row(plan, ())
    problem = admin.ask("DELETE", "/groups", {"name": "north"}, 409)  # a key is limited to it
    assert "in use by key test, rule Leaks, budget group:north" in problem["detail"]
    admin.ask("PATCH", "/groups", {"name": "north", "newName": "top"})
    assert [StoredRule.of(row).rule.groups for row in world.store.alert_rules(ACME)] == [("top",)]
    assert [row.name for row in world.store.billing_rows("budget", ACME)] == ["group:top"]
    assert (
        len(world.client.get("/management/v1/device", headers=sent).get_json()) == 3
    )  # the key's grant followed
    foreign = Scope(OTHER, Grant(groups=frozenset({"north"})))
    assert world.store.devices(foreign, DeviceQuery())  # another organization's stays
    admin.ask("DELETE", "/groups", {"name": "South"})
    assert {row["name"] for row in admin.ask("GET", "/groups")["data"]} == {"top", "all floors"}


# --- Keys ----------------------------------------------------------------------------------------


def test_a_key_is_made_changed_and_revoked(world: World, admin: Admin) -> None:
    new = {"name": "Ada", "role": "viewer", "devices": ["T-1"]}
    made = admin.ask("POST", "/keys", new, 201)
    sent = {KEY_HEADER: made["key"]}
    assert world.client.get("/management/v1/device", headers=sent).get_json()[0]["id"] == TWIN
    listed = admin.ask("GET", "/keys")["data"]
    assert "key" not in next(key for key in listed if key["keyId"] == made["keyId"])
    path, seen = f"/keys/{made['keyId']}", {"version": made["version"]}
    after = admin.ask("PATCH", path, {**seen, "role": "operator", "allDevices": True})
    assert (after["role"], after["allDevices"], after["devices"]) == ("operator", True, [])
    assert admin.ask("PATCH", path, {**seen, "name": "Bea"}, 409)["reason"] == "changed"
    assert admin.ask("POST", f"{path}/revoke", {})["state"] == "revoked"
    admin.ask("PATCH", path, {"name": "Eve"}, 409)
    assert [action for action, _ in actions(world, "key")] == ["revoke", "change", "create"]


SENSELESS = (
    ({"name": "x"}, "devices"),
    ({"allDevices": True, "groups": ["north"]}, "allDevices"),
    ({"devices": [FOREIGN]}, "devices"),
    ({"allDevices": True, "expires": "2020-01-01T00:00:00Z"}, "expires"),
    ({"allDevices": True, "ingest": True, "role": "viewer"}, "role"),
    ({"allDevices": True, "role": "king"}, "role"),
)


def test_invalid_keys_are_refused(admin: Admin) -> None:
    for body, named in SENSELESS:
        problem = admin.ask("POST", "/keys", body, 400)
        assert [each["parameter"] for each in problem["errors"]] == [named]


def test_the_last_administrator_cannot_be_removed(world: World, admin: Admin) -> None:
    path = f"/keys/{admin.key_id}"
    for body in ({"role": "viewer"}, {"groups": ["north"]}, {"expires": "2100-01-01T00:00:00Z"}):
        assert admin.ask("PATCH", path, body, 409)["reason"] == "last-administrator"
    assert admin.ask("POST", f"{path}/revoke", {}, 409)["reason"] == "last-administrator"
    other = admin.ask("POST", "/keys", {"role": "administrator", "allDevices": True}, 201)
    admin.ask("PATCH", f"/keys/{other['keyId']}", {"expires": "2100-01-01T00:00:00Z"})
    refused = admin.ask("POST", f"{path}/revoke", {}, 409)  # nobody would be left in 2100
    assert (refused["reason"], "expire" in refused["detail"]) == ("last-administrator", True)
    assert admin.ask("POST", f"/keys/{other['keyId']}/revoke", {})["state"] == "revoked"


def test_a_key_has_the_time_of_its_last_use(world: World, admin: Admin) -> None:
    world.store.save_key_uses({admin.key_id: 5_000})
    world.store.save_key_uses({admin.key_id: 4_000})
    own = next(key for key in admin.ask("GET", "/keys")["data"] if key["own"])
    assert own["lastUsed"] == "1970-01-01T00:00:05.000Z"


# --- Permissions ---------------------------------------------------------------------------------


def test_an_administrator_of_some_devices_changes_only_those(world: World) -> None:
    north = Admin(world, Grant(groups=frozenset({"north"})))
    one = {"devices": [TWIN]}
    assert north.ask("PATCH", "/devices", one | {"set": {"label": "x"}})["changed"] == 1
    north.ask("PATCH", "/devices", one | {"set": {"groups": ["all"]}}, 403)
    for id in (LONE, FOREIGN):
        north.ask("PATCH", "/devices", {"devices": [TWIN, id], "set": {"label": "y"}}, 404)
        north.ask("DELETE", f"/devices/{id}", {"serialNumber": "M-1"}, 404)
    for path in ("/organization", "/groups", "/keys", "/quality", "/reception"):
        north.ask("GET", path, status=403)


def test_refused_readings_are_listed_by_reason(world: World, admin: Admin) -> None:
    refusals = [
        Refusal(organization, "mqtt", "unknown device", "X-1", "{}", 1_000, 3)
        for organization in (ACME, OTHER)
    ]
    world.store.write([], refusals=refusals)
    body = admin.ask("GET", "/quality")
    assert body["refused"] == 3
    assert [(row["device"], row["count"]) for row in body["refusals"]] == [("X-1", 3)]
    assert [row["exists"] for row in body["refusals"]] == [False]
    admin.ask("POST", "/devices", {"serialNumber": "X-1"}, 201)
    assert [row["exists"] for row in admin.ask("GET", "/quality")["refusals"]] == [True]


def test_the_openapi_document_is_valid_and_has_every_route(admin: Admin) -> None:
    document = admin.ask("GET", "/api-json")
    assert [str(error) for error in OPENAPI_30_VALIDATOR.iter_errors(document)] == []
    assert len(document["paths"]) == 15
