"""The settings of findings, of all devices, of a group, of a device: a form for each kind, with the
source of each value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby
from typing import Any, Final

from dash import (
    ClientsideFunction,
    Input,
    Output,
    callback,
    clientside_callback,
    dcc,
    html,
    no_update,
    register_page,
)
from dash.development.base_component import Component

from api.client.finding_settings import FindingSettingValue
from api.errors import BadRequest, WeirError
from api.insight.findings import KIND_BY_NAME
from api.timez import now_ms
from components import formatting, html_json, session, shell
from components.concurrent_queries import current_access
from components.controls import failure, labelled
from components.directory_queries import directory
from components.finding_text import INSTANT_UNIT, _value, origin
from components.findings import queries
from components.html_json import Node, el
from components.shell import FINDING_SETTINGS_PATH, FINDINGS_PATH
from components.units import usual_units
from components.url_state import read_question, read_text

PATH: Final = FINDING_SETTINGS_PATH
SERIAL: Final = "Serial number of a device"
READER: Final = "Settings can be changed by an administrator."
INTRODUCTION: Final = (
    "A device takes its own setting, else that of its configuration, of its groups, of all devices,"
    " else the default. A change applies to past readings too."
)


class Ids(StrEnum):
    """Ids, also used by assets/finding-settings.js."""

    PAGE = "finding-settings"
    QUESTION = "finding-settings-question"
    ANSWER = "finding-settings-answer"
    NOTIFIED = "finding-settings-notified"
    NOTICE = "finding-settings-notice"
    SUMMARY = "finding-settings-summary"
    TARGET = "finding-settings-target"
    LIST = "finding-settings-list"


SHEETS: Final = (Ids.SUMMARY, Ids.TARGET, Ids.LIST)


@dataclass(frozen=True, slots=True)
class Whose:
    """The subject of the settings shown: a device (``label`` for the reader), a group, or all
    devices."""

    device: str = ""
    group: str = ""
    label: str = ""

    @property
    def words(self) -> str:
        if self.device:
            return self.label or self.device
        return f"Group {self.group}" if self.group else "All devices"


register_page(__name__, path=PATH, title="Settings of findings · Weir")
SAVED = "Saved. Findings are evaluated again."


def layout(device: str = "", group: str = "", kind: str = "", **_: Any) -> Component:
    page = settings_page({"device": device, "group": group, "kind": kind})
    return shell.frame(page, place=shell.FINDINGS_PATH)


@callback(
    Output(Ids.ANSWER, "data"),
    html_json.output(Ids.SUMMARY),
    html_json.output(Ids.TARGET),
    html_json.output(Ids.LIST),
    Input(Ids.QUESTION, "data"),
)
def current_settings(question: Any) -> tuple[Any, ...]:
    """The settings; with ``set`` in the query, after that change."""
    params = read_question(question)
    device, group, kind = (read_text(params.get(name)) for name in ("device", "group", "kind"))
    status, values = (
        {"request_id": params.get("request_id"), "kind": kind},
        read_question(params.get("set")),
    )
    try:
        if values:
            values = queries.typed_values(kind, values, read_text(params.get("units")))
            setting_values = queries.change_settings(kind, values, device, group)
            status["words"] = SAVED
        else:
            setting_values = queries.settings(device, group)
        listed = directory(current_access(), now_ms())
    except BadRequest as error:
        return status | {"problem": queries.problem(kind, error)}, *(no_update,) * 3
    except WeirError as error:
        return status | {"error": failure(error)}, *(no_update,) * 3
    meter = next((m for m in listed.meters if device in (m.id, m.serial)), None)
    label = f"{meter.label} ({meter.serial})" if meter else device
    whose = Whose(device, "" if device else group, label)
    may_change = session.me().role.may_administer
    return (
        status,
        summary(setting_values, whose),
        target(whose, listed.groups),
        listing(setting_values, whose, kind, may_change=may_change),
    )


clientside_callback(
    ClientsideFunction("findingSettings", "received"),
    Output(Ids.NOTIFIED, "data"),
    Input(Ids.ANSWER, "data"),
    prevent_initial_call=True,
)
html_json.drawn(*SHEETS)

# --- The frame and its forms ---------------------------------------------------------------------


def settings_page(question: Mapping[str, Any]) -> Component:
    back = dcc.Link("Findings", href=session.site_path(FINDINGS_PATH), className="button")
    return html.Div(
        [
            dcc.Store(id=Ids.QUESTION, data=dict(question)),
            *(dcc.Store(id=id) for id in (Ids.ANSWER, Ids.NOTIFIED)),
            *(html_json.store(id) for id in SHEETS),
            html.Div(
                [
                    html.H1("Settings of findings"),
                    html.P(id=Ids.SUMMARY, className="findings-summary", role="status"),
                    html.Div(back, className="fleet-right"),
                ],
                className="heading",
            ),
            html.Div(id=Ids.TARGET, className="finding-settings-target"),
            html.Div(id=Ids.NOTICE, className="notice", role="status", hidden=True),
            html.Section(
                id=Ids.LIST, className="card finding-settings", **labelled("Kinds of findings")
            ),
        ],
        id=Ids.PAGE,
    )


def summary(values: Sequence[FindingSettingValue], whose: Whose) -> list[Node]:
    count = sum(each.own for each in values)
    own = f"{formatting.plural(count, 'setting')} of its own" if count else "nothing of its own"
    if not whose.device and not whose.group:
        differ = "differs" if count == 1 else "differ"
        own = f"{formatting.plural(count, 'setting')} {differ} from the default"
        own = own if count else "the defaults"
    return [el("strong", whose.words), f": {own}"]


def target(whose: Whose, groups: Sequence[str]) -> list[Node]:
    """The choice of the subject."""
    options = [("", "All devices"), *((f"group:{name}", f"Group {name}") for name in groups)]
    chosen = f"group:{whose.group}" if whose.group else ""
    if whose.device:
        chosen = f"device:{whose.device}"
        options.append((chosen, whose.words))
    listed = [el("option", words, value=v, selected=v == chosen) for v, words in options]
    field = el(
        "input", type="text", name="device", class_="search", placeholder=SERIAL,
        aria_label=SERIAL, autocomplete="off",
    )  # fmt: skip
    return [
        el("select", *listed, aria_label="Whose settings", class_="button select"),
        el("form", field, el("button", "Show", type="submit", class_="button"), role="search"),
        el("p", INTRODUCTION, class_="quiet"),
    ]


def listing(
    values: Sequence[FindingSettingValue], whose: Whose, opened: str, *, may_change: bool
) -> list[Node]:
    return [
        _kind(name, list(rows), opened == name, may_change=may_change)
        for name, rows in groupby(values, key=lambda each: each.kind)
    ]


def _kind(
    name: str, rows: Sequence[FindingSettingValue], opened: bool, *, may_change: bool
) -> Node:
    kind = KIND_BY_NAME.get(name)
    off = any(each.key == "enabled" and not each.value for each in rows)
    own = sum(each.own for each in rows)
    head = el(
        "summary",
        el("span", kind.label if kind else name, class_="finding-name"),
        el("span", _brief(rows), class_="quiet finding-settings-brief"),
        el("span", f"{own} set here", class_="chip") if own else None,
        el("span", "Off" if off else "On", class_="finding-settings-state"),
    )
    shown = [each for each in rows if each.unit != INSTANT_UNIT or each.value]
    deeds = el(
        "div",
        el("button", "Save", type="submit", class_="button primary"),
        el("p", class_="problem", data_problem=True, role="alert"),
        class_="finding-settings-deeds",
    )
    form = el(
        "form",
        *(_row(each, may_change=may_change) for each in shown),
        deeds if may_change else el("p", READER, class_="quiet"),
        data_kind=name,
        data_units=usual_units().name,
    )
    return el("details", head, form, name="kind", open=opened, data_kind=name, data_off=off)


def _brief(rows: Sequence[FindingSettingValue]) -> str:
    """The kind's own limits in one line: ``Least flow that counts 1 gal/h``."""
    kind = KIND_BY_NAME.get(rows[0].kind)
    if kind and kind.limit:
        return kind.limit
    names = {setting.name for setting in kind.settings} if kind else set()
    limits = [
        f"{each.label} {_value(each, each.value)}"
        for each in rows
        if each.key in names and each.unit != INSTANT_UNIT
    ]
    return " · ".join(limits)


def _row(each: FindingSettingValue, *, may_change: bool) -> Node:
    reset = el(
        "button", "Reset", type="button", class_="button small", data_reset=each.key,
        aria_label=f"Reset {each.label}", title=f"Back to {_value(each, each.inherited)}",
    )  # fmt: skip
    shown = el("span", _value(each, each.value), class_="finding-settings-value")
    editable = may_change and each.unit != INSTANT_UNIT
    return el(
        "div",
        el("span", each.label.removesuffix(" (epoch ms)"), class_="finding-settings-label"),
        _input(each) if editable else shown,
        el("span", origin(each), class_="quiet"),
        reset if each.own and may_change else el("span"),
        class_="finding-settings-row",
        data_own=each.own,
    )


def _input(each: FindingSettingValue) -> Node:
    if each.flag:
        options = [("1", "On"), ("0", "Off")]
        chosen = "1" if each.value else "0"
        listed = [el("option", words, value=v, selected=v == chosen) for v, words in options]
        return el(
            "select", *listed, name=each.key, aria_label=each.label, class_="button select",
            data_shown=chosen,
        )  # fmt: skip
    unit = usual_units().shown(each.unit)
    value, least, most = map(unit.text, (each.value, each.least, each.most))
    field = el(
        "input", type="number", name=each.key, value=value, step="any", min=least, max=most,
        aria_label=each.label, data_shown=value, class_="alert-input short",
    )  # fmt: skip
    return el(
        "span",
        field,
        el("span", unit.name, class_="finding-settings-unit"),
        class_="finding-settings-value",
    )
