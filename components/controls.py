"""Small components that pages share: segmented controls, selects, search fields, error messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import urlencode

from dash import dcc, html
from dash.development.base_component import Component

from api.errors import ServiceError, UnexpectedAnswer, Unreachable, WeirError
from components import session
from components.units import UNITS, Units

SEARCH_HINT: Final = "Search label, serial, network id"


def segments(
    name: str, field: str, options: Sequence[tuple[str, str]], *, chosen: str, default: str
) -> Component:
    """Buttons of which one is pressed. ``field`` names what they set in the view (assets/chart.js);
    ``options`` are (value, label)."""
    return html.Div(
        [
            html.Button(
                label,
                type="button",
                className="segment",
                **attributes(
                    data_set=field,
                    data_value=value,
                    data_default=_truth(value == default),
                    aria_pressed=_truth(value == chosen),
                ),
            )
            for value, label in options
        ],
        className="segments",
        role="group",
        **labelled(name),
    )


def _truth(value: bool) -> str:
    return "true" if value else "false"


def message(title: str, *body: Component | str) -> Component:
    """A page with nothing but a message."""
    return html.Section([html.H1(title), *(html.P(part) for part in body)], className="message")


def failure(error: WeirError) -> str:
    """An error as a sentence for the reader."""
    if isinstance(error, Unreachable | UnexpectedAnswer):
        return str(error)
    if isinstance(error, ServiceError):
        pause = f" Try again in {error.retry_after_s:.0f} s." if error.retry_after_s else ""
        return f"{error}{pause}"
    return "Something went wrong."


def failed_page(what: str, error: WeirError, href: str) -> Component:
    """An error page with a button to try again."""
    again = html.A("Try again", href=session.site_path(href), className="button")
    return message(what, failure(error), again)


def select(
    name: str, field: str, options: Sequence[tuple[str, str]], *, chosen: str, kind: str = ""
) -> Component:
    """A native select of ``options`` (value, label), the usual one first. ``field`` names what it
    sets in the view. React gets no value: the page's script keeps it in step."""
    return html.Select(
        [html.Option(label, value=value) for value, label in options],
        className=f"button select {kind}".strip(),
        title=name,
        **labelled(name),
        **attributes(data_set=field, data_value=chosen, data_default=options[0][0]),
    )


def units_select(chosen: Units) -> Component:
    return select("Units", "units", [(u.name, u.label) for u in UNITS], chosen=chosen.name)


def zone_select(usual: str, chosen: str | None) -> Component:
    """The choice of a time zone. ``usual`` is the label of the default. The page comes with these
    two alone; `assets/zones.js` adds the names of all others when there is time."""
    options = [("", usual), *([(chosen, chosen)] if chosen else ())]
    return select("Time zone", "zone", options, chosen=chosen or "", kind="zone")


def search_field(
    id: str, name: str, *, value: str = "", hint: str = f"{SEARCH_HINT}  /"
) -> Component:
    """``hint`` ends with the key that leads to the field, where the page's script knows one."""
    field = dcc.Input(
        id=id,
        type="search",
        value=value,
        placeholder=hint,
        className="search",
        autoComplete="off",
    )
    return html.Div([field], role="search", **labelled(name))


def freshness_badge() -> Component:
    """The age of the page's data; empty if a page has none. assets/freshness.js."""
    return html.Span(id="freshness", className="live")


def notice(id: str) -> Component:
    """The message why the page isn't up to date. assets/freshness.js."""
    return html.Div(id=id, className="notice", role="alert", hidden=True)


# --- Attributes that Dash takes only by name -----------------------------------------------------


def labelled(name: str) -> dict[str, Any]:
    """The name that a screen reader gives an element."""
    return {"aria-label": name}


def attributes(**values: str) -> dict[str, Any]:
    """``aria_hidden="true"`` as ``aria-hidden``, ``data_set="zone"`` as ``data-set``."""
    return {name.replace("_", "-"): value for name, value in values.items()}


# --- The way from a view to an embed of it -------------------------------------------------------

EMBEDS_PATH = "/embeds"


def embed_link(view: str, *device_ids: str) -> Component:
    params = {"view": view, **({"device": ",".join(device_ids)} if device_ids else {})}
    return html.A(
        "Embed",
        href=session.site_path(f"{EMBEDS_PATH}?{urlencode(params)}"),
        className="button",
        title="Show this on another site",
        **attributes(data_embed=view),
    )
