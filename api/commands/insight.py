"""`flask insight`: what is known of the devices, brought up to date, made anew or checked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from api.commands.command_base import Group, Outcome, everything, opened, organization
from api.errors import UserError

if TYPE_CHECKING:
    from api.store.base import Store

group = Group("insight", help="The status of devices.")

_ORG = click.option("--org", "organization_id", help="Only this organization's devices.")
_DEVICE = click.option("--device", help="Only this device (needs --org).")


@group.command()
@_ORG
@_DEVICE
def run(organization_id: str | None, device: str | None) -> object:
    """Bring the status of all devices up to date, as the writer does by itself."""
    from api.insight.projection import Projection
    from api.timez import now_ms

    with opened() as store:
        projection = Projection(store)
        if organization_id is None and device is None:
            count = projection.all_due()
        else:
            count = projection.rebuild(_keys(store, organization_id, device), now_ms())
    return {"devices": count, "opened": 0, "closed": 0}


@group.command()
@_ORG
@_DEVICE
def rebuild(organization_id: str | None, device: str | None) -> object:
    """Rebuild the status of devices from their readings."""
    from api.insight.projection import Projection
    from api.timez import now_ms

    with opened() as store:
        keys = _keys(store, organization_id, device)
        return {"devices": Projection(store).rebuild(keys, now_ms())}


@group.command()
@_ORG
@_DEVICE
def verify(organization_id: str | None, device: str | None) -> object:
    """Compare the status of each device with its readings at the same time.

    A device with readings that aren't in its status yet is skipped. Exit status 1 if one is
    wrong; `flask insight rebuild` repairs it.
    """
    from api.insight.projection import Projection, differing

    devices = wrong = 0
    with opened(read_only=True) as store:
        projection = Projection(store)
        for key in _keys(store, organization_id, device):
            kept = store.status_rows([key]).get(key)
            if kept is None or store.due_of([key]):
                continue
            (made,) = projection.of([key], kept.as_of_ms)
            devices += 1
            wrong += differing(kept, made)
    return Outcome({"devices": devices, "wrong": wrong}, int(wrong > 0))


def _keys(store: Store, organization_id: str | None, device: str | None) -> list[int]:
    if organization_id is None:
        if device is not None:
            raise UserError("--device needs --org")
        return store.device_keys()
    organization(store, organization_id)
    if device is None:
        return store.device_keys(organization_id)
    (found,) = store.resolve(everything(organization_id), [device])
    if found is None:
        raise UserError(f"--device {device}: not found in this organization")
    return [found.key]
