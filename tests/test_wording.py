"""Texts for readers are worded as ``docs/wording.md`` says."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.tables import cases

ROOT = Path(__file__).resolve().parents[1]
TABLE = ROOT / "docs" / "wording.md"

# The scripts' strings; a template's ``${…}`` stands for a value.
_SCRIPT_STRING = re.compile(r"\"(?:[^\"\\\n]|\\.)*\"|`(?:[^`\\]|\\.)*`")


def _plain(text: str) -> str:
    return " ".join(text.replace("’", "'").split()).casefold()


def replacements() -> dict[str, str]:
    """Unwanted wording → its replacement."""
    rows = re.findall(r"^\| (.+?) \| (.+?) \|$", TABLE.read_text("utf-8"), re.MULTILINE)
    return {_plain(no): yes for no, yes in rows if no != "Not"}


@cache
def _unwanted() -> re.Pattern[str]:
    longest_first = sorted(replacements(), key=len, reverse=True)
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, longest_first))})(?!\w)")


def _strings(file: Path) -> Iterator[tuple[int, str]]:
    """A module's string literals except docstrings, with an f-string as one. A command's docstring
    counts, since it is its help."""
    tree = ast.parse(file.read_text("utf-8"))
    prose = {id(n.value) for n in ast.walk(tree) if isinstance(n, ast.Expr)}
    parts: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            parts |= {id(part) for part in node.values}
            texts = (p.value if isinstance(p, ast.Constant) else "{}" for p in node.values)
            yield node.lineno, "".join(map(str, texts))
        elif isinstance(node, ast.FunctionDef) and _is_command(node):
            yield node.lineno, ast.get_docstring(node) or ""
        elif isinstance(node, ast.Constant) and id(node) not in parts | prose:
            yield node.lineno, node.value if isinstance(node.value, str) else ""


def _is_command(function: ast.FunctionDef) -> bool:
    return any(re.search(r"\b(command|group)\(", ast.unparse(d)) for d in function.decorator_list)


def _texts(file: Path) -> Iterator[tuple[int, str]]:
    text = file.read_text("utf-8")
    match file.suffix:
        case ".py":
            yield from _strings(file)
        case ".js":
            for result in _SCRIPT_STRING.finditer(text):
                yield text.count("\n", 0, result.start()) + 1, result[0]
        case _:
            for result in re.finditer(
                r"[^\n]+(?:\n(?![\n|#-])[^\n]+)*", text
            ):  # a paragraph, a row
                yield text.count("\n", 0, result.start()) + 1, result[0]


def _files(*patterns: str) -> list[Path]:
    return sorted(f for p in patterns for f in ROOT.glob(p) if "vendor" not in f.parts)


READ = [
    *_files("app.py", "api/**/*.py", "weir/**/*.py", "web/**/*.py"),
    *_files("components/**/*.py", "pages/*.py", "assets/**/*.js", "web/embed/assets/*.js"),
    *_files("README.md", "docs/*.md"),
]


@cases("file", READ)
def test_texts_are_worded_as_the_table_says(file: Path) -> None:
    if file == TABLE:
        return
    wrong = [
        f"{file.name}:{line}: “{no}”: {' '.join(text.split())[:120]}"
        for line, text in _texts(file)
        for no in _unwanted().findall(_plain(text))
    ]
    assert wrong == []


def test_the_table_finds_what_it_bans(tmp_path: Path) -> None:
    module, script, page = tmp_path / "a.py", tmp_path / "a.js", tmp_path / "a.md"
    module.write_text('"""Needs a look."""\nx = f"{1} Needs\\n  a look"\n', "utf-8")
    script.write_text("const x = `Needs a look ${y}`; // needs a look\n", "utf-8")
    page.write_text("# A\n\nThis needs a\nlook.\n", "utf-8")
    results = [list(_texts(file)) for file in (module, script, page)]
    assert [
        [line for line, text in texts if "needs a look" in _plain(text)] for texts in results
    ] == [
        [2],
        [1],
        [3],
    ]
    assert "needs a look" in replacements()
