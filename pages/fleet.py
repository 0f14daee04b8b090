"""The fleet at a glance: up to fifty tiles, and the totals over all devices.

assets/fleet.js fills and refreshes them.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Final

from dash import (
    ClientsideFunction,
    Input,
    Output,
    callback,
    clientside_callback,
    dcc,
    html,
    register_page,
)
from dash.development.base_component import Component

from api.errors import WeirError
from api.metering.windows import DEFAULT_SPAN, SPANS
from api.timez import now_ms
from components import session, shell
from components.concurrent_queries import current_access
from components.controls import (
    LINKS,
    WALL,
    WHAT_THEY_USED,
    Entry,
    Section,
    attributes,
    embed_link,
    failure,
    labelled,
    menu,
    notice,
    search_field,
    segments,
    select,
    units_select,
    zone_select,
)
from components.fleet.queries import SORTS, FleetView, read_fleet_view, write_fleet_view
from components.fleet.wall import board
from components.url_state import read_question, unread

SKELETONS = 10


class Ids(StrEnum):
    """Ids, also used by assets/fleet.js."""

    QUESTION = "fleet-question"
    BOARD = "fleet-board"
    DRAWN = "fleet-drawn"
    PAGE = "fleet"
    SEARCH = "fleet-search"
    CHIPS = "fleet-chips"
    GROUP = "fleet-group"
    PAGER = "fleet-pager"
    CHECKED = "fleet-checked"
    TOTALS = "fleet-totals"
    NOTICE = "fleet-notice"
    WALL = "fleet-wall"
    EMPTY = "fleet-empty"
    FIRST_RUN = "fleet-first-run"
    TOPIC = "fleet-topic"
    RECEPTION = "fleet-reception"
    DEMO = "fleet-demo"
    DEMO_SHARE = "fleet-demo-share"
    DEMO_STATE = "fleet-demo-state"
    ANNOUNCEMENT = "fleet-announcement"
    FILTERS = "fleet-filters"
    CLOCK = "wall-clock"
    CLOCK_LINE = "wall-clock-line"
    FOOT = "wall-foot"
    LEAVE = "wall-leave"


PATH = "/"
register_page(__name__, path=PATH, title="Fleet · Weir")


def layout(**params: Any) -> Component:
    """The frame without data: the tiles come with the first reply."""
    view = read_fleet_view(params)
    remarks = unread(params, {"window": view.span.name == params.get("window")})
    return shell.frame(fleet_page(view), place=PATH, tools=fleet_tools(view), remarks=remarks)


@callback(Output(Ids.BOARD, "data"), Input(Ids.QUESTION, "data"))
def answer(question: Any) -> dict[str, Any]:
    """The wall for the browser's query; on failure the last one stays."""
    params = read_question(question)
    try:
        made = board(current_access(), read_fleet_view(params), now_ms())
    except WeirError as error:
        made = {"error": failure(error)}
    return made | {"request_id": params.get("request_id")}


clientside_callback(
    ClientsideFunction("fleet", "draw"),
    Output(Ids.DRAWN, "data"),
    Input(Ids.BOARD, "data"),
)

# --- The frame -----------------------------------------------------------------------------------


EXPORTS: Final = (
    WALL,
    LINKS,
    Section(
        "States of these devices",
        (
            Entry("CSV", ".csv", href="/download/fleet.csv", here=True),
            Entry("Excel workbook", ".xlsx", href="/download/fleet.xlsx", here=True),
        ),
    ),
    WHAT_THEY_USED,
)


def fleet_page(view: FleetView) -> Component:
    return html.Div(
        [
            dcc.Store(id=Ids.QUESTION, data=write_fleet_view(view)),
            dcc.Store(id=Ids.BOARD),
            dcc.Store(id=Ids.DRAWN),
            html.H1("Fleet", className="sr-only"),
            html.Button(
                "Filters",
                id=Ids.FILTERS,
                type="button",
                className="button filters",
                **attributes(data_do="filters", aria_expanded="false"),
            ),
            _controls(view),
            html.Section(
                html.Dl(id=Ids.TOTALS, className="card totals"),
                className="sums",
                **labelled("These devices together"),
            ),
            _clock(),
            notice(Ids.NOTICE),
            html.Ul(id=Ids.WALL, className="wall", role="list", **labelled("Devices")),
            html.Div(
                [html.Div(className="tile skeleton") for _ in range(SKELETONS)],
                className="wall skeletons",
                **attributes(aria_hidden="true"),
            ),
            html.Div(id=Ids.EMPTY, className="card empty", hidden=True),
            *_first_run(),
            html.P(id=Ids.ANNOUNCEMENT, className="sr-only", **attributes(aria_live="polite")),
            html.P(id=Ids.FOOT, className="wall-foot"),
            html.Button(
                "Leave the wall", id=Ids.LEAVE, type="button", className="button wall-leave"
            ),
        ],
        id=Ids.PAGE,
    )


SETTINGS: Final = """WEIR_MQTT_URL=mqtt://user@broker:1883
WEIR_MQTT_PASSWORD_FILE=/etc/weir/mqtt-password

# or, without a broker:
WEIR_MQTT_LISTEN=0.0.0.0:8883
WEIR_MQTT_LISTEN_CERTIFICATE=/etc/weir/fullchain.pem
WEIR_MQTT_LISTEN_CERTIFICATE_KEY=/etc/weir/privkey.pem"""


def _first_run() -> list[Component]:
    """The ways to send first readings, for administrators. assets/first-run.js shows it while there
    is no device, with what has arrived."""
    if not session.me().role.may_administer:
        return []
    return [
        html.Section(
            [html.H2("Connect your first meter"), html.Div(_first_ways(), className="first-ways")],
            id=Ids.FIRST_RUN,
            className="first-run",
            hidden=True,
            **attributes(
                data_reception=session.site_path("/admin/service/reception"),
                data_demo=session.site_path("/admin/service/demo"),
                data_quality=session.site_path(f"{shell.ADMIN_PATH}?tab=quality"),
            ),
        )
    ]


def _first_ways() -> list[Component]:
    return [
        _way(
            "Import a file",
            html.P("CSV, Excel or NDJSON, as your meters or your utility write it."),
            html.A(
                "Choose a file",
                href=session.site_path(shell.IMPORT_PATH),
                className="button primary",
            ),
        ),
        _way(
            "Connect a broker",
            html.P("Write these settings into the environment of weir serve, and restart it:"),
            html.Pre(SETTINGS),
            html.P("Meters publish to this topic:"),
            html.Pre(id=Ids.TOPIC),
            html.P(id=Ids.RECEPTION, className="quiet", role="status"),
        ),
        _way(
            "Try the demo",
            html.P(
                "Sixty simulated meters with a month of readings, and live ones from then on."
                " Remove them at any time: Administration, Organization."
            ),
            html.Button(
                "Create the demo fleet",
                id=Ids.DEMO,
                type="button",
                className="button primary",
            ),
            html.Progress(
                id=Ids.DEMO_SHARE, max="1", hidden=True, **labelled("Making the demo fleet")
            ),
            html.P(id=Ids.DEMO_STATE, className="quiet", role="status"),
            html.P("Or in a store of its own, beside this one:"),
            html.Pre("WEIR_INSTANCE=demo weir demo run --port 8051"),
        ),
    ]


def _way(title: str, *children: Component) -> Component:
    return html.Div([html.H3(title), *children], className="card first-way")


def _clock() -> Component:
    """The time on a wall display, and the data's age. assets/wall-mode.js."""
    line = html.Span(id=Ids.CLOCK_LINE)
    lines = html.Div([html.Span(shell.organization_name()), line], className="wall-lines")
    return html.Div([lines, html.B(id=Ids.CLOCK)], className="card wall-clock")


def fleet_tools(view: FleetView) -> list[Component]:
    """The controls in the top bar: units and zone."""
    return [units_select(view.units), zone_select("Each device’s zone", view.zone)]


def _controls(view: FleetView) -> Component:
    return html.Div(
        [
            segments(
                "Window",
                "window",
                [(span.name, span.label) for span in SPANS],
                chosen=view.span.name,
                default=DEFAULT_SPAN.name,
            ),
            search_field(Ids.SEARCH, "Search devices", value=view.search),
            html.Div(
                [
                    html.Span(id=Ids.GROUP),
                    select("Sort", "sort", _sorts(), chosen=view.sort),
                    html.Button(
                        "Wall", type="button", className="button", **attributes(data_do="wall")
                    ),
                    embed_link("wall"),
                    menu("Export", EXPORTS, name="Export this fleet"),
                ],
                className="fleet-right",
            ),
            html.Div(
                id=Ids.CHIPS, className="chips", role="group", **labelled("Status and findings")
            ),
            html.Div(
                [
                    html.Span(id=Ids.CHECKED, className="fleet-checked"),
                    html.Nav(id=Ids.PAGER, className="pager", **labelled("Pages")),
                ],
                className="fleet-pages",
            ),
        ],
        className="fleet-controls",
    )


def _sorts() -> list[tuple[str, str]]:
    return [(name, f"Sort: {sort.label}") for name, sort in SORTS.items()]
