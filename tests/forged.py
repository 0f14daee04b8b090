"""Callback requests that no page would send, derived from valid ones."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

JUNK: tuple[Any, ...] = (
    None, True, -1, 1e308, "", "\0", "²", "../../etc/passwd", "9" * 400, "..", [], [[]], ["\0"],
    {}, {"x": {}},
)  # fmt: skip
WITHIN = (None, 1e308, "\0", [{}])  # in place of a part of a value

Callbacks = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class CallbackRequest:
    """A callback request: ``output`` is the callback's own name; values are by ``id.property``, in
    its order."""

    output: str
    inputs: Mapping[str, Any]
    state: Mapping[str, Any]


def answered_here(callbacks: Callbacks) -> set[str]:
    """The callbacks that Python runs, by the first output of each."""
    return {first(name) for name, one in callbacks.items() if "callback" in one}


def first(output: str) -> str:
    return output.strip(".").partition("...")[0]


def callback_request(callbacks: Callbacks, name: str, values: Sequence[Any]) -> CallbackRequest:
    """A request to the callback whose first output is ``name``; ``values`` has one value for each
    input, then for each state."""
    output = next(each for each in callbacks if first(each) == name)
    inputs, state = (
        [f"{part['id']}.{part['property']}" for part in callbacks[output][side]]
        for side in ("inputs", "state")
    )
    result = dict(zip([*inputs, *state], values, strict=True))
    return CallbackRequest(output, {n: result[n] for n in inputs}, {n: result[n] for n in state})


def body(question: CallbackRequest) -> dict[str, Any]:
    """The request's body as Dash's renderer sends it."""
    several = question.output.startswith("..")
    names = question.output[2:-2].split("...") if several else [question.output]
    parts = [_part(name) for name in names]
    return {
        "output": question.output,
        "outputs": parts if several else parts[0],
        "inputs": [_part(name) | {"value": value} for name, value in question.inputs.items()],
        "state": [_part(name) | {"value": value} for name, value in question.state.items()],
        "changedPropIds": list(question.inputs),
    }


def _part(name: str) -> dict[str, Any]:
    id, _, property = name.rpartition(".")
    return {"id": id, "property": property}


def mutations(question: CallbackRequest) -> Iterator[tuple[str, CallbackRequest]]:
    """The same request with one value replaced by each junk value, or one part of a value by two of
    four in turn; with a name for each."""
    values = {"inputs": dict(question.inputs), "state": dict(question.state)}
    for turn, path in enumerate(_paths(values)):
        two = [WITHIN[(turn + n) % len(WITHIN)] for n in (0, 1)]
        for number, junk in enumerate(JUNK if len(path) == 2 else two):
            changed = copy.deepcopy(values)
            at: Any = changed
            for step in path[:-1]:
                at = at[step]
            at[path[-1]] = copy.deepcopy(junk)
            what = f"{' '.join(map(str, path))} #{number}"
            yield what, CallbackRequest(question.output, changed["inputs"], changed["state"])


def _paths(values: Mapping[str, Any]) -> Iterator[tuple[Any, ...]]:
    for side, named in values.items():
        for name, value in named.items():
            yield from _within((side, name), value)


def _within(path: tuple[Any, ...], value: Any) -> Iterator[tuple[Any, ...]]:
    yield path
    steps: Any = value.items() if isinstance(value, dict) else ()
    for step, each in enumerate(value) if isinstance(value, list) else steps:
        yield from _within((*path, step), each)


BROKEN: dict[str, bytes] = {
    "nothing": b"",
    "no JSON": b"{",
    "not a number": b'{"output": NaN}',
    "half a surrogate pair": b'{"output": "\\ud800"}',
    "a list": b"[]",
    "a text": b'"x"',
    "no output": b"{}",
    "an unknown output": b'{"output": "no.such"}',
    "an output that is a list": b'{"output": ["x"]}',
    "deep": b'{"output":' + b"[" * 1_000 + b"]" * 1_000 + b"}",
    "deeper": b'{"output":' + b"[" * 30_000 + b"]" * 30_000 + b"}",
}


def broken(good: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """A valid body with required parts removed."""
    junk: list[Any] = [None, 7, "x", {}, [7], [{"id": {}}], [[]], [{}, {}]]
    for name in ("inputs", "outputs", "changedPropIds", "state"):
        for number, value in enumerate(junk):
            if not (name == "state" and value in ({}, None) and not good["state"]):
                yield f"{name} #{number}", {**good, name: value}
    for name in ("inputs", "outputs"):
        yield f"no {name}", {key: value for key, value in good.items() if key != name}
    inputs = good["inputs"]
    yield "other inputs", {**good, "inputs": [{**each, "id": "other"} for each in inputs]}
    yield "an input more", {**good, "inputs": [*inputs, {"id": "x", "property": "data"}]}
    deep: Any = 1
    for _ in range(200):
        deep = [deep]
    yield "a deep value", {**good, "inputs": [{**each, "value": deep} for each in inputs]}
