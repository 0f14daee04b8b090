"""Questions to callbacks that no page would send, made from ones that a page might."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

JUNK: tuple[Any, ...] = (
    None, True, -1, 1e308, "", "\0", "²", "../../etc/passwd", "9" * 400, "..", [], [[]], ["\0"],
    {}, {"x": {}},
)  # fmt: skip
WITHIN = (None, 1e308, "\0", [{}])  # instead of a part of a value

Known = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Asked:
    """``output`` is the callback's own name; values are by ``id.property``, in its order."""

    output: str
    inputs: Mapping[str, Any]
    state: Mapping[str, Any]


def answered_here(callbacks: Known) -> set[str]:
    """The callbacks that Python answers, by the first thing that each puts out."""
    return {first(name) for name, one in callbacks.items() if "callback" in one}


def first(output: str) -> str:
    return output.strip(".").partition("...")[0]


def asked(callbacks: Known, name: str, values: Sequence[Any]) -> Asked:
    """A question to the callback that first puts out ``name``: a value an input, then a state."""
    output = next(each for each in callbacks if first(each) == name)
    inputs, state = (
        [f"{part['id']}.{part['property']}" for part in callbacks[output][side]]
        for side in ("inputs", "state")
    )
    told = dict(zip([*inputs, *state], values, strict=True))
    return Asked(output, {n: told[n] for n in inputs}, {n: told[n] for n in state})


def body(question: Asked) -> dict[str, Any]:
    """As Dash's renderer writes it."""
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


def mutations(question: Asked) -> Iterator[tuple[str, Asked]]:
    """The same question with one value replaced by each junk, or a part of one by two of four in
    turn; and which."""
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
            yield what, Asked(question.output, changed["inputs"], changed["state"])


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
    """A good body with what Dash takes for granted taken away."""
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
