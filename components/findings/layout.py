"""The frame of the findings page: filters, list, detail. assets/findings.js fills and refreshes
it."""

from __future__ import annotations

from enum import StrEnum

from dash import dcc, html
from dash.development.base_component import Component

from components import html_json, session
from components.controls import (
    Entry,
    Section,
    attributes,
    labelled,
    menu,
    notice,
    select,
    units_select,
    zone_select,
)
from components.findings.texts import SEVERITY_WORDS
from components.findings.url_state import FindingsView, write_findings_view
from components.shell import FINDING_SETTINGS_PATH as SETTINGS_PATH
from components.shell import FINDINGS_PATH

PATH = FINDINGS_PATH
KEYS = (
    ("j", "next"),
    ("k", "previous"),
    ("Enter", "open chart"),
    ("x", "dismiss"),
    ("?", "all keys"),
)
EVERY_KEY = (
    ("j, ↓", "Next finding"),
    ("k, ↑", "Previous finding"),
    ("Enter", "Open its chart"),
    ("x", "Dismiss it, or take the dismissal back"),
    ("u", "Undo the last dismissal"),
    ("Esc", "Close what is open; on a phone, back to the list"),
    ("?", "These keys"),
)


class Ids(StrEnum):
    """Ids, also used by assets/findings.js."""

    PAGE = "findings"
    QUESTION = "findings-question"
    ANSWER = "findings-answer"
    DRAWN = "findings-drawn"
    CHOSEN = "findings-chosen"
    SHOWN = "findings-shown"
    PICTURE = "findings-picture"
    DEED = "findings-deed"
    DONE = "findings-done"
    NOTIFIED = "findings-notified"
    SUMMARY = "findings-summary"
    STATES = "findings-states"
    KINDS = "findings-kinds"
    GROUP = "findings-group"
    NOTICE = "findings-notice"
    LIST = "findings-list"
    DETAIL = "findings-detail"
    KEYS = "findings-keys"


SHEETS = (Ids.SUMMARY, Ids.STATES, Ids.KINDS, Ids.LIST, Ids.DETAIL)


def findings_page(view: FindingsView) -> Component:
    stores = (
        Ids.ANSWER,
        Ids.DRAWN,
        Ids.CHOSEN,
        Ids.SHOWN,
        Ids.PICTURE,
        Ids.DEED,
        Ids.DONE,
        Ids.NOTIFIED,
    )
    return html.Div(
        [
            dcc.Store(id=Ids.QUESTION, data=write_findings_view(view)),
            *(dcc.Store(id=id) for id in stores),
            *(html_json.store(id) for id in SHEETS),
            _heading(view),
            _filters(view),
            notice(Ids.NOTICE),
            html.Div(
                [
                    html.Section(
                        id=Ids.LIST, className="card findings-list", **labelled("Findings")
                    ),
                    html.Section(
                        id=Ids.DETAIL,
                        className="card finding-detail",
                        tabIndex=-1,
                        **labelled("The finding"),
                    ),
                ],
                className="findings-columns",
            ),
            _keys(),
        ],
        id=Ids.PAGE,
        **attributes(data_state="loading", data_view="detail" if view.finding else "list"),
    )


def findings_tools(view: FindingsView) -> list[Component]:
    return [units_select(view.units), zone_select("Each device’s zone", view.zone)]


def _heading(view: FindingsView) -> Component:
    files = (
        Entry("CSV", ".csv", "/download/findings.csv", here=True),
        Entry("Excel workbook", ".xlsx", "/download/findings.xlsx", here=True),
    )
    export = menu("Export", [Section("All that match", files)], name="Export these findings")
    settings = dcc.Link("Settings", href=session.site_path(SETTINGS_PATH), className="button")
    return html.Div(
        [
            html.H1("Findings"),
            html.P(id=Ids.SUMMARY, className="findings-summary", role="status"),
            html.Div([settings, export], className="fleet-right"),
        ],
        className="heading",
    )


def _filters(view: FindingsView) -> Component:
    severities = [("", "All severities"), *SEVERITY_WORDS.items()]
    return html.Div(
        [
            html.Div(id=Ids.STATES, className="segments", role="group", **labelled("State")),
            html.Div(id=Ids.KINDS, className="finding-kinds", role="group", **labelled("Kind")),
            html.Div(
                [
                    select("Severity", "severity", severities, chosen=view.severity),
                    html.Span(id=Ids.GROUP),
                ],
                className="fleet-right",
            ),
        ],
        className="findings-filters",
    )


def _keys() -> Component:
    short = [html.Span([html.Kbd(key), f" {deed}"], className="finding-key") for key, deed in KEYS]
    every = html.Dl(
        [html.Div([html.Dt(html.Kbd(key)), html.Dd(deed)]) for key, deed in EVERY_KEY],
        id=Ids.KEYS,
        className="card finding-every-key",
        hidden=True,
        tabIndex=-1,
        **labelled("Keys"),
    )
    return html.Footer([html.Div(short, className="finding-keys"), every])
