"""The settings of findings: of all devices, of a group, of a device."""

from __future__ import annotations

from typing import Any

from dash import (
    ClientsideFunction,
    Input,
    Output,
    callback,
    clientside_callback,
    no_update,
    register_page,
)
from dash.development.base_component import Component

from api.errors import BadRequest, WeirError
from api.timez import now_ms
from components import html_json, session, shell
from components.concurrent_queries import current_access
from components.controls import failure
from components.directory_queries import directory
from components.findings import queries, settings
from components.findings.settings import PATH, SHEETS, Ids, Whose, settings_page
from components.url_state import read_question, read_text

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
            values = settings.typed_values(kind, values, read_text(params.get("units")))
            setting_values = queries.change_settings(kind, values, device, group)
            status["words"] = SAVED
        else:
            setting_values = queries.settings(device, group)
        listed = directory(current_access(), now_ms())
    except BadRequest as error:
        return status | {"problem": settings.problem(kind, error)}, *(no_update,) * 3
    except WeirError as error:
        return status | {"error": failure(error)}, *(no_update,) * 3
    meter = next((m for m in listed.meters if device in (m.id, m.serial)), None)
    label = f"{meter.label} ({meter.serial})" if meter else device
    whose = Whose(device, "" if device else group, label)
    may_change = session.me().role.may_administer
    return (
        status,
        settings.summary(setting_values, whose),
        settings.target(whose, listed.groups),
        settings.listing(setting_values, whose, kind, may_change=may_change),
    )


clientside_callback(
    ClientsideFunction("findingSettings", "received"),
    Output(Ids.NOTIFIED, "data"),
    Input(Ids.ANSWER, "data"),
    prevent_initial_call=True,
)
html_json.drawn(*SHEETS)
