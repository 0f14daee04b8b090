"""`weir insight`: evaluates, rebuilds and verifies the status and findings of devices."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from api.commands.arguments import everything, organization
from api.commands.command import Group, Outcome
from api.commands.findings import dismiss, findings, restore
from api.commands.insight_settings import holidays, settings
from api.commands.store_access import opened
from api.errors import UserError

if TYPE_CHECKING:
    from api.store.base import Store

group = Group("insight", help="The status of devices, and findings.")
for _command in (settings, findings, dismiss, restore):
    group.add_command(_command)
group.add_command(holidays)

_ORG = click.option("--org", "organization_id", help="Only this organization's devices.")
_DEVICE = click.option("--device", help="Only this device (needs --org).")


@group.command()
@_ORG
@_DEVICE
def run(organization_id: str | None, device: str | None) -> object:
    """Evaluate everything that is due up to each device's latest reading. The writer does this
    itself."""
    from api.insight.finding_evaluator import Evaluator
    from api.insight.month_ends import MonthEnds
    from api.insight.status_projection import Projection
    from api.timez import now_ms

    with opened() as store:
        MonthEnds(store).all_due()
        projection = Projection(store)
        if organization_id is None and device is None:
            projection.all_due()
            counts = Evaluator(store).up_to_date()
        else:
            keys = _keys(store, organization_id, device)
            projection.rebuild(keys, now_ms())
            only = keys[0] if device is not None else None
            counts = Evaluator(store).up_to_date(organization_id, only)
    return counts._asdict()


@group.command()
@_ORG
@_DEVICE
def rebuild(organization_id: str | None, device: str | None) -> object:
    """Rebuild status and findings from the first reading. Dismissed findings stay dismissed."""
    from api.insight.finding_evaluator import Evaluator
    from api.insight.status_projection import Projection
    from api.timez import now_ms

    with opened() as store:
        keys = _keys(store, organization_id, device)
        Projection(store).rebuild(keys, now_ms())
        return Evaluator(store).rebuild(keys)._asdict()


@group.command()
@_ORG
@_DEVICE
def verify(organization_id: str | None, device: str | None) -> object:
    """Compare status and findings of each device with its readings.

    Devices with unevaluated readings are skipped. Exit status 1 if one is wrong; `weir insight
    rebuild` repairs it.
    """
    from api.insight.finding_evaluator import Evaluator
    from api.insight.status_projection import Projection, differing

    devices = wrong = 0
    with opened(read_only=True) as store:
        projection, evaluator = Projection(store), Evaluator(store)
        for key in _keys(store, organization_id, device):
            stored = store.status_rows([key]).get(key)
            status: bool | None = None
            if stored is not None and not store.due_of([key]):
                (made,) = projection.of([key], stored.as_of_ms)
                status = differing(stored, made)
            findings = evaluator.wrong(key)
            devices += status is not None or findings is not None
            wrong += bool(status) or bool(findings)
    return Outcome({"devices": devices, "wrong": wrong}, int(wrong > 0))


def _keys(store: Store, organization_id: str | None, device: str | None) -> list[int]:
    if organization_id is None:
        if device is not None:
            raise UserError("--device needs --org")
        return store.device_keys()
    organization(store, organization_id)
    if device is None:
        return store.device_keys(organization_id)
    (resolved,) = store.resolve(everything(organization_id), [device])
    if resolved is None:
        raise UserError(f"--device {device}: not found in this organization")
    return [resolved.key]
