"""One embed: its description, live preview, snippet, and revocation; and the list of all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from dash import dcc, html
from dash.development.base_component import Component

from api.catalog import DEVICE_ZONE, EMBED_VIEW_BY_NAME
from api.client import Embed, EmbedDefinition, EmbedToken, Rolling, address, height_px, snippet
from api.timez import DAY_MS, zone_or_utc
from components import formatting, session
from components.controls import EMBEDS_PATH, attributes
from components.embeds.layout import Ids
from components.formatting import Clock
from components.units import UNITS_BY_NAME
from components.url_state import COMPARISONS, TAB_BY_NAME


@dataclass(frozen=True, slots=True)
class Preview:
    """``site``: the public address of the embed's server. ``is_here``: that is this server; only
    then can the embed be previewed. ``token`` None: ``problem`` gives the reason."""

    embed: Embed
    labels: Labels
    site: str
    is_here: bool
    token: EmbedToken | None
    problem: str = ""


def one_embed(preview: Preview, now_ms: int) -> Component:
    embed = preview.embed
    state = state_of(embed)
    return html.Section(
        [
            html.Div(
                [html.H2(name_of(embed, preview.labels)), chip(state)],
                className="name-line",
            ),
            html.P(state.why, className="quiet") if state.why else None,
            *(_snippet(preview) if embed.state == "active" else []),
            _facts(facts_of(embed, preview.labels, now_ms)),
            _ending(embed),
        ],
        className="card embed-panel",
        **attributes(aria_label="Embed"),
    )


def chip(state: EmbedState) -> Component:
    return html.Span(
        f"{state.mark} {state.word}",
        className="state-chip",
        **attributes(data_state=state.colour),
    )


def _snippet(preview: Preview) -> list[Component]:
    if preview.token is None:
        return [html.P(preview.problem, className="problem", role="alert")]
    embed, definition = preview.embed, preview.embed.definition
    text = snippet(preview.site, embed.id, preview.token.token, definition)
    return [
        _preview(preview, preview.token.token),
        html.Label("Paste this into the other page", htmlFor=Ids.SNIPPET),
        dcc.Textarea(
            id=Ids.SNIPPET,
            value=text,
            readOnly=True,
            className="search wide snippet",
            rows=6,
            spellCheck=False,
        ),
        html.Div(
            [
                html.Button(
                    "Copy snippet",
                    type="button",
                    className="button primary",
                    **attributes(data_copy=Ids.SNIPPET),
                ),
                html.Span(className="quiet", role="status", **attributes(data_copied=Ids.SNIPPET)),
            ],
            className="embed-make",
        ),
        html.P(
            "Anyone who can read that page can use its link. Revoke the embed to end access.",
            className="quiet",
        ),
    ]


def _preview(preview: Preview, token: str) -> Component:
    if not preview.is_here:
        return html.P(f"This embed opens on {preview.site}: preview it there.", className="quiet")
    return html.Iframe(
        src=address("", preview.embed.id, token),
        title="Preview",
        className="embed-preview",
        height=str(height_px(preview.embed.definition)),
        referrerPolicy="no-referrer",
    )


def _facts(facts: list[tuple[str, str]]) -> Component:
    rows = [html.Div([html.Dt(name), html.Dd(value)]) for name, value in facts]
    return html.Dl(rows, className="embed-facts")


def _ending(embed: Embed) -> Component:
    """A confirmation: revoking can't be undone and takes effect within seconds."""
    over = embed.state in ("revoked", "expired")
    return html.Div(
        [
            html.Details(
                [
                    html.Summary("Revoke…", className="button"),
                    html.Div(
                        [
                            html.P("Every page that shows it will say so within seconds. This can’t"
                                   " be undone."),
                            html.Button("Revoke permanently", id=Ids.REVOKE, type="button",
                                        className="button danger"),
                        ],
                        className="embed-confirm",
                    ),
                ],
                hidden=over,
            ),
            html.P(id=Ids.REVOKE_PROBLEM, className="problem", role="alert"),
        ]
    )  # fmt: skip


# --- The list ------------------------------------------------------------------------------------


def listing(embeds: Sequence[Embed], labels: Labels, chosen: str, now_ms: int) -> Component:
    if not embeds:
        return html.P(
            "No embeds yet. Create one and paste its snippet into a portal or wiki.",
            className="empty",
        )
    rows = [_row(embed, labels, embed.id == chosen, now_ms) for embed in embeds]
    return html.Ul(rows, className="embed-rows", role="list")


def _row(embed: Embed, labels: Labels, current: bool, now_ms: int) -> Component:
    named = {"aria_current": "true"} if current else {}
    return html.Li(
        dcc.Link(
            [
                html.Span(
                    [html.Span(name_of(embed, labels), className="embed-name"),
                     chip(state_of(embed))],
                    className="embed-row-head",
                ),
                html.Span(line(embed, labels), className="quiet"),
                html.Span(ends(embed, now_ms), className="quiet"),
            ],
            href=session.site_path(f"{EMBEDS_PATH}?embed={embed.id}"),
            className="embed-row current" if current else "embed-row",
        ),
        key=embed.id,
        **attributes(data_embed_id=embed.id, **named),
    )  # fmt: skip


# --- Its description -----------------------------------------------------------------------------


Labels = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class EmbedState:
    """A state as a shape, a word and a colour (``data-state`` in the stylesheet)."""

    mark: str
    word: str
    colour: str
    why: str = ""


STATES: Final = {
    "active": EmbedState("●", "Active", "reporting"),
    "expired": EmbedState("▲", "Expired", "degraded", "It has expired."),
    "revoked": EmbedState("■", "Revoked", "nodata", "It was revoked. This can’t be undone."),
    "stopped": EmbedState(
        "○",
        "Stopped",
        "silent",
        "The key that created it, or its organization, is no longer active.",
    ),
}
_UNKNOWN: Final = EmbedState("○", "Unknown", "nodata")


def state_of(embed: Embed) -> EmbedState:
    return STATES.get(embed.state, _UNKNOWN)


def name_of(embed: Embed, labels: Labels) -> str:
    """The embed's title, otherwise its devices."""
    return embed.definition.title or subject(embed.definition, labels)


def subject(definition: EmbedDefinition, labels: Labels) -> str:
    if len(definition.devices) == 1:
        return labels.get(definition.devices[0], definition.devices[0])
    return f"{formatting.whole(len(definition.devices))} devices"


def view(definition: EmbedDefinition) -> str:
    label = (
        EMBED_VIEW_BY_NAME[definition.view].label
        if definition.view in EMBED_VIEW_BY_NAME
        else definition.view
    )
    tab = TAB_BY_NAME.get(definition.metric or "")
    return f"{label} of {tab.label.lower()}" if tab else label


def window(definition: EmbedDefinition) -> str:
    chosen = definition.window
    if isinstance(chosen, Rolling):
        return f"last {length(chosen.last_s)}"
    tz = zone_or_utc(definition.zone)
    clock = Clock(tz, chosen.from_ms, chosen.to_ms)
    ends = (formatting.moment(at, clock) for at in (chosen.from_ms, chosen.to_ms))
    return f"{' – '.join(ends)} {tz.key}"


def length(seconds: int) -> str:
    for unit, size in (("d", 86_400), ("h", 3_600)):
        if seconds % size == 0 and seconds > size:
            return f"{formatting.whole(seconds // size)} {unit}"
    return formatting.duration(seconds * 1000)


def line(embed: Embed, labels: Labels) -> str:
    """The second line of a list's row."""
    definition = embed.definition
    parts = [view(definition), window(definition), sites(definition)]
    if definition.title:
        parts.insert(1, subject(definition, labels))
    return " · ".join(parts)


def sites(definition: EmbedDefinition) -> str:
    count = len(definition.origins)
    return {0: "this site only", 1: _host(definition.origins[0]) if count else ""}.get(
        count, f"{count} sites"
    )


def _host(origin: str) -> str:
    return origin.partition("://")[2]


def _endless(embed: Embed) -> bool:
    return embed.revoked_ms is None and embed.definition.expires_ms is None


def ends(embed: Embed, now_ms: int) -> str:
    if embed.revoked_ms is not None:
        return f"revoked {date(embed.revoked_ms)}"
    at = embed.definition.expires_ms
    if at is None:
        return "no expiry"
    return f"{'ended' if at <= now_ms else 'until'} {date(at - 1)}"


def date(at_ms: int) -> str:
    return formatting.date_of(at_ms, Clock(zone_or_utc("UTC"), at_ms, at_ms + DAY_MS))


def facts_of(embed: Embed, labels: Labels, now_ms: int) -> list[tuple[str, str]]:
    definition = embed.definition
    units = UNITS_BY_NAME.get(definition.units)
    return [
        ("Shows", f"{view(definition)}, {window(definition)}"),
        ("Devices", _devices(definition.devices, labels)),
        ("Sites", ", ".join(definition.origins) or "this site only"),
        ("Zone", "each device’s own" if definition.zone == DEVICE_ZONE else definition.zone),
        ("Units", units.label if units else definition.units),
        (
            "Theme",
            "the viewer’s system setting" if definition.theme == "system" else definition.theme,
        ),
        ("Viewers may change", ", ".join(definition.controls) or "nothing"),
        *(
            [("Compared with", COMPARISONS[definition.compare].lower())]
            if definition.compare in COMPARISONS
            else []
        ),
        ("Notes and maintenance", "shown" if definition.notes else "not shown"),
        ("Expires", "No expiry" if _endless(embed) else ends(embed, now_ms)),
        ("Created", f"{date(embed.created_ms)} by {embed.created_by}"),
    ]


def _devices(ids: Sequence[str], labels: Labels) -> str:
    named = [labels.get(id, id) for id in ids[:6]]
    more = len(ids) - len(named)
    return ", ".join(named) + (f" and {more} more" if more else "")
