"""Elements as the data that the browser builds them from: Dash has no plain fields of a form."""

from __future__ import annotations

from components.html_json import Element, Node, el

__all__ = ["Element", "button", "checks", "choice", "confirmed", "el", "field", "text_input"]


def field(label: str, *inside: Node | None, hint: str = "", kind: str = "") -> Element:
    """A label above what it is of; ``kind``: the source of rules that it belongs to."""
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
    """``do`` is what a click asks for (assets/alerts.js)."""
    return el(
        "button", label, type="button", class_=f"button {kind}".strip(), data_alert=do, **more
    )


def confirmed(label: str, words: str, do: str, **more: str | bool | None) -> Element:
    """A deed that is asked for twice."""
    return el(
        "details",
        el("summary", label, class_="button small"),
        button(words, do, kind="danger small", **more),
        class_="alert-confirm",
    )
