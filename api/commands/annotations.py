"""`weir notes`, `weir maintenance` and `weir corrections`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from api.commands.arguments import (
    ORG,
    UNITS,
    author,
    by_option,
    everything,
    one_device,
    options,
    organization,
    units_of,
    volume_field,
)
from api.commands.command import Group
from api.commands.store_access import opened
from api.errors import NotFound, ServiceError, UserError
from api.metering.maintenance import Repeat
from api.roles import Role

if TYPE_CHECKING:
    from api.domain.annotations import Author
    from api.store.base import AnnotationEntry, AnnotationKind, Store

notes = Group("notes", help="Notes on devices and groups.")
maintenance = Group("maintenance", help="Planned maintenance.")
corrections = Group(
    "corrections", help="Corrections: spans of readings that are excluded or scaled."
)

_id = click.argument("annotation_id", metavar="ID")
_from = click.option("--from", "from_", required=True, help="From when on, ISO 8601.")
_reason = click.option("--reason", required=True, help="Why.")


_whose = options(
    click.option("--device", help="The device that it is on, by any identifier."),
    click.option("--group", help="The group that it is on."),
)
_listed_for = options(
    ORG,
    click.option("--device", help="Only of this device and its groups."),
    click.option("--group", help="Only of this group."),
)
_changed_span = options(
    _id,
    ORG,
    click.option("--from", "from_", help="From when on, ISO 8601."),
    click.option("--to", help="Up to when, ISO 8601."),
)


def _author() -> Author:
    """Returns an author who may do everything, like anyone who may use the command line."""
    from api.domain.annotations import Author

    return Author(author(), Role.ADMINISTRATOR)


def _kind(name: str) -> AnnotationKind:
    from api.store.base import AnnotationKind

    return AnnotationKind(name)


def _body(**values: Any) -> dict[str, Any]:
    """Returns the options as a request has them; options that weren't given are left out."""
    return {name.rstrip("_"): value for name, value in values.items() if value not in (None, ())}


def _shown(entry: AnnotationEntry) -> dict[str, Any]:
    from api.domain.annotations import annotation_object

    return annotation_object(entry)


def _entry(
    store: Store, organization_id: str, kind: AnnotationKind, annotation_id: str
) -> AnnotationEntry:
    from api.domain.annotations import find

    organization(store, organization_id)
    try:
        return find(store, everything(organization_id), kind, annotation_id)
    except NotFound:
        raise UserError(f"no {kind.value} {annotation_id} in this organization") from None


def _listed(kind: str, organization_id: str, device: str | None, **filters: Any) -> object:
    from api.store.base import AnnotationQuery

    with opened(read_only=True) as store:
        organization(store, organization_id)
        listed_device = None if device is None else one_device(store, organization_id, device)
        query = AnnotationQuery(
            kinds=(_kind(kind),), device=listed_device, limit=100_000, **filters
        )
        return [_shown(entry) for entry in store.annotations(everything(organization_id), query)]


def _created(kind: str, organization_id: str, body: dict[str, Any]) -> object:
    from api.domain import annotations as domain
    from api.params import checked
    from api.params.annotations import MaintenanceBody, NoteBody

    model = NoteBody if kind == "note" else MaintenanceBody
    with opened() as store, by_option({}):
        organization(store, organization_id)
        scope = everything(organization_id)
        try:
            entry = domain.create(store, scope, _kind(kind), checked(model, body).wanted, _author())
        except NotFound as error:
            raise UserError(error.detail) from None
    return _shown(entry)


def _changed(kind: str, organization_id: str, id: str, body: dict[str, Any]) -> object:
    from api.domain import annotations as domain
    from api.params import checked
    from api.params.annotations import MaintenanceChanges, NoteChanges

    model = NoteChanges if kind == "note" else MaintenanceChanges
    if not body:
        raise UserError("give what to change")
    with opened() as store, by_option({}):
        entry = _entry(store, organization_id, _kind(kind), id)
        return _shown(domain.change(store, entry, _author(), **checked(model, body).changes))


def _deleted(kind: str, organization_id: str, annotation_id: str) -> object:
    from api.domain import annotations as domain

    with opened() as store:
        entry = _entry(store, organization_id, _kind(kind), annotation_id)
        domain.drop(store, entry, _author())
    return _shown(entry)


# --- Notes ---------------------------------------------------------------------------------------


@notes.command("list")
@_listed_for
@click.option("--search", default="", help="Part of the text.")
def list_notes(organization_id: str, device: str | None, group: str | None, search: str) -> object:
    """List notes, latest first."""
    return _listed("note", organization_id, device, group=group, text=search)


@notes.command("create")
@click.argument("text")
@ORG
@_whose
@_from
@click.option("--to", help="Up to when, ISO 8601. Default: the note is of an instant.")
def create_note(organization_id: str, text: str, **values: Any) -> object:
    """Write a note on a device or a group."""
    return _created("note", organization_id, _body(text=text, **values))


@notes.command("change")
@_changed_span
@click.option("--text", help="The new text.")
def change_note(organization_id: str, annotation_id: str, **values: Any) -> object:
    """Change a note."""
    return _changed("note", organization_id, annotation_id, _body(**values))


@notes.command("delete")
@_id
@ORG
def delete_note(organization_id: str, annotation_id: str) -> object:
    """Delete a note. The audit log keeps its text."""
    return _deleted("note", organization_id, annotation_id)


# --- Maintenance ---------------------------------------------------------------------------------


@maintenance.command("list")
@_listed_for
def list_maintenance(organization_id: str, device: str | None, group: str | None) -> object:
    """List planned maintenance, latest first."""
    return _listed("maintenance", organization_id, device, group=group)


_repeat = click.option(
    "--repeat",
    type=click.Choice([repeat.value for repeat in Repeat if repeat.value]),
    help="Repeat it, at the same time of day.",
)


@maintenance.command("plan")
@ORG
@_whose
@_from
@click.option("--to", required=True, help="Up to when, ISO 8601.")
@_reason
@_repeat
@click.option("--until", help="The last day on which it repeats, ISO 8601.")
@click.option("--zone", help="The IANA time zone of its time of day. Default: the device's.")
def plan(organization_id: str, **values: Any) -> object:
    """Plan maintenance of a device or a group.

    It is excluded from uptime and from training, and hatched on charts.
    """
    return _created("maintenance", organization_id, _body(**values))


@maintenance.command("change")
@_changed_span
@click.option("--reason", help="Why.")
@_repeat
@click.option("--until", help="The last day on which it repeats, ISO 8601.")
def change_maintenance(organization_id: str, annotation_id: str, **values: Any) -> object:
    """Change planned maintenance, including past occurrences."""
    return _changed("maintenance", organization_id, annotation_id, _body(**values))


@maintenance.command("cancel")
@_id
@ORG
def cancel(organization_id: str, annotation_id: str) -> object:
    """Delete maintenance, as if it had not been planned. To end a series, change --until."""
    return _deleted("maintenance", organization_id, annotation_id)


# --- Corrections ---------------------------------------------------------------------------------


@corrections.command("list")
@ORG
@click.option("--device", help="Only of this device.")
@click.option("--in-force", is_flag=True, help="Without revoked ones.")
def list_corrections(organization_id: str, device: str | None, in_force: bool) -> object:
    """List corrections, latest first."""
    return _listed("correction", organization_id, device, ended=not in_force)


@corrections.command("create")
@ORG
@click.option("--device", required=True, help="The device, by any identifier.")
@_from
@click.option("--to", required=True, help="Up to when (not included), ISO 8601.")
@click.option("--exclude", "effect", flag_value="exclude", help="Exclude the values.")
@click.option("--scale", "factor", type=float, help="Multiply the values by this.")
@click.option(
    "--metric",
    "metrics",
    multiple=True,
    help="Only this metric, such as flow_amount; repeatable. Default: all to exclude, flow rate and"
    " volume to scale.",
)
@_reason
@click.option("--pretend", is_flag=True, help="Only report what would change.")
@UNITS
def create_correction(
    organization_id: str,
    effect: str | None,
    factor: float | None,
    pretend: bool,
    units: str | None,
    **values: Any,
) -> object:
    """Exclude or scale the readings of a span. The original values are kept; `revoke` restores
    them."""
    from api.domain import annotations as domain
    from api.insight.reevaluation import reevaluate
    from api.params import checked
    from api.params.annotations import CorrectionBody

    if (effect is None) == (factor is None):
        raise UserError("give --exclude or --scale")
    values["metrics"] = list(values["metrics"]) or None
    body = _body(effect=effect or "scale", factor=factor, **values)
    with opened(read_only=pretend) as store, by_option({"factor": "scale", "metrics": "metric"}):
        organization(store, organization_id)
        scope, wanted = everything(organization_id), checked(CorrectionBody, body).wanted
        try:
            if pretend:
                shown = units_of(store, organization_id, units)
                return _previewed(domain.preview(store, scope, wanted), shown)
            entry = domain.correct(store, scope, wanted, _author())
        except ServiceError as error:
            if error.status == 400:
                raise
            raise UserError(error.detail) from None
        reevaluate(store, [entry.annotation.device_key or 0])
    return _shown(entry)


def _previewed(preview: Any, units: str) -> dict[str, Any]:
    volume, unit = volume_field(units)
    amounts = {"Before": preview.gallons_before, "After": preview.gallons_after}
    return {
        "readings": preview.touched.readings,
        "values": preview.touched.values,
        **{
            f"{volume}{when_}": None if amount is None else unit.shown(amount)
            for when_, amount in amounts.items()
        },
    }


@corrections.command()
@_id
@ORG
@_reason
def revoke(organization_id: str, annotation_id: str, reason: str) -> object:
    """Restore the original readings."""
    from api.domain import annotations as domain
    from api.insight.reevaluation import reevaluate

    with opened() as store:
        entry = _entry(store, organization_id, _kind("correction"), annotation_id)
        if entry.annotation.ended_ms is not None:
            raise UserError(f"correction {annotation_id} is revoked already")
        ended = domain.revoke(store, entry, reason, _author())
        reevaluate(store, [entry.annotation.device_key or 0])
    return _shown(ended)
