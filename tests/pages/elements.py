"""Reading what a layout shows, without a browser."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dash.development.base_component import Component


def walk(node: Any) -> Iterator[Any]:
    """A layout's components and texts, from the top down."""
    if isinstance(node, list | tuple):
        for each in node:
            yield from walk(each)
    elif node is not None:
        yield node
        if isinstance(node, Component):
            yield from walk(getattr(node, "children", None))


def text(node: Any) -> str:
    return " ".join(str(each) for each in walk(node) if not isinstance(each, Component))


def of_kind(node: Any, kind: str) -> list[Component]:
    return [each for each in walk(node) if type(each).__name__ == kind]


def links(node: Any) -> dict[str, str]:
    """What each link says → where it leads."""
    return {text(each): each.href for kind in ("Link", "A") for each in of_kind(node, kind)}  # pyright: ignore[reportAttributeAccessIssue]
