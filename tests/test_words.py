"""Names are plain terms of the field, and tests are in the folders of their modules."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

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
        "answered",
        "answering",
        "answers",
        "asked",
        "asking",
        "balances",
        "beats",
        "believed",
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
        "dear",
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
        "found",
        "gathering",
        "heard",
        "hold",
        "hole",
        "hovers",
        "installed",
        "instalments",
        "instants",
        "keeping",
        "kept",
        "kinds",
        "knowing",
        "knowledge",
        "known",
        "lanes",
        "learnt",
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
        "pace",
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
        "silence",
        "spread",
        "standing",
        "stretch",
        "strip",
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
) | {"anew", "came", "knew", "said", "stretch", "stretches", "told", "whom"}
STORED = ("api/insight/alerts/model.py", "told")  # the stored name of an alert's field


def _names(text: str) -> Iterator[str]:
    """Functions, classes, parameters, variables and fields."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


@pytest.mark.parametrize("place", ["app.py", "weir", "benchmarks", "tests", *FOLDERS])
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


_ANY: Final = "|".join(sorted(RIDDLES))
SCRIPT_NAME: Final = re.compile(
    rf"(?:const|let|function|\.|[(,]) *({_ANY})(?= *[=(),:.;])|^ *({_ANY}): "
)


def test_no_name_in_a_script_is_a_riddle() -> None:
    """Variables, functions, parameters and properties."""
    scripts = [*(ROOT / "assets").glob("*.js"), *(ROOT / "web").rglob("assets/*.js")]
    assert len(scripts) > 50
    riddling = {
        f"{path.name}:{number}: {match[0]}"
        for path in scripts
        for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1)
        for match in [SCRIPT_NAME.search(line)]
        if match and not line.lstrip().startswith(("/*", "*", "//"))
    }
    assert riddling == set()


def test_there_are_modules_to_check() -> None:
    assert len(_modules()) > 100


def test_no_module_has_a_banned_name() -> None:
    scripts = [*(ROOT / "assets").glob("*.js"), *(ROOT / "web").rglob("assets/*.js")]
    modules = [*_modules(), *(path.relative_to(ROOT) for path in scripts)]
    assert [str(path) for path in modules if path.stem.replace("-", "_") in BANNED] == []


@pytest.mark.parametrize("room", ["components", "web"])
def test_tests_are_in_the_folders_of_their_modules(room: str) -> None:
    """Each folder of tests has a folder of modules."""
    folders = {
        path.parent.relative_to(ROOT / "tests") for path in (ROOT / "tests" / room).rglob("*.py")
    }
    assert [str(folder) for folder in folders if not (ROOT / folder).is_dir()] == []


ENDPOINTS = frozenset(
    name for name, _ in inspect.getmembers(Client, inspect.isfunction) if not name.startswith("_")
) - {"as_principal", "close"}


def _uses_the_client(text: str) -> bool:
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


def test_only_queries_use_the_client() -> None:
    """No other module of a page or of components uses an endpoint of the service."""
    asking = {
        str(path)
        for path in _modules()
        if path.suffix == ".py" and path.parts[0] in ("components", "pages")
        if not path.name.endswith("queries.py") and path.name != "session.py"
        if _uses_the_client((ROOT / path).read_text("utf-8"))
    }
    assert asking == set()
