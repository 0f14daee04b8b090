"""`weir keys` and `weir tokens`."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from uuid import UUID

import jwt
import pytest

from api.settings import Settings
from api.store.base import Grant, Scope, Store
from api.timez import now_ms, parse_instant, stamp
from tests.commands.conftest import CommandLine


def test_a_key_is_a_uuid_shown_once_and_stored_as_its_digest(
    weir: CommandLine, meters: str, opened: Callable[[], Store]
) -> None:
    made = weir.ask("keys", "create", "--org", meters, "--name", "Portal")
    assert set(made) == {"keyId", "key"}
    assert UUID(made["key"]).version == 4
    assert made["keyId"].startswith("key_")
    key = opened().key(hashlib.sha256(made["key"].encode()).digest())
    assert key is not None
    assert (key.key_id, key.name, key.grant) == (made["keyId"], "Portal", Grant(everything=True))
    assert made["key"] not in weir.run("keys", "list", "--json").stdout


def test_a_key_for_some_devices_takes_any_identifier(
    weir: CommandLine, meters: str, opened: Callable[[], Store]
) -> None:
    everything = Scope(meters, Grant(everything=True))
    first, second = opened().resolve(everything, ["M-1", "M-2"])
    assert first is not None
    assert second is not None
    arguments = ["--device", first.id.upper(), "--device", "NET-2", "--group", "north"]
    weir.ask("keys", "create", "--org", meters, *arguments)
    (listed,) = weir.ask("keys", "list", "--org", meters)
    assert listed["devices"] == sorted([first.id, second.id])
    assert (listed["groups"], listed["allDevices"]) == (["north"], False)


def test_a_sending_key_is_marked_in_the_list(
    weir: CommandLine, meters: str, opened: Callable[[], Store]
) -> None:
    made = weir.ask("keys", "create", "--org", meters, "--ingest", "--group", "north")
    weir.ask("keys", "create", "--org", meters)
    key = opened().key(hashlib.sha256(made["key"].encode()).digest())
    assert key is not None
    assert (key.ingest, key.grant) == (True, Grant(groups=frozenset({"north"})))
    assert {k["keyId"] == made["keyId"]: k["ingest"] for k in weir.ask("keys", "list")} == {
        True: True, False: False,
    }  # fmt: skip


def test_a_key_has_a_role_that_a_command_changes(weir: CommandLine, meters: str) -> None:
    made = weir.ask("keys", "create", "--org", meters, "--role", "viewer")["keyId"]
    plain = weir.ask("keys", "create", "--org", meters)["keyId"]
    sending = weir.ask("keys", "create", "--org", meters, "--ingest")["keyId"]

    def roles() -> dict[str, str | None]:
        return {key["keyId"]: key["role"] for key in weir.ask("keys", "list")}

    assert roles() == {made: "viewer", plain: "operator", sending: None}
    changed = {"keyId": made, "role": "administrator"}
    assert weir.ask("keys", "set-role", made, "administrator") == changed
    assert roles()[made] == "administrator"
    assert weir.run("keys", "set-role", "key_none", "viewer").exit_code == 1
    assert weir.run("keys", "set-role", sending, "viewer").exit_code == 1
    requests = ["keys", "create", "--org", meters, "--ingest", "--role", "viewer"]
    assert weir.run(*requests).exit_code == 1


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--device", "M-9"], "--device M-9: not found in this organization"),
        (
            ["--device", "M-1", "--device", "M-3"],
            "--device M-3: not found in this organization",
        ),
        (["--group", "west"], "Group west: not found in this organization"),
        (["--expires", "soon"], "--expires must be an ISO 8601 date-time"),
        (["--expires", "2020-01-01"], "--expires is in the past"),
    ],
)
def test_a_grant_of_a_missing_device_makes_no_key(
    weir: CommandLine, meters: str, arguments: list[str], problem: str
) -> None:
    assert problem in weir.error("keys", "create", "--org", meters, *arguments)
    assert weir.ask("keys", "list") == []


def test_keys_end_by_revocation_and_by_expiry(
    weir: CommandLine, meters: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    soon = now_ms() + 60_000
    for name, more in (("a", []), ("b", ["--expires", stamp(soon, fraction=True)]), ("c", [])):
        weir.ask("keys", "create", "--org", meters, "--name", name, *more)
    ids = {key["name"]: key["keyId"] for key in weir.ask("keys", "list")}
    revoked = weir.ask("keys", "revoke", ids["c"])
    assert revoked["keyId"] == ids["c"]
    assert weir.ask("keys", "revoke", ids["c"]) == revoked
    monkeypatch.setattr("api.auth.key_management.now_ms", lambda: soon)
    states = {key["name"]: key["state"] for key in weir.ask("keys", "list")}
    assert states == {"a": "active", "b": "expired", "c": "revoked"}


def test_revoking_a_missing_key_is_an_error(weir: CommandLine) -> None:
    assert weir.error("keys", "revoke", "key_0") == ("no key key_0: see weir keys list")


def test_a_list_may_be_limited_to_one_organization(weir: CommandLine, meters: str) -> None:
    other = weir.ask("orgs", "create", "Other")["id"]
    weir.ask("keys", "create", "--org", other)
    assert weir.ask("keys", "list", "--org", meters) == []
    assert len(weir.ask("keys", "list", "--org", other)) == 1
    assert "nobody" in weir.error("keys", "list", "--org", "nobody")


def test_a_token_is_signed_for_an_organization(weir: CommandLine, meters: str) -> None:
    token = weir.ask("tokens", "create", "--org", meters, "--ttl", "120")["token"]
    secret = Settings.from_env(weir.environ).secret
    claims = jwt.decode(token, secret, algorithms=["HS256"], options={"verify_aud": False})
    assert claims["org"] == meters
    assert claims["exp"] - claims["iat"] == 120
    assert "devices" not in claims


def test_a_token_for_some_devices_names_them_by_uuid(
    weir: CommandLine, meters: str, opened: Callable[[], Store]
) -> None:
    token = weir.ask("tokens", "create", "--org", meters, "--device", "M-1")["token"]
    claims = jwt.decode(token, options={"verify_signature": False})
    (device,) = opened().resolve(Scope(meters, Grant(everything=True)), ["M-1"])
    assert device is not None
    assert claims["devices"] == [device.id]


@pytest.mark.parametrize("ttl", ["0", "-5", "x", "99999999999"])
def test_a_token_lives_for_a_sensible_time(weir: CommandLine, meters: str, ttl: str) -> None:
    assert "--ttl" in weir.error("tokens", "create", "--org", meters, "--ttl", ttl)


def test_a_token_for_an_unknown_device_is_not_signed(weir: CommandLine, meters: str) -> None:
    output = weir.error("tokens", "create", "--org", meters, "--device", "M-9")
    assert output == "--device M-9: not found in this organization"


def test_an_expiry_is_stored_to_the_millisecond(weir: CommandLine, meters: str) -> None:
    weir.ask("keys", "create", "--org", meters, "--expires", "2099-01-01T00:00:00+01:00")
    (key,) = weir.ask("keys", "list")
    assert parse_instant(key["expires"]) == parse_instant("2098-12-31T23:00:00Z")
