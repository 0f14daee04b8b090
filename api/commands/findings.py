"""`weir insight findings|dismiss|restore`: list, dismiss and restore findings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
from flask.cli import with_appcontext

from api.commands.arguments import UNITS, author, everything, organization, units_of
from api.commands.command import Command, when
from api.commands.store_access import opened
from api.errors import UserError
from api.suggestions import did_you_mean

if TYPE_CHECKING:
    from api.store.base import FindingEntry, Scope, Store

_STATES = click.Choice(["open", "closed", "dismissed"])


@click.command(cls=Command)
@click.option("--org", "organization_id", help="Only this organization's.")
@click.option("--device", help="Only this device's (needs --org).")
@click.option("--state", "states", type=_STATES, multiple=True, help="Only in this state.")
@click.option("--limit", type=click.IntRange(1, 10_000), default=100, show_default=True)
@UNITS
@with_appcontext
def findings(
    organization_id: str | None,
    device: str | None,
    states: tuple[str, ...],
    limit: int,
    units: str | None,
) -> object:
    """List findings, worst first."""
    from api.store.base import FindingQuery

    if device is not None and organization_id is None:
        raise UserError("--device needs --org")
    with opened(read_only=True) as store:
        rows: list[dict[str, Any]] = []
        for scope in _scopes(store, organization_id):
            named = None
            if device is not None:
                (named,) = store.resolve(scope, [device])
                if named is None:
                    raise UserError(f"--device {device}: not found in this organization")
            query = FindingQuery(device=named, states=states, limit=limit)
            shown = units_of(store, scope.organization_id, units)
            rows += [_row(entry, shown) for entry in store.findings(scope, query)]
        return rows[:limit]


@click.command(cls=Command)
@click.argument("finding_id", metavar="ID")
@click.option("--as", "name", default="not-a-problem", show_default=True, help="As what.")
@click.option("--reason", default="", help="In your words; kept with the finding.")
@with_appcontext
def dismiss(finding_id: str, name: str, reason: str) -> object:
    """Dismiss a finding as not-a-problem, meant-to-run, being-repaired or new-normal.

    The first two raise the device's threshold of that kind. With new-normal, the flow since the
    finding began counts as usual.
    """
    from api.insight.finding_dismissal import JUDGEMENT_BY_NAME, dismissed
    from api.timez import now_ms

    if name not in JUDGEMENT_BY_NAME:
        raise UserError(f"--as: unknown judgement {did_you_mean(name, JUDGEMENT_BY_NAME)}")
    with opened() as store:
        scope, entry = _finding_entry(store, finding_id)
        _, threshold = dismissed(
            store,
            scope,
            entry,
            by=author(),
            reason=reason,
            at_ms=now_ms(),
            judgement=JUDGEMENT_BY_NAME[name],
        )
        return {"dismissed": entry.finding.id, "words": threshold.words}


@click.command(cls=Command)
@click.argument("finding_id", metavar="ID")
@with_appcontext
def restore(finding_id: str) -> object:
    """Undo a dismissal, and its effect on the device."""
    from api.insight.finding_dismissal import restored
    from api.timez import now_ms

    with opened() as store:
        scope, entry = _finding_entry(store, finding_id)
        _, threshold = restored(store, scope, entry, by=author(), at_ms=now_ms())
        return {"restored": entry.finding.id, "words": threshold.words}


def _scopes(store: Store, organization_id: str | None) -> list[Scope]:
    if organization_id is not None:
        return [everything(organization(store, organization_id).id)]
    return [everything(each.id) for each in store.organizations()]


def _finding_entry(store: Store, finding_id: str) -> tuple[Scope, FindingEntry]:
    for scope in _scopes(store, None):
        entry = store.finding(scope, finding_id.lower())
        if entry is not None:
            return scope, entry
    raise UserError(f"{finding_id}: no such finding")


def _row(entry: FindingEntry, units: str) -> dict[str, Any]:
    from api.metering.units import words_in

    finding = entry.finding
    return {
        "id": finding.id,
        "serialNumber": entry.serial_number,
        "kind": finding.kind,
        "severity": finding.severity,
        "state": finding.state,
        "start": when(finding.start_ms),
        "end": when(finding.end_ms),
        "words": words_in(finding.words, units),
    }
