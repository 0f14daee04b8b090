"""The demo fleet in an ordinary organization: its request, progress and removal.

An administrator of an empty store requests it. The writer creates, feeds and removes it
(`api.ingest.demo.keeper`). The request is a setting of the organization: all workers and hosts see
it, and it outlasts any process.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any, Final, Literal, Self

import orjson

from api.domain.device_changes import Editor, require_whole
from api.errors import BadRequest, Conflict
from api.store.base import (
    AuditEntry,
    DeviceQuery,
    Grant,
    Organization,
    OrganizationChange,
    Scope,
    Store,
)

SEED: Final = 10412
MARK: Final = f"demo fleet 1, seed {SEED}"
"""The key of the history's progress in the store, so that an interrupted seeding resumes."""
ABOUT_ROWS: Final = 1_780_000
SETTING: Final = "demo"
CONFIRMATION: Final = "demo"
NOT_EMPTY: Final = (
    "The demo fleet is for an empty store, so that invented meters never come beside real ones."
    " See it with a store of its own: weir demo."
)
State = Literal["none", "filling", "complete", "removing"]


@dataclass(frozen=True, slots=True)
class Trial:
    """A request. ``origin_ms``: when it was made; the history ends there. ``by``: who made it."""

    organization_id: str
    origin_ms: int
    by: str
    removing: bool = False

    @classmethod
    def of(cls, store: Store, organization_id: str) -> Self | None:
        """Returns None without a demo fleet."""
        return cls._read(organization_id, store.organization_settings(organization_id).get(SETTING))

    @classmethod
    def anywhere(cls, store: Store) -> Self | None:
        """Returns that of the store, which has one at most."""
        for organization_id, value in store.settings_named(SETTING).items():
            return cls._read(organization_id, value)
        return None

    @classmethod
    def _read(cls, organization_id: str, value: str | None) -> Self | None:
        return None if value is None else cls(organization_id, **orjson.loads(value))

    @property
    def scope(self) -> Scope:
        return Scope(self.organization_id, Grant(everything=True))

    def text(self) -> str:
        fields = asdict(self)
        del fields["organization_id"]
        return orjson.dumps(fields).decode()

    def complete(self, store: Store) -> bool:
        progress = store.progress(MARK, self.organization_id)
        return progress is not None and progress.complete


def status(store: Store, scope: Scope) -> dict[str, Any]:
    """Returns the state. ``possible``: it may be requested. ``share``: of its history, 0 to 1."""
    require_whole(scope)
    trial = Trial.of(store, scope.organization_id)
    progress = None if trial is None else store.progress(MARK, trial.organization_id)
    rows = 0 if progress is None else progress.position
    complete = progress is not None and progress.complete
    state: State = "none"
    if trial is not None:
        state = "removing" if trial.removing else "complete" if complete else "filling"
    return {
        "state": state,
        "share": 1.0 if complete else min(0.99, rows / ABOUT_ROWS),
        "possible": trial is None and is_empty(store),
    }


def is_empty(store: Store) -> bool:
    """Returns whether no organization has a device or a demo fleet."""
    wanted = DeviceQuery(active=None)
    return not store.settings_named(SETTING) and not any(
        store.count_devices(Scope(each.id, Grant(everything=True)), wanted)
        for each in store.organizations()
    )


def begin(store: Store, scope: Scope, editor: Editor) -> None:
    """Requests the demo fleet; a second request changes nothing. Raises Conflict if the store isn't
    empty."""
    require_whole(scope)
    organization = store.organization(scope.organization_id)
    if Trial.of(store, scope.organization_id) is not None:
        return
    if organization is None or not is_empty(store):
        raise Conflict(NOT_EMPTY, reason="not-empty")
    trial = Trial(scope.organization_id, editor.at_ms, editor.by)
    try:
        _set(store, organization, trial, [_audit(scope, "create", editor)])
    except Conflict:
        if Trial.of(store, scope.organization_id) is None:  # else another worker was first
            raise


def remove(store: Store, scope: Scope, confirmation: str, editor: Editor) -> None:
    """Requests its removal. ``confirmation``: what the administrator typed."""
    require_whole(scope)
    if confirmation != CONFIRMATION:
        raise BadRequest(f"Type {CONFIRMATION} to remove the demo fleet.")
    trial = Trial.of(store, scope.organization_id)
    organization = store.organization(scope.organization_id)
    if trial is None or organization is None:
        raise Conflict("There is no demo fleet.")
    if not trial.removing:
        wish = replace(trial, removing=True)
        _set(store, organization, wish, [_audit(scope, "delete", editor)])


def removed(store: Store, trial: Trial) -> None:
    """Deletes the request, after the fleet."""
    organization = store.organization(trial.organization_id)
    if organization is not None:
        _set(store, organization, None, [])


def _set(
    store: Store, organization: Organization, trial: Trial | None, audit: list[AuditEntry]
) -> None:
    """Raises Conflict if the organization has been changed since it was read."""
    settings = {SETTING: None if trial is None else trial.text()}
    change = OrganizationChange(
        organization.name,
        organization.default_cost_per_gallon,
        settings,
        expected_ms=organization.updated_ms,
    )
    store.change_organization(organization.id, change, audit)


def _audit(scope: Scope, action: str, editor: Editor) -> AuditEntry:
    return AuditEntry(
        editor.at_ms, scope.organization_id, editor.by, "demo fleet", action, scope.organization_id
    )
