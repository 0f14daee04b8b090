"""Joins ES modules into one script: the entry's imports, each once, before its first use.

A page loads one classic script, which runs before Dash's renderer starts; native modules would run
after it and cost a request each. Each module becomes a function that returns its exports. Only the
forms of ``import`` and ``export`` below are supported; any other, or a circle, stops the start.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

_IMPORT: Final = re.compile(
    r'^[ ]*import (?:(?:\* as (?P<all>\w+)|(?P<names>\{[^}]*\})) from )?"(?P<path>\.[^"]+)";$',
    re.MULTILINE,
)
_EXPORTED: Final = re.compile(
    r"^([ ]*)export (?=(?:const|class|function|async function) (\w+))", re.MULTILINE
)
_EXPORTS: Final = re.compile(r"^[ ]*export \{([^}]*)\};$", re.MULTILINE)
_OTHER: Final = re.compile(r"^[ ]*(?:import\b(?!\s*\()|export\b).*$", re.MULTILINE)


class ModuleError(ValueError):
    """A module that can't be joined: the message names its file."""


def joined_modules(entry: Path) -> bytes:
    """The entry and all that it imports, as one script in strict mode."""
    modules: dict[Path, str] = {}
    _collect(entry.resolve(), modules, ())
    body = "".join(modules.values())
    return f'(() => {{\n"use strict";\nconst modules = {{}};\n{body}}})();\n'.encode()


def _collect(file: Path, modules: dict[Path, str], importers: tuple[Path, ...]) -> None:
    if file in importers:
        circle = " → ".join(each.name for each in (*importers, file))
        raise ModuleError(f"modules import each other in a circle: {circle}")
    if file in modules:
        return
    if any(file.name == other.name for other in modules):
        raise ModuleError(f"two modules are named {file.name}")
    source = file.read_text("utf-8")
    for match in _IMPORT.finditer(source):
        _collect((file.parent / match["path"]).resolve(), modules, (*importers, file))
    modules[file] = _wrapped(file, source)


def _wrapped(file: Path, source: str) -> str:
    exported: list[str] = []

    def note(match: re.Match[str]) -> str:
        exported.append(match[2])
        return match[1]

    def note_all(match: re.Match[str]) -> str:
        exported.extend(name.strip() for name in match[1].split(",") if name.strip())
        return ""

    body = _EXPORTS.sub(note_all, _EXPORTED.sub(note, _IMPORT.sub(_bound, source)))
    if other := _OTHER.search(body):
        raise ModuleError(f"{file.name}: can't join “{other[0].strip()}”")
    if odd := [name for name in exported if not name.isidentifier()]:
        raise ModuleError(f"{file.name}: can't export “{odd[0]}”")
    result = ", ".join(exported)
    return (
        f'/* {file.name} */\nmodules["{file.name}"] = (() => {{\n{body}'
        f"return {{ {result} }};\n}})();\n"
    )


def _bound(match: re.Match[str]) -> str:
    """An import as a reference to an earlier function's result."""
    module = f'modules["{Path(match["path"]).name}"]'
    if match["all"]:
        return f"const {match['all']} = {module};"
    if match["names"]:
        return f"const {re.sub(r' as ', ': ', match['names'])} = {module};"
    return ""
