"""The list of notes, maintenance and corrections, with buttons to add, change and end them.
assets/annotations.js opens their form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Any, Final
from zoneinfo import ZoneInfo

import orjson
from dash import dcc, html
from dash.development.base_component import Component

from api.catalog import METRICS
from api.client.annotations import Annotation, CorrectionPreview
from api.client.credential import Me
from api.metering.units import plain
from api.roles import Role
from components import formatting, html_json, session
from components.controls import attributes, labelled
from components.units import Units

KINDS: Final = {"note": "Note", "maintenance": "Maintenance", "correction": "Correction"}
REPEATS: Final = {"daily": "daily", "weekly": "weekly", "monthly": "monthly"}
_LABELS: Final = {metric.name: metric.label for metric in METRICS}
HEADS: Final = ("", "When", "What", "By", "")
EMPTY: Final = "Nothing noted, planned or corrected."
ADDING: Final = (
    ("note", "Add note", Role.OPERATOR),
    ("maintenance", "Plan maintenance", Role.ADMINISTRATOR),
    ("correction", "Correct readings", Role.ADMINISTRATOR),
)


class Ids(StrEnum):
    """Ids, also used by assets/annotations.js."""

    PANEL = "annotations"
    QUESTION = "annotations-question"
    LIST = "annotations-list"
    NOTE = "annotations-note"
    DEED = "annotations-deed"
    DONE = "annotations-done"
    NOTIFIED = "annotations-notified"
    OUTCOME = "annotations-outcome"


def panel(
    question: Mapping[str, Any],
    *,
    device: str = "",
    zone: str,
    options: Sequence[str] = (),
    title: str = "Notes, maintenance, corrections",
) -> Component:
    """``question``: the list's first query. ``device``: the page's device; "" if the form asks for
    a device or a group, for which it offers ``options``."""
    me = session.me()
    stores = (Ids.DEED, Ids.DONE, Ids.NOTIFIED)
    return html.Section(
        [
            dcc.Store(id=Ids.QUESTION, data=dict(question)),
            *(dcc.Store(id=store) for store in stores),
            html_json.store(Ids.LIST),
            html.Datalist(
                [html.Option(value=option) for option in options], id="annotation-subjects"
            ),
            html.Div(
                [
                    html.H2(title, id="annotations-title"),
                    html.Span(id=Ids.NOTE),
                    html.Div(_adding(me.role, device), className="annotation-adding"),
                ],
                className="card-head",
            ),
            html.P(id=Ids.OUTCOME, className="annotation-outcome", role="status"),
            html.Div(id=Ids.LIST, className="nodes"),
        ],
        id=Ids.PANEL,
        className="card wide annotation-card",
        **attributes(
            aria_labelledby="annotations-title",
            data_device=device,
            data_zone=zone,
            data_role=me.role.value,
        ),
    )


def _adding(role: Role, device: str) -> list[Component]:
    """A button for each kind that the reader may add. On a device's page ``N`` adds a note."""
    return [
        html.Button(
            label,
            type="button",
            className="button",
            title="N" if kind == "note" and device else None,
            **attributes(data_annotate=kind),
        )
        for kind, label, least in ADDING
        if role.includes(least)
    ]


def listing(
    entries: Sequence[Annotation], tz: ZoneInfo, labels: Mapping[str, str], me: Me
) -> list[Component]:
    """The list, latest first; ended entries are struck through."""
    if not entries:
        return [html.P(EMPTY, className="empty")]
    head = html.Tr([html.Th(name, scope="col") for name in HEADS])
    body = [_row(each, tz, labels, me) for each in entries]
    return [
        html.Div(
            html.Table([html.Thead(head), html.Tbody(body)], className="rows annotation-table"),
            className="annotation-scroll",
        )
    ]


def _row(annotation: Annotation, tz: ZoneInfo, labels: Mapping[str, str], me: Me) -> Component:
    ended = annotation.revoked_ms is not None
    name = [html.Span(KINDS[annotation.kind], className=f"annotation-kind {annotation.kind}")]
    what: list[Any] = [html.Span(annotation.body, className="annotation-body")]
    about = [whose(annotation, labels)] if labels or annotation.group is not None else []
    if annotation.kind == "correction":
        about += [effect(annotation), *(["revoked"] if ended else [])]
    if about:
        what.append(html.Span(" · ".join(filter(None, about)), className="quiet"))
    return html.Tr(
        [
            html.Th(name, scope="row"),
            html.Td(when(annotation, tz), className="when", **attributes(data_head="When")),
            html.Td(what, className="what", **attributes(data_head="What")),
            html.Td(_by(annotation, me), className="quiet", **attributes(data_head="By")),
            html.Td(_deeds(annotation, tz, me, ended=ended), className="annotation-deeds"),
        ],
        className="off" if ended else "",
    )


def _by(annotation: Annotation, me: Me) -> str:
    return "you" if annotation.created_by == me.id else annotation.created_by


def _deeds(annotation: Annotation, tz: ZoneInfo, me: Me, *, ended: bool) -> list[Component]:
    mine = annotation.created_by == me.id and me.role.may_operate
    if ended or not (me.role.may_administer or (annotation.kind == "note" and mine)):
        return []
    entry = orjson.dumps(_fields(annotation, tz)).decode()
    what = f"{KINDS[annotation.kind].lower()} of {when(annotation, tz)}"
    if annotation.kind == "correction":
        return [_button("Revoke", "revoke", entry, what)]
    return [_button("Edit", "edit", entry, what), _button("Delete", "delete", entry, what)]


def _button(label: str, deed: str, entry: str, what: str) -> Component:
    return html.Button(
        label,
        type="button",
        className="button small",
        **labelled(f"{label} {what}"),
        **attributes(data_annotation=deed, data_entry=entry),
    )


def _fields(annotation: Annotation, tz: ZoneInfo) -> dict[str, Any]:
    """The form's values for an annotation, with times in local time."""

    def field(instant_ms: int | None) -> str:
        return "" if instant_ms is None else local(instant_ms, tz).replace(" ", "T")

    return {
        "kind": annotation.kind,
        "id": annotation.id,
        "from": field(annotation.from_ms),
        "to": field(annotation.to_ms),
        "text": annotation.body,
        "repeat": annotation.repeat or "",
        "until": field(annotation.until_ms),
    }


# --- In words ------------------------------------------------------------------------------------


def local(instant_ms: int, tz: ZoneInfo) -> str:
    """``2026-03-08 12:00``, as the form's field has it."""
    return datetime.fromtimestamp(instant_ms / 1000, tz).strftime("%Y-%m-%d %H:%M")


def when(annotation: Annotation, tz: ZoneInfo) -> str:
    """``2026-03-08 12:00 – 13:00``; with ``, weekly until 2026-05-01`` for a series."""
    first = local(annotation.from_ms, tz)
    if annotation.to_ms is None:
        return first
    last = local(annotation.to_ms, tz)
    last = last[11:] if last[:10] == first[:10] else last
    repeat = ""
    if annotation.repeat is not None and annotation.until_ms is not None:
        until = local(annotation.until_ms, tz)[:10]
        repeat = f", {REPEATS.get(annotation.repeat, annotation.repeat)} until {until}"
    return f"{first} – {last}{repeat}"


def effect(annotation: Annotation) -> str:
    """``excluded`` or ``× 0.5``; with metrics unless all are meant."""
    what = "excluded" if annotation.factor is None else f"× {plain(annotation.factor)}"
    if len(annotation.metrics) in (0, len(METRICS)):
        return what
    return f"{what}: {', '.join(_LABELS.get(name, name).lower() for name in annotation.metrics)}"


def whose(annotation: Annotation, labels: Mapping[str, str]) -> str:
    """The device's label, or its group."""
    if annotation.group is not None:
        return f"group {annotation.group}"
    return labels.get(annotation.device_id or "", annotation.serial_number or "")


def previewed(shown: CorrectionPreview, units: Units) -> str:
    """The preview of a correction: what it would change."""
    count = (
        f"{formatting.whole(shown.values)} of {formatting.whole(shown.readings)} readings change"
    )
    if shown.gallons_before is None:
        return f"{count}."
    before = units.volume(shown.gallons_before)
    after = "nothing" if shown.gallons_after is None else units.volume(shown.gallons_after)
    return f"{count}. Volume: {before} before, {after} after."
