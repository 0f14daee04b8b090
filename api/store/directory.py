"""Organizations, devices and groups, for every dialect."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from uuid import uuid4

import orjson

from api.errors import Conflict, UserError
from api.metering.register import RegisterSettings, settings_of
from api.store.base import (
    Device,
    DeviceQuery,
    GroupSize,
    Imported,
    NewDevice,
    Organization,
    OrganizationChange,
    Row,
    Scope,
)
from api.store.base.audit import AuditEntry
from api.store.device_import import Plan, Planner, Values
from api.store.devices import COLUMNS, device_from, import_columns, in_context
from api.store.dialect_interface import Seam, Taken, Transaction
from api.store.registers import RegistersPart
from api.store.sql import directory as sql
from api.store.sql import groups as groups_sql
from api.store.sql.arithmetic import Arithmetic
from api.store.tables import DEVICE, DEVICE_ANCESTOR, DEVICE_GROUP, ORGANIZATION_SETTING
from api.timez import LAST_INSTANT_MS, now_ms

NAMED = 5  # devices listed in a message that can't name only one


class DirectoryPart(RegistersPart):
    """`api.store.base.Directory` without its keys, for every dialect."""

    def organization(self, organization_id: str) -> Organization | None:
        rows = self.fetch(sql.organization(organization_id))
        return _organization(rows[0]) if rows else None

    def organizations(self) -> list[Organization]:
        return [_organization(row) for row in self.fetch(sql.organizations())]

    def create_organization(
        self,
        name: str,
        *,
        organization_id: str | None = None,
        cost_per_gallon: float | None = None,
        audit: Sequence[AuditEntry] = (),
    ) -> Organization:
        now = now_ms()
        new = Organization(organization_id or str(uuid4()), name, True, now, now, cost_per_gallon)
        with self.transaction() as transaction:
            transaction.lock_directory()
            if transaction.fetch(sql.organization(new.id)):
                raise UserError(f"organization {new.id} already exists")
            transaction.run(sql.create_organization(new))
            self.record_in(transaction, audit)
        return new

    def organization_settings(self, organization_id: str) -> dict[str, str]:
        return dict(self.fetch(sql.settings(organization_id)))  # pyright: ignore[reportArgumentType]

    def settings_named(self, name: str) -> dict[str, str]:
        return dict(self.fetch(sql.settings_named(name)))  # pyright: ignore[reportArgumentType]

    def change_organization(
        self, organization_id: str, change: OrganizationChange, audit: Sequence[AuditEntry] = ()
    ) -> None:
        with self.transaction() as transaction:
            transaction.lock_directory()
            rows = transaction.fetch(sql.organization(organization_id))
            if not rows:
                raise UserError(f"no organization {organization_id}")
            before = _organization(rows[0])
            if change.expected_ms is not None and before.updated_ms != change.expected_ms:
                raise Conflict("Somebody else has changed these settings meanwhile.",
                               reason="changed")  # fmt: skip
            settings: dict[str, str] = dict(transaction.fetch(sql.settings(organization_id)))  # pyright: ignore[reportArgumentType]
            now = max(now_ms(), before.updated_ms + 1)
            transaction.run(
                sql.change_organization(organization_id, change.name, change.cost_per_gallon, now)
            )
            for name, value in change.settings.items():
                transaction.run(sql.forget_setting(organization_id, name))
                if value is not None:
                    row = (organization_id, name, value)
                    names = ORGANIZATION_SETTING.names
                    transaction.insert(ORGANIZATION_SETTING, names, [row])
            old, new = (_no_price(each.get("currency")) for each in (settings, change.settings))
            if "currency" in change.settings and old != new:
                transaction.run(sql.follow_price(organization_id, old, new, now))
            if change.holidays is not None:
                self.set_holidays_in(transaction, organization_id, change.holidays)
            self.record_in(transaction, audit)

    @abstractmethod
    def set_holidays_in(
        self, transaction: Transaction, organization_id: str, days: Sequence[str]
    ) -> None:
        """See `FindingsPart`."""

    # --- Groups ---

    def rename_group(
        self, organization_id: str, name: str, new_name: str, audit: Sequence[AuditEntry] = ()
    ) -> None:
        with self.transaction() as transaction:
            transaction.lock_directory()
            names = {row[0] for row in transaction.fetch(groups_sql.names(organization_id))}
            if name not in names:
                raise Conflict("Somebody else has renamed or deleted the group meanwhile.",
                               reason="changed")  # fmt: skip
            if new_name in names:
                raise Conflict(f"There is a group {new_name} already.")
            transaction.run(groups_sql.touch(organization_id, name, now_ms()))
            for statement in groups_sql.rename(organization_id, name, new_name):
                transaction.run(statement)
            rows = transaction.fetch(groups_sql.definitions(organization_id))
            for table, _, id, called, text in rows:
                definition = orjson.loads(text)
                if _names(called, definition, name):
                    after = _budget_of(new_name) if called == _budget_of(name) else called
                    text = _renamed(definition, name, new_name)
                    transaction.run(groups_sql.redefine(table, id, after, text))
            self.record_in(transaction, audit)

    def delete_group(
        self, organization_id: str, name: str, audit: Sequence[AuditEntry] = ()
    ) -> None:
        with self.transaction() as transaction:
            transaction.lock_directory()
            users = [
                f"key {row[0] or row[1]}"
                for row in transaction.fetch(groups_sql.keys_of_group(organization_id, name))
            ]
            rows = transaction.fetch(groups_sql.definitions(organization_id))
            users += [
                f"{kind} {called}"
                for _, kind, _, called, text in rows
                if _names(called, orjson.loads(text), name)
            ]
            if users:
                more = f" and {len(users) - NAMED} more" if len(users) > NAMED else ""
                raise Conflict(
                    f"The group {name} is in use by {', '.join(users[:NAMED])}{more}: change that"
                    " first.",
                    reason="in-use",
                )
            transaction.run(groups_sql.touch(organization_id, name, now_ms()))
            transaction.run(groups_sql.delete(organization_id, name))
            transaction.run(groups_sql.forget_settings(organization_id, name))
            self.record_in(transaction, audit)

    # --- Devices ---

    def devices(self, scope: Scope, query: DeviceQuery) -> list[Device]:
        devices = [device_from(row) for row in self.fetch(sql.devices(self.dialect, scope, query))]
        return in_scope(self, scope, devices)

    def devices_in_context(self, scope: Scope, keys: Sequence[int]) -> list[Device]:
        rows = self.fetch(sql.devices_by_key(self.dialect, scope, keys)) if keys else []
        return in_scope(self, scope, [device_from(row) for row in rows])

    def device_page(self, scope: Scope, query: DeviceQuery) -> tuple[int, list[Device]]:
        if query.text is None:
            return self.count_devices(scope, query), self.devices(scope, query)
        every = replace(query, limit=None, offset=0)  # a text is searched in all rows: only once
        keys = [key for (key,) in self.fetch(sql.device_keys(self.dialect, scope, every))]
        page = keys[query.offset :][: query.limit]
        by_key = {each.key: each for each in self.devices_in_context(scope, page)}
        return len(keys), [by_key[key] for key in page if key in by_key]

    def count_devices(self, scope: Scope, query: DeviceQuery) -> int:
        return int(self.fetch(sql.count_devices(self.dialect, scope, query))[0][0])

    def groups(self, scope: Scope) -> list[GroupSize]:
        return [GroupSize(*row) for row in self.fetch(sql.groups(self.dialect, scope))]

    def sub_meters(self, scope: Scope, main: Device) -> list[Device]:
        rows = self.fetch(sql.downstream(self.dialect, scope, main.key))
        devices = in_scope(self, scope, [device_from(row) for row in rows])
        return [each for each in devices if (each.config or {}).get("parent") == main.serial_number]

    def resolve(self, scope: Scope, identifiers: Sequence[str]) -> list[Device | None]:
        if not identifiers:
            return []
        rows = self.fetch(sql.identified(self.dialect, scope, identifiers))
        devices = [device_from(row) for row in rows]
        by_id = {device.id: device for device in devices}
        active = [device for device in devices if device.active]
        by_serial = {device.serial_number: device for device in active}
        by_network = {device.network_unique_identifier: device for device in active}
        return [
            by_id.get(identifier.lower()) or by_serial.get(identifier) or by_network.get(identifier)
            for identifier in identifiers
        ]

    def ingest_keys(self, organization_id: str) -> dict[str, int]:
        rows = self.fetch(sql.identifiers(organization_id))
        active = [row for row in rows if row[4]]
        return {
            **{row[3]: row[0] for row in active},
            **{row[2]: row[0] for row in active},
            **{row[1]: row[0] for row in rows},
        }

    # --- Importing ---

    def import_devices(
        self,
        organization_id: str,
        devices: Iterable[NewDevice],
        audit: Sequence[AuditEntry] = (),
    ) -> Imported:
        wanted = list(devices)
        configured = self._configured(organization_id, wanted)
        for key in configured:
            self.add_partitions(self.register_days(key))

        def carry_out(arithmetic: Arithmetic) -> Imported:
            with self.transaction() as transaction:
                transaction.lock_devices(configured)
                transaction.lock_directory()
                if not transaction.fetch(sql.organization(organization_id)):
                    raise UserError(f"no organization {organization_id}")
                planner = self._planner(transaction, organization_id, wanted)
                before = dict(planner.devices)
                plan = planner.plan(wanted)
                self._carry_out(transaction, plan)
                self.record_in(transaction, audit)
                for key, values in plan.updated.items():
                    if _register_settings(values) != _register_settings(before[key]):
                        self.derive_around(transaction, key, 0, LAST_INSTANT_MS, arithmetic)
            return plan.imported

        return self.reckon(carry_out)

    def _configured(self, organization_id: str, wanted: Sequence[NewDevice]) -> list[int]:
        """Returns the devices whose derived readings may depend on what is imported."""
        serials = [
            device.serial_number
            for device in wanted
            if "config" in device.fields or "reportingInterval" in device.fields
        ]
        keys = self.ingest_keys(organization_id) if serials else {}
        return sorted({keys[serial] for serial in serials if serial in keys})

    def _planner(
        self, transaction: Transaction, organization_id: str, wanted: Sequence[NewDevice]
    ) -> Planner:
        current = [_values(row) for row in transaction.fetch(sql.all_of(organization_id))]
        ids_given = [import_columns(device.fields).get("id") for device in wanted]
        ids = [device_id for device_id in ids_given if device_id]
        return Planner(
            organization_id,
            devices={values["key"]: values for values in current},
            ids_of_others=dict(
                (row[0], row[1])
                for row in transaction.fetch(sql.ids_of_others(self.dialect, organization_id, ids))
            ),
            next_key=int(transaction.fetch(sql.next_key())[0][0]),
            now_ms=now_ms(),
            ancestors=[
                (row[0], row[1], row[2])
                for row in transaction.fetch(sql.ancestors(organization_id))
            ],
            defaults=_defaults(dict(transaction.fetch(sql.settings(organization_id)))),
        )

    def _carry_out(self, transaction: Transaction, plan: Plan) -> None:
        if plan.released:  # first, since two devices may swap unique identifiers
            transaction.run(sql.release(self.dialect, sorted(plan.released)))
        for values in plan.updated.values():
            with _named([values]):
                transaction.run(sql.update_device(values))
        rows = [tuple(values[column] for column in COLUMNS) for values in plan.created.values()]
        with _named(list(plan.created.values())):
            transaction.insert(DEVICE, COLUMNS, rows)
        if plan.groups:
            transaction.run(sql.leave_groups(self.dialect, list(plan.groups)))
        members = [(name, key) for key, names in plan.groups.items() for name in names]
        transaction.insert(DEVICE_GROUP, DEVICE_GROUP.names, members)
        if plan.moved:
            transaction.run(sql.leave_ancestors(self.dialect, list(plan.moved)))
        upstream = [
            (key, ancestor, depth)
            for key, upstream in plan.moved.items()
            for depth, ancestor in enumerate(upstream, 1)
        ]
        transaction.insert(DEVICE_ANCESTOR, DEVICE_ANCESTOR.names, upstream)


def _names(called: str, definition: Mapping[str, Any], group: str) -> bool:
    """Whether a rule of alerts, a budget, a tariff or a report is limited to the group."""
    return (
        called == _budget_of(group)
        or definition.get("group") == group
        or group in (definition.get("groups") or ())
    )


def _budget_of(group: str) -> str:
    """Returns the name of a group's budget."""
    return f"group:{group}"


def _renamed(definition: Mapping[str, Any], group: str, new_name: str) -> str:
    after = dict(definition)
    if after.get("group") == group:
        after["group"] = new_name
    if after.get("groups"):
        after["groups"] = [new_name if each == group else each for each in after["groups"]]
    return orjson.dumps(after).decode()


def _defaults(settings: Mapping[str, str]) -> dict[str, str]:
    """Returns columns of new devices from the organization's settings."""
    zone = {"time_zone": settings["zone"]} if "zone" in settings else {}
    return {**zone, "cost_per_gallon": _no_price(settings.get("currency"))}


def _no_price(currency: str | None) -> str:
    """Returns, as JSON, the price of a device without a price of its own."""
    return orjson.dumps({"currency": currency} if currency else {}).decode()


def in_scope(store: Seam, scope: Scope, devices: Sequence[Device]) -> list[Device]:
    """Returns the devices with their groups and parents, as far as the scope sees these."""
    if not devices:
        return []
    keys = [device.key for device in devices]
    groups: dict[int, list[str]] = {}
    for key, name in store.fetch(sql.groups_of(store.dialect, scope.grant, keys)):
        groups.setdefault(key, []).append(name)
    parents: dict[int, str] = {}
    for key, serial in store.fetch(sql.parents_of(store.dialect, scope, keys)):
        parents.setdefault(key, serial)  # the nearest is first
    return [in_context(each, groups.get(each.key, ()), parents.get(each.key)) for each in devices]


@contextmanager
def _named(devices: Sequence[Values]) -> Generator[None]:
    """Names the devices if the database refuses them for a reason that the plan didn't check."""
    try:
        yield
    except Taken as error:
        serials = ", ".join(values["serial_number"] for values in devices[:NAMED])
        more = f" or one of {len(devices) - NAMED} more" if len(devices) > NAMED else ""
        raise UserError(
            f"device {serials}{more}: the id, serial number or networkUniqueIdentifier is"
            " already in use"
        ) from error


def _register_settings(values: Values) -> RegisterSettings:
    config = values["config"]
    return settings_of(
        None if config is None else orjson.loads(config), values["reporting_interval_s"]
    )


def _values(row: Sequence[object]) -> Values:
    return dict(zip(COLUMNS, row, strict=True))


def _organization(row: Row) -> Organization:
    identity, name, active, created_ms, updated_ms, cost, accounts, subscriptions = row
    return Organization(
        identity,
        name,
        bool(active),
        created_ms,
        updated_ms,
        cost,
        _json(accounts),
        _json(subscriptions),
    )


def _json(text: str | None) -> dict[str, object] | None:
    return None if text is None else orjson.loads(text)
