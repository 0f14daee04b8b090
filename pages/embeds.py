"""The page of embeds: create, list, preview and revoke them."""

from __future__ import annotations

from typing import Any
from zoneinfo import ZoneInfo

from dash import Input, Output, State, callback, no_update, register_page
from dash.development.base_component import Component

from api.client import Embed
from api.errors import BadRequest, NotFound, NotOffered, WeirError
from api.timez import now_ms, zone_or_utc
from components import session, shell
from components.controls import EMBEDS_PATH, failed_page, failure, message
from components.directory_queries import Directory
from components.embeds import queries
from components.embeds.layout import FIELDS, Ids, as_options, embeds_page, new_embed, problem_id
from components.embeds.preview import Preview, listing, one_embed
from components.embeds.queries import (
    FIXED,
    Draft,
    allowed_window,
    read_draft,
    read_prefill,
    read_view_name,
    windows,
)
from components.url_state import read_text, read_texts

register_page(__name__, path=EMBEDS_PATH, title="Embeds · Weir")

NOT_OFFERED = "This dashboard shows another server’s devices. Create embeds on that server."


def layout(embed: str = "", **params: Any) -> Component:
    """``embed``: the id of the embed to show; without it the form, with the address's values."""
    now = now_ms()
    try:
        embeds, devices = queries.embeds(), queries.devices(now)
        panel = _panel(embed, embeds, devices, now) if embed else _form(params, devices)
    except NotOffered:
        return shell.frame(message("No embeds here", NOT_OFFERED), place=EMBEDS_PATH)
    except WeirError as error:
        page = failed_page("The embeds can’t be loaded", error, EMBEDS_PATH)
        return shell.frame(page, place=EMBEDS_PATH)
    rows = listing(embeds, queries.labels(devices.by_id), embed, now)
    return shell.frame(embeds_page(rows, panel, chosen=embed), place=EMBEDS_PATH)


def _form(params: dict[str, Any], devices: Directory) -> Component:
    draft = read_prefill(params, _zones(devices))
    return new_embed(draft, queries.offered(devices.meters, draft.devices, "")[0])


def _zones(devices: Directory) -> Any:
    def zone_of(id: str) -> ZoneInfo:
        meter = devices.by_id.get(id)
        return zone_or_utc(meter.time_zone if meter else None)

    return zone_of


def _panel(id: str, embeds: tuple[Embed, ...], devices: Directory, now: int) -> Component:
    chosen = next((each for each in embeds if each.id == id), None)
    if chosen is None:
        return message("Embed not found, or you don’t have access", "It may have another address.")
    server = queries.server()
    token, problem = queries.link_token(chosen)
    preview = Preview(
        embed=chosen,
        labels=queries.labels(devices.by_id),
        site=server.site,
        is_here=server.is_own,
        token=token,
        problem=problem,
    )
    return one_embed(preview, now)


# --- The form ------------------------------------------------------------------------------------


@callback(
    Output(Ids.WINDOW, "options"),
    Output(Ids.WINDOW, "value"),
    Output(Ids.METRIC_FIELD, "hidden"),
    Output(Ids.COMPARE_FIELD, "hidden"),
    Input(Ids.VIEW, "value"),
    State(Ids.WINDOW, "value"),
    prevent_initial_call=True,
)
def for_view(view: Any, window: Any) -> tuple[Any, ...]:
    view, window = read_view_name(view), read_text(window)
    others = view != "chart"
    return as_options(windows(view)), allowed_window(view, window), others, others


@callback(
    Output(Ids.FIXED, "hidden"),
    Output(Ids.ENDS_ON_FIELD, "hidden"),
    Input(Ids.WINDOW, "value"),
    Input(Ids.ENDS, "value"),
    prevent_initial_call=True,
)
def for_choices(window: str, ends: str) -> tuple[bool, bool]:
    """Show the fields that a choice needs."""
    return window != FIXED, ends != "on"


@callback(
    Output(Ids.DEVICES, "options"),
    Output(Ids.DEVICES, "value"),
    Output(Ids.DEVICES_NOTE, "children"),
    Input(Ids.SEARCH, "value"),
    Input(Ids.DEVICES, "value"),
    Input(Ids.VIEW, "value"),
    prevent_initial_call=True,
)
def find(search: Any, chosen: Any, view: Any) -> tuple[Any, ...]:
    selected = queries.within_limit(read_view_name(view), read_texts(chosen))
    try:
        meters = queries.devices(now_ms()).meters
    except WeirError as error:
        return no_update, no_update, failure(error)
    options, more = queries.offered(meters, selected, read_text(search))
    note = f"{more:,} more match: search to narrow them down." if more else ""
    if len(options) == len(selected):
        note = "No other device matches."
    return as_options(options), selected, note


_PROBLEMS = {field: Output(problem_id(field), "children") for field in FIELDS}
_TEXTS = {
    "title": State(Ids.TITLE, "value"),
    "first": State(Ids.FIRST, "value"),
    "last": State(Ids.LAST, "value"),
    "zone": State(Ids.ZONE, "value"),
    "origins": State(Ids.ORIGINS, "value"),
    "ends_on": State(Ids.ENDS_ON, "value"),
    "view": State(Ids.VIEW, "value"),
    "metric": State(Ids.METRIC, "value"),
    "window": State(Ids.WINDOW, "value"),
    "units": State(Ids.UNITS, "value"),
    "theme": State(Ids.THEME, "value"),
    "compare": State(Ids.COMPARE, "value"),
    "ends": State(Ids.ENDS, "value"),
}
_LISTS = {
    "devices": State(Ids.DEVICES, "value"),
    "controls": State(Ids.CONTROLS, "value"),
    "notes": State(Ids.NOTES, "value"),
}


@callback(
    output={
        "go": Output(Ids.GO, "href"),
        "problem": Output(Ids.MAKE_PROBLEM, "children"),
        "problems": _PROBLEMS,
    },
    inputs={"clicks": Input(Ids.MAKE, "n_clicks"), "texts": _TEXTS, "lists": _LISTS},
    prevent_initial_call=True,
)
def make(clicks: Any, texts: dict[str, Any], lists: dict[str, Any]) -> dict[str, Any]:
    """Create the embed and go to it, or show each problem at its field."""
    now = now_ms()
    draft = Draft.of(texts, lists)
    try:
        read = read_draft(draft, _zones(queries.devices(now)), now)
        if read.definition is None:
            return _refused("", read.problems)
        made = queries.create(read.definition)
    except BadRequest as error:
        return _refused("" if error.errors else failure(error), _by_field(error))
    except NotFound:
        return _refused(NOT_OFFERED, {})
    except WeirError as error:
        return _refused(failure(error), {})
    return _refused("", {}) | {"go": session.site_path(f"{EMBEDS_PATH}?embed={made.id}")}


def _by_field(error: BadRequest) -> dict[str, str]:
    return {each.parameter: f"It {each.detail}." if each.detail[0].islower() else each.detail
            for each in error.errors}  # fmt: skip


def _refused(problem: str, problems: dict[str, str]) -> dict[str, Any]:
    without_field = [text for field, text in problems.items() if field not in FIELDS]
    return {
        "go": no_update,
        "problem": " ".join([problem, *without_field]).strip(),
        "problems": {field: problems.get(field, "") for field in FIELDS},
    }


# --- The selected embed --------------------------------------------------------------------------


@callback(
    Output(Ids.PANEL, "children"),
    Output(Ids.LIST, "children"),
    Output(Ids.REVOKE_PROBLEM, "children"),
    Input(Ids.REVOKE, "n_clicks"),
    State(Ids.CHOSEN, "data"),
    prevent_initial_call=True,
)
def revoke(clicks: int | None, chosen: Any) -> tuple[Any, ...]:
    if not clicks:
        return no_update, no_update, no_update
    id, now = read_text(chosen), now_ms()
    try:
        queries.revoke(id)
        embeds, devices = queries.embeds(), queries.devices(now)
        panel = _panel(id, embeds, devices, now)
    except WeirError as error:
        return no_update, no_update, failure(error)
    return panel, listing(embeds, queries.labels(devices.by_id), id, now), no_update
