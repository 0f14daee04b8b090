"""Reads the content of a layout without a browser."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from dash.development.base_component import Component


class Drawn(NamedTuple):
    """An element that the browser builds from JSON."""

    tag: str
    attributes: dict[str, str]
    nodes: list[Any]


def walk(node: Any) -> Iterator[Any]:
    """The components, JSON elements and texts of a layout, depth first."""
    if isinstance(node, list) and len(node) == 3 and isinstance(node[1], dict):
        yield Drawn(*node)
        yield from walk(node[2])
    elif isinstance(node, list | tuple):
        for each in node:
            yield from walk(each)
    elif node is not None:
        yield node
        if isinstance(node, Component):
            yield from walk(getattr(node, "children", None))


def text(node: Any) -> str:
    return " ".join(str(each) for each in walk(node) if not isinstance(each, Component | Drawn))


def of_kind(node: Any, kind: str) -> list[Component]:
    return [each for each in walk(node) if type(each).__name__ == kind]


def of_tag(node: Any, tag: str) -> list[dict[str, str]]:
    """The attributes of the JSON elements of that tag."""
    return [e.attributes for e in walk(node) if isinstance(e, Drawn) and e.tag == tag]


def links(node: Any) -> dict[str, str]:
    """Each link's text → its address."""
    return {text(each): each.href for kind in ("Link", "A") for each in of_kind(node, kind)}  # pyright: ignore[reportAttributeAccessIssue]


def hints(node: Any, kind: str) -> list[str]:
    """The tooltips of the components of that kind that have one."""
    messages = [each.to_plotly_json()["props"].get("title") for each in of_kind(node, kind)]
    return [each for each in messages if each]
