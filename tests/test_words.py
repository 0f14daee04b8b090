"""Modules are called by the words of their field, and tests stand where their modules do."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("api", "components", "pages", "web")
BANNED = frozenset(
    (
        "ahead",
        "allowed",
        "amounts",
        "answering",
        "answers",
        "asked",
        "asking",
        "beats",
        "below",
        "book",
        "choice",
        "comma",
        "delivery",
        "desk",
        "door",
        "drawing",
        "drawn",
        "elsewhere",
        "ended",
        "gathering",
        "heard",
        "hold",
        "hovers",
        "instalments",
        "kinds",
        "knowing",
        "knowledge",
        "known",
        "lettering",
        "lines",
        "looking",
        "measures",
        "memory",
        "moments",
        "offer",
        "parts",
        "picking",
        "pulse",
        "roster",
        "said",
        "sending",
        "sheets",
        "shown",
        "sight",
        "spread",
        "standing",
        "telling",
        "told",
        "trouble",
        "turns",
        "view",
        "visit",
        "watch",
        "watched",
        "wire",
        "wording",
        "words",
        "writing",
    )
)


def _modules() -> list[Path]:
    return [
        path.relative_to(ROOT)
        for folder in FOLDERS
        for path in (ROOT / folder).rglob("*")
        if path.suffix == ".py" or (path.is_dir() and (path / "__init__.py").exists())
    ]


RENAMED = ("app.py", "web", "components/charts")
RIDDLES = frozenset(("answered", "asked", "learnt", "looked", "said", "told"))


def _signatures(text: str) -> Iterator[str]:
    """The names of functions, classes and their parameters."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg


@pytest.mark.parametrize("place", RENAMED)
def test_no_signature_has_a_riddling_name(place: str) -> None:
    paths = [ROOT / place] if place.endswith(".py") else sorted((ROOT / place).rglob("*.py"))
    assert paths
    riddling = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in paths
        for name in _signatures(path.read_text("utf-8"))
        if name.lower().strip("_") in RIDDLES
    ]
    assert riddling == []


def test_there_is_something_to_look_at() -> None:
    assert len(_modules()) > 100


def test_no_module_has_a_name_that_says_nothing() -> None:
    assert [str(path) for path in _modules() if path.stem in BANNED] == []


@pytest.mark.parametrize("room", ["components", "web"])
def test_tests_stand_where_their_modules_do(room: str) -> None:
    """Each folder of tests is the folder of what it tests."""
    folders = {
        path.parent.relative_to(ROOT / "tests") for path in (ROOT / "tests" / room).rglob("*.py")
    }
    assert [str(folder) for folder in folders if not (ROOT / folder).is_dir()] == []


STILL_ASK = frozenset(f"components/fleet/{module}.py" for module in ("cadence", "device_list"))
"""Modules that ask the client beside their folder's queries.py. None may be added."""


def test_only_queries_ask_the_client_in_a_pages_folder() -> None:
    """No other module there calls an endpoint of a client."""
    call = re.compile(r"\bclient\.(?:datapoints|latest|adaptive|count|devices|organizations)\(")
    asking = [
        str(path)
        for path in _modules()
        if path.suffix == ".py" and path.parts[0] == "components" and len(path.parts) > 2
        if path.name != "queries.py" and call.search((ROOT / path).read_text("utf-8"))
    ]
    assert set(asking) - STILL_ASK == set()
