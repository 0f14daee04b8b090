"""Modules are called by the words of their field, and tests stand where their modules do."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from pathlib import Path

import pytest

from api.client import Client

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("api", "components", "pages", "web")
BANNED = frozenset(
    (
        "ahead",
        "alert_means",
        "alert_values",
        "allowed",
        "amounts",
        "annotate",
        "announcing",
        "answering",
        "answers",
        "asked",
        "asking",
        "balances",
        "beats",
        "below",
        "book",
        "brief",
        "causes",
        "choice",
        "comma",
        "command_base",
        "common",
        "compared",
        "core",
        "deeds",
        "delivery",
        "desk",
        "door",
        "drawing",
        "drawn",
        "elsewhere",
        "ended",
        "engine",
        "evaluation",
        "facts",
        "gathering",
        "heard",
        "hold",
        "hovers",
        "instalments",
        "instants",
        "keeping",
        "kinds",
        "knowing",
        "knowledge",
        "known",
        "lanes",
        "lettering",
        "lines",
        "looking",
        "machine",
        "measures",
        "memory",
        "meters",
        "missing",
        "moments",
        "mount",
        "offer",
        "parts",
        "picking",
        "pulse",
        "rebuilding",
        "replacing",
        "retained",
        "roster",
        "said",
        "sending",
        "sharing",
        "sheets",
        "shown",
        "sight",
        "spread",
        "standing",
        "telling",
        "told",
        "trouble",
        "turns",
        "upkeep",
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


RIDDLES = frozenset(
    ("answered", "asked", "dear", "desk", "found", "heard", "kept", "known", "learnt", "looked")
) | {"said", "told"}
STORED = ("api/insight/alerts/model.py", "told")  # by its name, with each alert


def _names(text: str) -> Iterator[str]:
    """Functions, classes, parameters, variables and fields."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


@pytest.mark.parametrize("place", ["app.py", "weir", *FOLDERS])
def test_no_name_is_a_riddle(place: str) -> None:
    paths = [ROOT / place] if place.endswith(".py") else sorted((ROOT / place).rglob("*.py"))
    assert paths
    riddling = {
        (str(path.relative_to(ROOT)), name)
        for path in paths
        for name in _names(path.read_text("utf-8"))
        if name.lower().strip("_") in RIDDLES
    }
    assert riddling - {STORED} == set()


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


ASK_ELSEWHERE = frozenset(
    (
        "components/device/chart_results.py",
        "components/shell.py",
        "pages/device.py",
    )
)
"""Modules that still use the client outside a queries.py. None may be added."""
ENDPOINTS = frozenset(
    name for name, _ in inspect.getmembers(Client, inspect.isfunction) if not name.startswith("_")
) - {"as_principal", "close"}


def _asks_the_client(text: str) -> bool:
    """Whether a module takes the request's client, or calls an endpoint of one."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            called, owner = node.func.attr, node.func.value
            if called == "current_client":
                return True
            name = owner.attr if isinstance(owner, ast.Attribute) else getattr(owner, "id", "")
            if called in ENDPOINTS and name == "client":
                return True
    return False


def test_only_queries_ask_the_client() -> None:
    """No other module of a page or of components uses an endpoint of the service."""
    asking = {
        str(path)
        for path in _modules()
        if path.suffix == ".py" and path.parts[0] in ("components", "pages")
        if not path.name.endswith("queries.py") and path.name != "session.py"
        if _asks_the_client((ROOT / path).read_text("utf-8"))
    }
    assert asking - ASK_ELSEWHERE == set()
