"""The frame of every page: top bar, navigation, theme switch, account."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from dash import dcc, html
from dash.development.base_component import Component

from api.errors import WeirError
from components import formatting, session
from components.controls import Entry, Section, attributes, freshness_badge, labelled, menu
from components.session import SIGN_OUT

THEME_SWITCH_ID: Final = "theme-switch"  # assets/head/start.js handles it
OUTAGE_ID: Final = "outage"  # assets/session.js writes there why no readings are stored


@dataclass(frozen=True, slots=True)
class Place:
    """One entry of the navigation."""

    label: str
    path: str


FINDINGS_PATH: Final = "/findings"
FINDING_SETTINGS_PATH: Final = f"{FINDINGS_PATH}/settings"
ALERTS_PATH: Final = "/alerts"
NOTES_PATH: Final = "/notes"
ADMIN_PATH: Final = "/admin"
AUDIT_PATH: Final = "/admin/audit"
IMPORT_PATH: Final = "/import"
BADGE_ID: Final = "findings-badge"  # assets/findings.js updates it while its page is open
PLACES: Final = (
    Place("Fleet", "/"),
    Place("Findings", FINDINGS_PATH),
    Place("Devices", "/devices"),
    Place("Usage", "/usage"),
    Place("Compare", "/compare"),
    Place("Alerts", ALERTS_PATH),
    Place("Notes", NOTES_PATH),
)
# Entries of the account menu, for settings. The second one is for administrators.
SET_UP: Final = (
    (Place("Embeds", "/embeds"), False),
    (Place("Import", IMPORT_PATH), True),
    (Place("Administration", ADMIN_PATH), True),
)
HOME: Final = PLACES[0].path


def frame(
    *children: Component | str,
    place: str = "",
    tools: Sequence[Component] = (),
    remarks: Sequence[str] = (),
) -> Component:
    """A whole page. ``place``: the path of its navigation entry. ``tools``: controls in the bar.
    ``remarks``: invalid parameters of its address."""
    return html.Div(
        [
            html.A("Skip to the content", href="#content", className="skip"),
            _bar(place, tools),
            html.Div(id=OUTAGE_ID, className="outage", role="status"),
            html.Main([*_remarks(remarks), *children], id="content", tabIndex=-1),
        ],
        className="page",
    )


def first_frame() -> Component:
    """The frame before the first page has loaded, without data; late, it says why (bar.css)."""
    entries = [dcc.Link(p.label, href=session.site_path(p.path), className="entry") for p in PLACES]
    bar = html.Header(
        [
            dcc.Link([mark(), html.Span("Weir")], href=session.site_path(HOME), className="brand"),
            html.Nav(entries, **labelled("Main")),
        ],
        className="bar",
    )
    late = html.P("Waiting for the server.", className="first-frame-late", role="status")
    return html.Div([bar, html.Main(late)], className="page first-frame")


def _remarks(remarks: Sequence[str]) -> list[Component]:
    if not remarks:
        return []
    return [html.P(" ".join(remarks), className="notice remarks", role="status")]


def _bar(place: str, tools: Sequence[Component]) -> Component:
    return html.Header(
        [
            dcc.Link([mark(), html.Span("Weir")], href=session.site_path(HOME), className="brand"),
            html.Nav([_entry(p, current=p.path == place) for p in PLACES], **labelled("Main")),
            html.Div(
                [
                    freshness_badge(),
                    *tools,
                    share(),
                    html.Button(
                        "◐",
                        id=THEME_SWITCH_ID,
                        type="button",
                        className="button icon",
                        title="Light or dark",
                        **labelled("Switch between light and dark"),
                    ),
                    _account(),
                ],
                className="tools",
            ),
        ],
        className="bar",
    )


def _account() -> Component:
    """The account menu: the organization, settings, signing out."""
    may_administer = session.me().role.may_administer
    entries: list[Component] = [
        html.A(place.label, href=session.site_path(place.path), className="button account-entry")
        for place, administrators in SET_UP
        if may_administer or not administrators
    ]
    if session.can_sign_out():
        entries.append(
            html.Form(
                html.Button("Sign out", type="submit", className="button"),
                action=session.site_path(SIGN_OUT),
                method="post",
            )
        )
    name = html.Span(organization_name() or "Account", className="organization")
    menu_entries = html.Div(entries, className="account-menu")
    return html.Details([html.Summary(name), menu_entries], className="account")


def _entry(place: Place, *, current: bool) -> Component:
    href = session.site_path(place.path)
    content = [place.label, *_badge(place.path)]
    return dcc.Link(content, href=href, className="entry current" if current else "entry")


def _badge(path: str) -> list[Component]:
    """The number of items that need attention there; empty if the service doesn't respond."""
    if path not in _BADGES:
        return []
    id, title, count_of = _BADGES[path]
    try:
        count = count_of()
    except WeirError:
        count = 0
    text = "" if not count else formatting.whole(count)
    return [html.Span(text, id=id, className="place-badge", title=title)]


_BADGES: Final = {
    FINDINGS_PATH: (
        BADGE_ID,
        "Open critical findings and warnings",
        session.count_of_urgent_findings,
    ),
    ALERTS_PATH: ("alerts-badge", "Firing alerts", session.count_of_firing_alerts),
}


def mark() -> Component:
    """Weir's logo: two waves over a crest, drawn by the stylesheet."""
    return html.Span(className="mark", **attributes(aria_hidden="true"))


def organization_name() -> str:
    """Empty if the service doesn't respond: the page then shows its own error."""
    try:
        return session.organization_name()
    except WeirError:
        return ""


# --- Share ---------------------------------------------------------------------------------------

# The actions of assets/share.js. A fixed view has the first only.
LINK: Final = "share-link"
MOMENT: Final = "share-moment"


def share() -> Component:
    entries = (
        Entry("Rolling", "as it will be when opened", deed=LINK),
        Entry("This moment", "as it is now", deed=MOMENT),
    )
    return menu("Share", [Section("Copy a link to this view", entries)], name="Share", kind="share")


# --- The tabs of the administration --------------------------------------------------------------

ADMIN_TABS: Final = (
    ("devices", "Devices"),
    ("groups", "Groups"),
    ("keys", "Keys and people"),
    ("organization", "Organization"),
    ("quality", "Data quality"),
)


def admin_tabs(current: str = "") -> Component:
    """The tabs of the administration; ``current`` is the path of the open one."""
    links = [
        html.A(
            label,
            href=session.site_path(f"{ADMIN_PATH}?tab={name}"),
            className="admin-tab",
            **attributes(data_tab=name),
        )
        for name, label in ADMIN_TABS
    ]
    more = attributes(aria_current="page") if current == AUDIT_PATH else {}
    audit = html.A("Audit log", href=session.site_path(AUDIT_PATH), className="admin-tab", **more)
    return html.Nav([*links, audit], className="admin-tabs", **labelled("Administration"))
