"""One embed: its content, live preview and snippet, and how to revoke it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dash import dcc, html
from dash.development.base_component import Component

from api.client import Embed, EmbedToken, address, height_px, snippet
from components import session
from components.controls import EMBEDS_PATH, attributes
from components.embeds import descriptions
from components.embeds.layout import Ids


@dataclass(frozen=True, slots=True)
class Looked:
    """``site`` is where readers reach the embed; ``here`` whether that is this very server, which
    alone can be tried out. ``token`` None with ``refused``, why there is none."""

    embed: Embed
    labels: descriptions.Labels
    site: str
    here: bool
    token: EmbedToken | None
    refused: str = ""


def one_embed(looked: Looked, now_ms: int) -> Component:
    embed = looked.embed
    stands = descriptions.standing(embed)
    return html.Section(
        [
            html.Div(
                [html.H2(descriptions.name(embed, looked.labels)), chip(stands)],
                className="name-line",
            ),
            html.P(stands.why, className="quiet") if stands.why else None,
            *(_shown(looked) if embed.state == "active" else []),
            _facts(descriptions.facts(embed, looked.labels, now_ms)),
            _ending(embed),
        ],
        className="card embed-panel",
        **attributes(aria_label="Embed"),
    )


def chip(stands: descriptions.Standing) -> Component:
    return html.Span(
        f"{stands.mark} {stands.word}",
        className="state-chip",
        **attributes(data_state=stands.colour),
    )


def _shown(looked: Looked) -> list[Component]:
    if looked.token is None:
        return [html.P(looked.refused, className="problem", role="alert")]
    embed, said = looked.embed, looked.embed.definition
    text = snippet(looked.site, embed.id, looked.token.token, said)
    return [
        _preview(looked, looked.token.token),
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


def _preview(looked: Looked, token: str) -> Component:
    if not looked.here:
        return html.P(f"This embed opens on {looked.site}: preview it there.", className="quiet")
    return html.Iframe(
        src=address("", looked.embed.id, token),
        title="Preview",
        className="embed-preview",
        height=str(height_px(looked.embed.definition)),
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
            html.P(id=Ids.REVOKE_SAID, className="problem", role="alert"),
        ]
    )  # fmt: skip


# --- The list ------------------------------------------------------------------------------------


def listing(
    embeds: Sequence[Embed], labels: descriptions.Labels, chosen: str, now_ms: int
) -> Component:
    if not embeds:
        return html.P(
            "No embeds yet. Create one and paste its snippet into a portal or wiki.",
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
            href=session.site_path(f"{EMBEDS_PATH}?embed={embed.id}"),
            className="embed-row current" if current else "embed-row",
        ),
        key=embed.id,
        **attributes(data_embed_id=embed.id, **named),
    )  # fmt: skip
