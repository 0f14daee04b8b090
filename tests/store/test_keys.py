"""Service API keys: stored without their secret, granted existing devices, revoked for good."""

from __future__ import annotations

import hashlib
import uuid
from dataclasses import replace

import pytest

from api.errors import UserError
from api.roles import Role
from api.store.base import DeviceQuery, Grant, Key, NewDevice, Scope, Store
from api.store.query import Query


@pytest.fixture
def acme(store: Store) -> str:
    organization_id = store.create_organization("Acme").id
    store.import_devices(
        organization_id,
        [NewDevice("S-1", {"id": str(uuid.uuid4())}, ("north",)), NewDevice("S-2", {}, ("south",))],
    )
    return organization_id


def new_key(organization_id: str, **changes: object) -> Key:
    secret = uuid.uuid4()
    key = Key(
        key_id=f"key_{secret.hex[:8]}",
        organization_id=organization_id,
        name="Ada's",
        digest=hashlib.sha256(str(secret).encode()).digest(),
        grant=Grant(everything=True),
        created_ms=1_700_000_000_000,
    )
    return replace(key, **changes)  # pyright: ignore[reportArgumentType]


def test_a_key_is_read_by_its_digest(store: Store, acme: str) -> None:
    devices = store.devices(Scope(acme, Grant(everything=True)), DeviceQuery())
    ids = frozenset(device.id for device in devices)
    for grant in (
        Grant(everything=True),
        Grant(groups=frozenset({"north", "south"})),
        Grant(devices=ids),
        Grant(groups=frozenset({"north"}), devices=ids),
        Grant(),
    ):
        key = new_key(acme, grant=grant, expires_ms=1_800_000_000_000)
        store.create_key(key)
        assert store.key(key.digest) == key
        assert store.named_key(key.key_id) == key
        listed = store.keys()
        assert key in listed
    assert store.key(b"\x00" * 32) is None
    assert store.named_key("key_nothing") is None


def test_a_sending_key_is_read_by_its_digest(store: Store, acme: str) -> None:
    devices = store.devices(Scope(acme, Grant(everything=True)), DeviceQuery())
    ids = frozenset(device.id for device in devices)
    for grant in (
        Grant(everything=True),
        Grant(groups=frozenset({"north", "south"})),
        Grant(groups=frozenset({"north"}), devices=ids),
    ):
        key = new_key(acme, grant=grant, ingest=True)
        store.create_key(key)
        assert store.key(key.digest) == key
        listed = store.keys()
        assert key in listed
    with pytest.raises(UserError, match="needs access"):
        store.create_key(new_key(acme, grant=Grant(), ingest=True))


def test_a_key_has_its_role_and_an_older_one_an_equal_role(store: Store, acme: str) -> None:
    for role in Role:
        key = new_key(acme, role=role, grant=Grant(groups=frozenset({"north"})))
        store.create_key(key)
        assert store.key(key.digest) == key
        for other in Role:
            assert store.set_key_role(key.key_id, other)
            assert store.key(key.digest) == replace(key, role=other)
    assert not store.set_key_role("key_nothing", Role.VIEWER)
    older = new_key(acme)
    store.create_key(older)
    with store.transaction() as transaction:  # pyright: ignore[reportAttributeAccessIssue]
        transaction.run(Query("DELETE FROM key_grant WHERE key_id = ?", (older.key_id,)))
    assert store.key(older.digest) == older


def test_a_key_that_sends_readings_has_no_role(store: Store, acme: str) -> None:
    sending = new_key(acme, ingest=True)
    store.create_key(sending)
    with pytest.raises(UserError, match="only sends readings"):
        store.set_key_role(sending.key_id, Role.ADMINISTRATOR)


def test_ids_in_a_grant_may_be_written_in_any_case(store: Store, acme: str) -> None:
    (device,) = store.devices(Scope(acme, Grant(groups=frozenset({"north"}))), DeviceQuery())
    key = new_key(acme, grant=Grant(devices=frozenset({device.id.upper()})))
    store.create_key(key)
    result = store.key(key.digest)
    assert result is not None
    assert result.grant.devices == {device.id}


@pytest.mark.parametrize(
    ("grant", "named"),
    [
        (Grant(groups=frozenset({"north", "west"})), "west"),
        (Grant(devices=frozenset({"00000000-0000-4000-8000-00000000000a"})), "00000000000a"),
    ],
)
def test_a_grant_of_a_missing_device_or_group_is_refused(
    store: Store, acme: str, grant: Grant, named: str
) -> None:
    key = new_key(acme, grant=grant)
    with pytest.raises(UserError, match=named):
        store.create_key(key)
    assert store.key(key.digest) is None


def test_a_grant_of_another_organizations_device_is_refused(store: Store, acme: str) -> None:
    other = store.create_organization("Other").id
    store.import_devices(other, [NewDevice("S-9", {}, ("their",))])
    (theirs,) = store.devices(Scope(other, Grant(everything=True)), DeviceQuery())
    for grant in (Grant(devices=frozenset({theirs.id})), Grant(groups=frozenset({"their"}))):
        with pytest.raises(UserError, match="not found in this organization"):
            store.create_key(new_key(acme, grant=grant))


def test_a_key_of_no_organization_or_made_twice_is_refused(store: Store, acme: str) -> None:
    with pytest.raises(UserError, match="no organization nobody"):
        store.create_key(new_key("nobody"))
    key = new_key(acme)
    store.create_key(key)
    with pytest.raises(UserError, match=key.key_id):
        store.create_key(key)


def test_revoking_is_final_and_idempotent(store: Store, acme: str) -> None:
    key, other = new_key(acme), new_key(acme)
    store.create_key(key)
    store.create_key(other)
    assert store.revoke_key(key.key_id, 1_750_000_000_000) is True
    assert store.revoke_key(key.key_id, 1_760_000_000_000) is True
    assert store.key(key.digest) == replace(key, revoked_ms=1_750_000_000_000)
    assert store.key(other.digest) == other
    assert store.revoke_key("key_nobody", 1) is False


def test_a_grant_is_resolved_when_it_is_used(store: Store, acme: str) -> None:
    key = new_key(acme, grant=Grant(groups=frozenset({"north"})))
    store.create_key(key)
    store.import_devices(acme, [NewDevice("S-3", {}, ("north",)), NewDevice("S-1", {}, ())])
    result = store.key(key.digest)
    assert result is not None
    seen = store.devices(Scope(acme, result.grant), DeviceQuery())
    assert [device.serial_number for device in seen] == ["S-3"]


def test_keys_are_listed_oldest_first(empty_store: Store) -> None:
    acme = empty_store.create_organization("Acme").id
    keys = [new_key(acme, created_ms=created) for created in (3, 1, 2)]
    for key in keys:
        empty_store.create_key(key)
    listed = empty_store.keys()
    assert [key.created_ms for key in listed] == [1, 2, 3]
