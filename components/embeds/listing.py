"""The organization's embeds, newest first."""

from __future__ import annotations

from collections.abc import Sequence

from dash import dcc, html
from dash.development.base_component import Component

from api.client import Embed
from components import session
from components.embeds import descriptions
from components.embeds.link import PATH
from components.embeds.preview import chip
from components.markup import attributes


def listing(
    embeds: Sequence[Embed], labels: descriptions.Labels, chosen: str, now_ms: int
) -> Component:
    if not embeds:
        return html.P(
            "No embeds yet. Make one, and paste its snippet into a portal or a wiki.",
            className="empty",
        )
    rows = [_row(embed, labels, embed.id == chosen, now_ms) for embed in embeds]
    return html.Ul(rows, className="embed-rows", role="list")


def _row(embed: Embed, labels: descriptions.Labels, current: bool, now_ms: int) -> Component:
    named = {"aria_current": "true"} if current else {}
    return html.Li(
        dcc.Link(
            [
                html.Span(
                    [html.Span(descriptions.name(embed, labels), className="embed-name"),
                     chip(descriptions.standing(embed))],
                    className="embed-row-head",
                ),
                html.Span(descriptions.line(embed, labels), className="quiet"),
                html.Span(descriptions.ends(embed, now_ms), className="quiet"),
            ],
            href=session.site_path(f"{PATH}?embed={embed.id}"),
            className="embed-row current" if current else "embed-row",
        ),
        key=embed.id,
        **attributes(data_embed_id=embed.id, **named),
    )  # fmt: skip
