"""The list of notes, maintenance and corrections with the buttons that add, change and end them.
assets/annotations.js opens their form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, Final
from zoneinfo import ZoneInfo

import orjson
from dash import dcc, html
from dash.development.base_component import Component

from api.client.annotations import Annotation
from api.client.credential import Me
from api.roles import Role
from components import html_json, session
from components.annotations.texts import KINDS, effect, local, when, whose
from components.controls import attributes, labelled

HEADS: Final = ("", "When", "What", "By", "")
EMPTY: Final = "Nothing noted, planned or corrected."
ADDING: Final = (
    ("note", "Add note", Role.OPERATOR),
    ("maintenance", "Plan maintenance", Role.ADMINISTRATOR),
    ("correction", "Correct readings", Role.ADMINISTRATOR),
)


class Ids(StrEnum):
    """assets/annotations.js looks for them by these names too."""

    PANEL = "annotations"
    QUESTION = "annotations-question"
    LIST = "annotations-list"
    NOTE = "annotations-note"
    DEED = "annotations-deed"
    DONE = "annotations-done"
    TOLD = "annotations-told"
    OUTCOME = "annotations-outcome"


def panel(
    question: Mapping[str, Any],
    *,
    device: str = "",
    zone: str,
    options: Sequence[str] = (),
    title: str = "Notes, maintenance, corrections",
) -> Component:
    """``question`` is what the list is asked for first; ``device`` the one of the page, "" where
    the form asks for a device or a group; ``options`` are offered there."""
    who = session.me()
    stores = (Ids.DEED, Ids.DONE, Ids.TOLD)
    buttons = [
        html.Button(
            label,
            type="button",
            className="button",
            title="N" if kind == "note" and device else None,
            **attributes(data_annotate=kind),
        )
        for kind, label, role in ADDING
        if who.role.includes(role)
    ]
    return html.Section(
        [
            dcc.Store(id=Ids.QUESTION, data=dict(question)),
            *(dcc.Store(id=store) for store in stores),
            html_json.told(Ids.LIST),
            html.Datalist(
                [html.Option(value=option) for option in options], id="annotation-subjects"
            ),
            html.Div(
                [
                    html.H2(title, id="annotations-title"),
                    html.Span(id=Ids.NOTE),
                    html.Div(buttons, className="annotation-adding"),
                ],
                className="card-head",
            ),
            html.P(id=Ids.OUTCOME, className="annotation-outcome", role="status"),
            html.Div(id=Ids.LIST, className="sheet"),
        ],
        id=Ids.PANEL,
        className="card wide annotation-card",
        **attributes(
            aria_labelledby="annotations-title",
            data_device=device,
            data_zone=zone,
            data_role=who.role.value,
        ),
    )


def listing(
    found: Sequence[Annotation], tz: ZoneInfo, labels: Mapping[str, str], who: Me
) -> list[Component]:
    """Latest first. What has ended stays, struck."""
    if not found:
        return [html.P(EMPTY, className="empty")]
    head = html.Tr([html.Th(name, scope="col") for name in HEADS])
    body = [_row(each, tz, labels, who) for each in found]
    return [
        html.Div(
            html.Table([html.Thead(head), html.Tbody(body)], className="rows annotation-table"),
            className="annotation-scroll",
        )
    ]


def _row(said: Annotation, tz: ZoneInfo, labels: Mapping[str, str], who: Me) -> Component:
    ended = said.revoked_ms is not None
    name = [html.Span(KINDS[said.kind], className=f"annotation-kind {said.kind}")]
    what: list[Any] = [html.Span(said.body, className="annotation-body")]
    about = [whose(said, labels)] if labels or said.group is not None else []
    if said.kind == "correction":
        about += [effect(said), *(["revoked"] if ended else [])]
    if about:
        what.append(html.Span(" · ".join(filter(None, about)), className="quiet"))
    return html.Tr(
        [
            html.Th(name, scope="row"),
            html.Td(when(said, tz), className="when", **attributes(data_head="When")),
            html.Td(what, className="what", **attributes(data_head="What")),
            html.Td(_by(said, who), className="quiet", **attributes(data_head="By")),
            html.Td(_deeds(said, tz, who, ended=ended), className="annotation-deeds"),
        ],
        className="off" if ended else "",
    )


def _by(said: Annotation, who: Me) -> str:
    return "you" if said.created_by == who.id else said.created_by


def _deeds(said: Annotation, tz: ZoneInfo, who: Me, *, ended: bool) -> list[Component]:
    mine = said.created_by == who.id and who.role.may_operate
    if ended or not (who.role.may_administer or (said.kind == "note" and mine)):
        return []
    entry = orjson.dumps(_fields(said, tz)).decode()
    what = f"{KINDS[said.kind].lower()} of {when(said, tz)}"
    if said.kind == "correction":
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


def _fields(said: Annotation, tz: ZoneInfo) -> dict[str, Any]:
    """What the form is filled with: local times as its fields take them."""

    def field(instant_ms: int | None) -> str:
        return "" if instant_ms is None else local(instant_ms, tz).replace(" ", "T")

    return {
        "kind": said.kind,
        "id": said.id,
        "from": field(said.from_ms),
        "to": field(said.to_ms),
        "text": said.body,
        "repeat": said.repeat or "",
        "until": field(said.until_ms),
    }
