"""Dash's renderer without a browser: the same callbacks, requested for the same reasons.

It reads from the server which callback listens to what, so that it requests whatever today's pages
would request. Clientside callbacks are left out: what they set is set by hand.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Final

import httpx

UPDATE: Final = "/_dash-update-component"
DEPENDENCIES: Final = "/_dash-dependencies"
PAGE: Final = "_pages_location.pathname"
_PARTS: Final = re.compile(r"(?:\.\.\.|^\.\.|\.\.$)")

Ask = Callable[[str, dict[str, Any]], httpx.Response | None]
"""Sends a callback's request: its first output, which names it, and the body."""


@dataclass(frozen=True, slots=True)
class Dependency:
    """A callback of the server. Each part is ``id.property``."""

    output: str
    outputs: tuple[str, ...]
    inputs: tuple[str, ...]
    state: tuple[str, ...]


def dependencies(entries: list[dict[str, Any]]) -> list[Dependency]:
    """Returns the contents of ``/_dash-dependencies``, except clientside callbacks."""
    return [
        Dependency(
            each["output"],
            tuple(part for part in _PARTS.split(each["output"]) if part),
            tuple(_name(part) for part in each["inputs"]),
            tuple(_name(part) for part in each["state"]),
        )
        for each in entries
        if not each.get("clientside_function")
    ]


def _name(part: Mapping[str, str]) -> str:
    return f"{part['id']}.{part['property']}"


@dataclass
class OpenPage:
    """The state of a page in a browser, by ``id.property``."""

    path: str
    search: str
    callbacks: list[Dependency]
    ask: Ask
    hands: ThreadPoolExecutor
    values: dict[str, Any] = field(default_factory=dict[str, Any])

    def open(self) -> bool:
        """Loads the layout. Returns whether that succeeded."""
        changed = {PAGE: self.path, "_pages_location.search": self.search}
        answer = self._tell(changed, only=lambda c: c.outputs[0] == "_pages_content.children")
        if not answer:
            return False
        for component in _components(answer[0].get("_pages_content", {}).get("children")):
            self._note(component)
        return True

    def set(self, name: str, value: Any, *, follow: bool = True) -> list[dict[str, Any]]:
        """Changes a property. Returns the responses of the callbacks that listen to it, and of
        those that listen to these in turn. Without ``follow``, only the first of them are
        requested."""
        answers = self._tell({name: value})
        if not follow:
            return answers
        for answer in list(answers):
            changed = {f"{id}.{p}": v for id, parts in answer.items() for p, v in parts.items()}
            inputs = {name for each in self.callbacks for name in each.inputs}
            for each in changed.keys() & inputs:
                answers += self._tell({each: changed[each]})
        return answers

    def _tell(
        self, changed: Mapping[str, Any], only: Callable[[Dependency], bool] = lambda _: True
    ) -> list[dict[str, Any]]:
        """Requests all listening callbacks at once, as a browser does."""
        self.values |= changed
        listeners = [c for c in self.callbacks if only(c) and any(i in changed for i in c.inputs)]
        here = [c for c in listeners if all(n in self.values or "_pages" in n for n in c.inputs)]
        answers = self.hands.map(lambda each: self._one(each, changed), here)
        return [answer for answer in answers if answer is not None]

    def _one(self, each: Dependency, changed: Mapping[str, Any]) -> dict[str, Any] | None:
        several = each.output.startswith("..")
        outputs = [_part(name) for name in each.outputs]
        body = {
            "output": each.output,
            "outputs": outputs if several else outputs[0],
            "inputs": [_part(n) | {"value": self.values.get(n)} for n in each.inputs],
            "changedPropIds": [name for name in each.inputs if name in changed],
            "parsedChangedPropsIds": [name for name in each.inputs if name in changed],
            "state": [_part(n) | {"value": self.values.get(n)} for n in each.state],
        }
        answer = self.ask(each.outputs[0], body)
        if answer is None or answer.status_code != 200:
            return None
        props: dict[str, Any] = answer.json().get("response") or {}
        self.values |= {f"{id}.{p}": v for id, parts in props.items() for p, v in parts.items()}
        return props

    def _note(self, component: Mapping[str, Any]) -> None:
        properties = component.get("props") or {}
        if "id" in properties:
            id = properties["id"]
            self.values |= {f"{id}.{p}": v for p, v in properties.items() if p != "id"}


def _part(name: str) -> dict[str, str]:
    id, _, property_ = name.rpartition(".")
    return {"id": id, "property": property_}


def _components(node: Any) -> list[Mapping[str, Any]]:
    """Yields a layout's components, from the top down."""
    if isinstance(node, list):
        return [component for each in node for component in _components(each)]
    if not isinstance(node, dict) or "props" not in node:
        return []
    return [node, *_components(node["props"].get("children"))]
