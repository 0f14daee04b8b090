"""Notes, maintenance and corrections of the whole organization: search, add, change, end.

The callbacks of the list and its form serve the device page too, which has the same panel.
"""

from __future__ import annotations

from typing import Any, Final
from zoneinfo import ZoneInfo

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

from api.errors import WeirError
from api.timez import now_ms, zone, zone_names
from components import html_json, session, shell
from components.annotations.panel import KINDS, Ids, listing, panel
from components.annotations.queries import GROUP, carried_out, matching
from components.concurrent_queries import current_access
from components.controls import attributes, failed_page, failure, labelled
from components.directory_queries import directory
from components.formatting import whole
from components.html_json import as_nodes
from components.url_state import read_question, read_text, text_param, units_param

PATH: Final = shell.NOTES_PATH
MOST_OPTIONS: Final = 500
SEARCH_ID: Final = "notes-search"
KIND_ID: Final = "notes-kind"
KIND_TABS: Final = {"note": "Notes", "maintenance": "Maintenance", "correction": "Corrections"}
register_page(__name__, path=PATH, title="Notes · Weir")


def layout(**query: Any) -> Component:
    kind, search = text_param(query, "kind"), text_param(query, "q", 100)
    try:
        devices = directory(current_access(), now_ms())
    except WeirError as error:
        return shell.frame(failed_page("Notes can’t be loaded", error, PATH), place=PATH)
    options = [GROUP + name for name in devices.groups]
    options += [meter.serial for meter in devices.meters[:MOST_OPTIONS]]
    question = {"kind": kind if kind in KINDS else "", "q": search, "zone": "UTC", "labels": True}
    return shell.frame(
        html.Div(
            [html.H1("Notes, maintenance, corrections"), _filters(question)], className="heading"
        ),
        panel(question, zone="UTC", options=options, title="All, latest first"),
        place=PATH,
    )


def _filters(question: dict[str, Any]) -> Component:
    kinds = [{"label": "All", "value": ""}]
    kinds += [{"label": label, "value": kind} for kind, label in KIND_TABS.items()]
    return html.Div(
        [
            dcc.RadioItems(
                id=KIND_ID,
                options=kinds,  # pyright: ignore[reportArgumentType]
                value=question["kind"],
                className="segments notes-kinds",
                inline=True,
            ),
            dcc.Input(
                id=SEARCH_ID,
                type="search",
                value=question["q"],
                placeholder="Search the text",
                className="search",
                autoComplete="off",
                debounce=0.3,
            ),
        ],
        className="notes-filters",
        **labelled("Which of them"),
        **attributes(role="search"),
    )


@callback(
    Output(Ids.QUESTION, "data"),
    Input(KIND_ID, "value"),
    Input(SEARCH_ID, "value"),
    prevent_initial_call=True,
)
def filtered(kind: Any, search: Any) -> dict[str, Any]:
    return {"kind": read_text(kind), "q": read_text(search)[:100], "zone": "UTC", "labels": True}


@callback(
    html_json.output(Ids.LIST),
    Output(Ids.NOTE, "children"),
    Input(Ids.QUESTION, "data"),
    Input(Ids.DONE, "data"),
)
def listed(question: Any, done: Any) -> tuple[Any, Any]:
    """The list; on failure the last one stays, and the note gives the reason."""
    if read_question(done).get("kept"):  # nothing was changed
        return no_update, no_update
    params = read_question(question)
    device = read_text(params.get("device"))
    try:
        matches, count = matching(
            kind=read_text(params.get("kind")),
            device=device,
            search=read_text(params.get("q")),
        )
        labels: dict[str, str] = {}
        if params.get("labels") is True:
            devices = directory(current_access(), now_ms())
            labels = {id: meter.label for id, meter in devices.by_id.items()}
        body = as_nodes(listing(matches, _zone(params), labels, session.me()))
    except WeirError as error:
        return no_update, f"· {failure(error)}"
    more = f", the latest {whole(len(matches))} shown" if count > len(matches) else ""
    count_text = whole(count) if count else "none"
    return body, f"· {count_text}{more} · times in {_zone(params).key}"


@callback(Output(Ids.DONE, "data"), Input(Ids.DEED, "data"), prevent_initial_call=True)
def done(deed: Any) -> dict[str, Any]:
    """Carries out a change of the form."""
    request = read_question(deed)
    result = carried_out(request, _zone(request), units_param(request))
    return {**result, "request_id": request.get("request_id"), "kept": "words" not in result}


def _zone(params: Any) -> ZoneInfo:
    name = read_text(params.get("zone"))
    return zone(name if name in zone_names() else "UTC")


clientside_callback(
    ClientsideFunction("annotations", "done"),
    Output(Ids.OUTCOME, "children"),
    Input(Ids.DONE, "data"),
    prevent_initial_call=True,
)
html_json.drawn(Ids.LIST)
