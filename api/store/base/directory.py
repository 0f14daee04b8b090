"""The directory's interface: organizations, devices, keys and their grants."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from api.roles import Role
from api.store.base.audit import AuditEntry


@dataclass(frozen=True, slots=True)
class Grant:
    """The devices a credential may see: all of its organization's, or the union of groups (by name)
    and single devices (by UUID). Groups are resolved at each read."""

    everything: bool = False
    groups: frozenset[str] = frozenset()
    devices: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Scope:
    """The organization and grant that a read is limited to. Every read of the directory has one."""

    organization_id: str
    grant: Grant


@dataclass(frozen=True, slots=True)
class Organization:
    id: str
    name: str
    active: bool
    created_ms: int
    updated_ms: int
    default_cost_per_gallon: float | None = None
    account_organizations: dict[str, Any] | None = None
    subscriptions: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Device:
    """A device of the directory. ``key``: its internal number in the time series. ``id``: its UUID.
    ``config`` includes ``reportingInterval`` if one is set; in a list of devices also ``groups``,
    the names of its groups within the scope's grant, and ``parent``, the serial number of the
    nearest meter upstream that the scope may see."""

    key: int
    id: str
    organization_id: str
    serial_number: str
    network_unique_identifier: str
    category: str
    label: str
    created_ms: int
    updated_ms: int
    installed_on_ms: int
    installed: bool
    active: bool
    cost_per_gallon: dict[str, Any]
    alerts_active: bool
    k_factor: dict[str, Any]
    time_zone: str
    model: str
    reseller_id: str | None = None
    distributor_id: str | None = None
    config: dict[str, Any] | None = None
    billing_subscriptions: tuple[str, ...] = ()
    reporting_interval_s: float | None = None


@dataclass(frozen=True, slots=True)
class DeviceQuery:
    """A selection of devices and its order. ``order_by``: a scalar Device field of the interface
    (``serialNumber``). Text compares by code point, ties by id; nulls come last in both directions.
    ``active`` None selects both. ``text``: part of a label, serial number or network id, in upper
    or lower case."""

    active: bool | None = True
    serial_number: str | None = None
    network_unique_identifier: str | None = None
    text: str | None = None
    group: str | None = None
    order_by: str = "label"
    descending: bool = False
    limit: int | None = None
    offset: int = 0


@dataclass(frozen=True, slots=True)
class NewDevice:
    """A device to create, or to update if the organization has one with that serial number.
    ``fields`` has only the given ones, validated: interface names (``deviceTimeZone``) plus
    ``active``, ``reportingInterval`` and ``parent`` (the serial number of the meter upstream, None
    for none; also taken from ``config``). ``groups`` None keeps the groups. ``expected_ms``: the
    device's ``updated_ms`` when its editor read it; a device that has changed since is refused.
    ``config``: changes of the configuration by key, None for keys to remove."""

    serial_number: str
    fields: dict[str, Any] = field(default_factory=dict)
    groups: tuple[str, ...] | None = None
    expected_ms: int | None = None
    config: dict[str, Any] = field(default_factory=dict[str, Any])


class Imported(NamedTuple):
    created: int
    updated: int


@dataclass(frozen=True, slots=True)
class Key:
    """A service API key without its secret: ``digest`` is the SHA-256 of the lower-case UUID.
    ``ingest``: the key sends readings of its devices, and reads nothing; its role has no effect."""

    key_id: str
    organization_id: str
    name: str
    digest: bytes
    grant: Grant
    created_ms: int
    expires_ms: int | None = None
    revoked_ms: int | None = None
    ingest: bool = False
    role: Role = Role.OPERATOR


@dataclass(frozen=True, slots=True)
class OrganizationChange:
    """``settings``: ``currency`` for prices that name none, and ``zone`` for new devices; None
    clears one. ``holidays`` None leaves them unchanged. ``expected_ms``: see `NewDevice`."""

    name: str
    cost_per_gallon: float | None
    settings: Mapping[str, str | None]
    holidays: Sequence[str] | None = None
    expected_ms: int | None = None


class GroupSize(NamedTuple):
    name: str
    devices: int


class Directory(Protocol):
    """Organizations, devices, groups and keys. Where something is changed, ``audit`` is recorded in
    the same transaction."""

    def organization(self, organization_id: str) -> Organization | None: ...

    def organizations(self) -> list[Organization]:
        """Returns all organizations by name. For the command line only."""
        ...

    def create_organization(
        self,
        name: str,
        *,
        organization_id: str | None = None,
        cost_per_gallon: float | None = None,
        audit: Sequence[AuditEntry] = (),
    ) -> Organization:
        """Creates an organization, with a new UUID unless an id is given. Raises UserError if it
        exists."""
        ...

    def organization_settings(self, organization_id: str) -> dict[str, str]: ...

    def settings_named(self, name: str) -> dict[str, str]:
        """Returns the setting by organization, for those that have it."""
        ...

    def change_organization(
        self, organization_id: str, change: OrganizationChange, audit: Sequence[AuditEntry] = ()
    ) -> None:
        """Changes an organization. Devices without a price of their own follow its currency. Raises
        Conflict if somebody else has changed the organization since."""
        ...

    def devices(self, scope: Scope, query: DeviceQuery) -> list[Device]: ...

    def devices_in_context(self, scope: Scope, keys: Sequence[int]) -> list[Device]:
        """Returns these devices of the scope, active or not, with their groups and parents."""
        ...

    def device_page(self, scope: Scope, query: DeviceQuery) -> tuple[int, list[Device]]:
        """The number of matches without limit and offset, and the devices of this page."""
        ...

    def count_devices(self, scope: Scope, query: DeviceQuery) -> int:
        """Returns the number of matches, ignoring limit and offset."""
        ...

    def groups(self, scope: Scope) -> list[GroupSize]:
        """Returns the groups within the scope's grant, by name, with the number of active devices
        in each; groups without active devices are left out."""
        ...

    def sub_meters(self, scope: Scope, main: Device) -> list[Device]:
        """Returns the active devices whose nearest visible meter upstream is this one, by label."""
        ...

    def resolve(self, scope: Scope, identifiers: Sequence[str]) -> list[Device | None]:
        """Returns the device of each identifier, in order: by UUID (any case, active or not), else
        by serial number, else by networkUniqueIdentifier (these two among active devices).

        None for identifiers that are unknown, outside the scope, or of inactive devices not named
        by UUID. Uses one query.
        """
        ...

    def rename_group(
        self, organization_id: str, name: str, new_name: str, audit: Sequence[AuditEntry] = ()
    ) -> None:
        """Renames a group, also in the grants of keys, settings, rules and silences that name it.
        Raises Conflict if the new name is taken."""
        ...

    def delete_group(
        self, organization_id: str, name: str, audit: Sequence[AuditEntry] = ()
    ) -> None:
        """Deletes a group; its devices stay. Raises Conflict while a key or a rule is limited to
        it: without the group, the rule would apply to all devices."""
        ...

    def import_devices(
        self,
        organization_id: str,
        devices: Iterable[NewDevice],
        audit: Sequence[AuditEntry] = (),
    ) -> Imported:
        """Imports all of the devices or none; a UserError names the first that can't be imported.
        Serial numbers and networkUniqueIdentifiers are unique among an organization's active
        devices. A parent is a device of the same organization, and no device is upstream of
        itself."""
        ...

    def create_key(self, key: Key, audit: Sequence[AuditEntry] = ()) -> None:
        """Creates a key. Raises UserError if the grant names a device or group that the
        organization lacks."""
        ...

    def key(self, digest: bytes) -> Key | None: ...

    def named_key(self, key_id: str) -> Key | None: ...

    def keys(self) -> list[Key]: ...

    def change_key(self, before: Key, after: Key, audit: Sequence[AuditEntry] = ()) -> None:
        """Changes name, grant, expiry or role, or revokes the key. Raises Conflict if the stored
        key differs from ``before``, or if the organization would lose its last administrator's key
        for all devices."""
        ...

    def key_uses(self) -> dict[str, int]:
        """Returns Key ID → when it was last used (ms)."""
        ...

    def save_key_uses(self, uses: Mapping[str, int]) -> None:
        """Saves Key ID → when it was used (ms). Times earlier than the stored one are ignored."""
        ...

    def revoke_key(self, key_id: str, at_ms: int, audit: Sequence[AuditEntry] = ()) -> bool:
        """Returns False if there is no such key. Revoking again changes nothing."""
        ...

    def set_key_role(self, key_id: str, role: Role, audit: Sequence[AuditEntry] = ()) -> bool:
        """Returns False if there is no such key. Raises UserError for a key that only sends
        readings."""
        ...

    def ingest_keys(self, organization_id: str) -> dict[str, int]:
        """Returns every identifier that a reading may use → ``key``, as in `resolve` (UUIDs in
        lower case)."""
        ...
