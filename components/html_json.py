"""Many small elements as JSON, from which the browser builds them (assets/html-json.js).

Dash checks every component of a page at each change. A static table of hundreds of cells would slow
down the chart's zoom above it. Dash also has no plain form fields; the last section has them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from dash import ClientsideFunction, Input, Output, clientside_callback, dcc
from dash.development.base_component import Component

Node = str | list[Any]
"""A text, or ``[tag, attributes, nodes]``."""

Element = list[Any]
"""``[tag, attributes, nodes]``."""

_NAMES: Final = {"className": "class", "colSpan": "colspan", "tabIndex": "tabindex"}
_SUFFIX: Final = "-nodes"


def as_nodes(parts: Component | str | Iterable[Any] | None) -> list[Node]:
    """The elements as JSON. Raises TypeError for a component that isn't an HTML element."""
    if parts is None:
        return []
    if isinstance(parts, str | int | float):
        return [str(parts)]
    if isinstance(parts, Component):
        return [_element(parts)]
    return [node for part in parts for node in as_nodes(part)]


def _element(part: Component) -> Node:
    component = part.to_plotly_json()
    if component["namespace"] != "dash_html_components":
        raise TypeError(f"{component['type']} isn't an HTML element")
    props = {name: value for name, value in component["props"].items() if name != "children"}
    attributes = {
        _NAMES.get(name, name.lower()): _text(value)
        for name, value in props.items()
        if value is not None and value is not False
    }
    return [component["type"].lower(), attributes, as_nodes(component["props"].get("children"))]


def _text(value: Any) -> str:
    if isinstance(value, Mapping):  # a style
        return ";".join(f"{name}:{each}" for name, each in value.items())
    return "" if value is True else str(value)


def el(tag: str, *nodes: Node | None, **attributes: str | bool | None) -> Element:
    """An element for which Dash has no component, such as a form field. ``class_`` is the class,
    ``data_do`` data-do; None and False leave an attribute out."""
    html_attributes = {
        name.rstrip("_").replace("_", "-"): "" if value is True else value
        for name, value in attributes.items()
        if value is not None and value is not False
    }
    return [tag, html_attributes, [each for each in nodes if each is not None]]


def store(id: str) -> dcc.Store:
    """The Store from which the element ``id`` is built; it may stand anywhere on the page."""
    return dcc.Store(id=f"{id}{_SUFFIX}")


def output(id: str) -> Output:
    """The output of a callback that returns `as_nodes` of the element ``id``."""
    return Output(f"{id}{_SUFFIX}", "data")


def drawn(*ids: str) -> None:
    """Registers the script that builds these elements at each change; called once for each page, at
    import."""
    for id in ids:
        clientside_callback(
            ClientsideFunction("html_json", "draw"),
            Input(f"{id}{_SUFFIX}", "data"),
            Input(f"{id}{_SUFFIX}", "id"),
            prevent_initial_call=True,
        )


# --- Parts of a form ------------------------------------------------------------------------------


__all__ = ["Element", "button", "checks", "choice", "confirmed", "el", "field", "text_input"]


def field(label: str, *inside: Node | None, hint: str = "", kind: str = "") -> Element:
    """A field with its label. ``kind``: the source of rules that it belongs to."""
    return el(
        "div",
        el("span", label, class_="alert-label"),
        el("div", *inside, class_="alert-inside"),
        el("p", hint, class_="quiet") if hint else None,
        class_="alert-field",
        data_for=kind or None,
    )


def text_input(name: str, label: str, value: str = "", **more: str | bool | None) -> Element:
    return el(
        "input",
        type=more.pop("type", "text"),
        name=name,
        value=value,
        aria_label=label,
        class_=f"alert-input {more.pop('class_', '') or ''}".strip(),
        autocomplete="off",
        **more,
    )


def choice(
    name: str, label: str, options: list[tuple[str, str]], chosen: str, *, small: bool = False
) -> Element:
    listed = [
        el("option", words, value=value, selected=value == chosen) for value, words in options
    ]
    return el("select", *listed, name=name, aria_label=label,
              class_="button select small" if small else "button select")  # fmt: skip


def checks(name: str, options: list[tuple[str, str]], chosen: tuple[str, ...]) -> Element:
    return el(
        "div",
        *(
            el(
                "label",
                el("input", type="checkbox", name=name, value=value, checked=value in chosen),
                el("span", words),
                class_="alert-check",
            )
            for value, words in options
        ),
        class_="alert-checks",
    )


def button(label: str, do: str, *, kind: str = "", **more: str | bool | None) -> Element:
    """``do``: the action of a click (assets/alerts.js)."""
    return el(
        "button", label, type="button", class_=f"button {kind}".strip(), data_alert=do, **more
    )


def confirmed(label: str, words: str, do: str, **more: str | bool | None) -> Element:
    """An action that must be confirmed."""
    return el(
        "details",
        el("summary", label, class_="button small"),
        button(words, do, kind="danger small", **more),
        class_="alert-confirm",
    )
