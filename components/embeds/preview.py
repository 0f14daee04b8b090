"""One embed: its definition, live preview, snippet, and revocation."""

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
class Preview:
    """``site``: the public address of the embed's server. ``is_here``: that is this server; only
    then can the embed be previewed. ``token`` None: ``problem`` gives the reason."""

    embed: Embed
    labels: descriptions.Labels
    site: str
    is_here: bool
    token: EmbedToken | None
    problem: str = ""


def one_embed(preview: Preview, now_ms: int) -> Component:
    embed = preview.embed
    state = descriptions.state(embed)
    return html.Section(
        [
            html.Div(
                [html.H2(descriptions.name(embed, preview.labels)), chip(state)],
                className="name-line",
            ),
            html.P(state.why, className="quiet") if state.why else None,
            *(_snippet(preview) if embed.state == "active" else []),
            _facts(descriptions.facts(embed, preview.labels, now_ms)),
            _ending(embed),
        ],
        className="card embed-panel",
        **attributes(aria_label="Embed"),
    )


def chip(state: descriptions.EmbedState) -> Component:
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
                     chip(descriptions.state(embed))],
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
