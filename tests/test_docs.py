"""The documents keep up with the tree: existing things are named, and named things exist."""

from __future__ import annotations

import ast
import re
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

import app
from api import catalog
from api.commands.command import Command
from api.settings import TABLE
from tests.tables import cases

ROOT = Path(__file__).resolve().parents[1]
ROOMS = ("api", "components", "pages", "web", "weir", "benchmarks")


def read(name: str) -> str:
    return (ROOT / name).read_text("utf-8")


def modules() -> list[str]:
    paths = (path for room in ROOMS for path in (ROOT / room).rglob("*.py"))
    return sorted(str(p.relative_to(ROOT)) for p in paths if p.name != "__init__.py")


# --- The map -------------------------------------------------------------------------------------


def _rooms() -> set[str]:
    """The top folders with modules, and the folders of the service."""
    folders = {Path(module).parts[:-1] for module in modules()}
    of_service = {parts[:2] for parts in folders if parts[0] == "api"}
    return {"/".join(parts) + "/" for parts in of_service | {parts[:1] for parts in folders}}


def test_the_map_names_every_room_and_no_other() -> None:
    rows = re.findall(r"^\| (`\w+/.*?) \|", read("docs/ARCHITECTURE.md"), re.MULTILINE)
    named = {name for row in rows for name in re.findall(r"`([\w/]+/)`", row)}
    assert named - {"assets/", "tests/", "deploy/"} == _rooms()


def test_every_folder_and_module_says_what_it_is_for() -> None:
    files = [*modules(), *(f"{Path(module).parent}/__init__.py" for module in modules())]
    silent = {file for file in files if not ast.get_docstring(ast.parse(read(file)))}
    assert silent == set()


def test_the_map_has_the_checked_layers() -> None:
    """Those of the whole and of its top folders."""
    checked = tomllib.loads(read("pyproject.toml"))["tool"]["importlinter"]["contracts"]
    drawn = " ".join(read("docs/ARCHITECTURE.md").split())
    for contract in checked:
        if contract["type"] == "layers" and "." not in "".join(contract.get("containers", ())):
            assert f"`{' > '.join(contract['layers'])}`" in drawn


def test_the_map_fits_a_page() -> None:
    assert len(read("docs/ARCHITECTURE.md").splitlines()) <= 95


def test_no_module_is_too_long() -> None:
    long = [m for m in [*modules(), "app.py"] if len(read(m).splitlines()) > 400]
    assert long == []


def test_no_function_of_the_service_is_too_long() -> None:
    """Of a command, its options and its help count too."""
    long = [
        (module, node.name)
        for module in modules()
        if module.startswith(("api/", "weir/"))
        for node in ast.walk(ast.parse(read(module)))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        if (node.end_lineno or 0) - node.lineno >= 42
    ]
    assert long == []


# --- Settings, commands, catalog -----------------------------------------------------------------


def test_every_setting_is_in_the_table_of_settings_word_for_word() -> None:
    text = read("docs/settings.md")
    for row in TABLE:
        default = f"`{row.default}`" if row.default else "–"
        assert f"| `{row.name}` | {default} | {row.meaning} |" in text


def _commands(group: click.Group, prefix: str = "weir") -> Iterator[tuple[str, click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from _commands(command, f"{prefix} {name}")
        else:
            yield f"{prefix} {name}", command


def test_every_command_is_documented_with_its_output() -> None:
    text = read("docs/commands.md")
    commands = dict(_commands(app.create_app().cli))
    assert len(commands) > 10
    assert [name for name in commands if f"`{name}" not in text] == []
    assert {name for name, each in commands.items() if not isinstance(each, Command)} == set()


@cases("name", [r.name for r in catalog.RESOLUTIONS])
def test_every_resolution_is_explained(name: str) -> None:
    assert f"`{name}`" in read("docs/service.md")


@cases("metric", catalog.METRICS)
def test_every_metric_is_explained_with_its_unit(metric: catalog.Metric) -> None:
    assert f"`{metric.name}`" in read("docs/service.md")
    assert metric.unit in read("docs/service.md")


def test_the_readme_names_the_two_commands() -> None:
    text = read("README.md")
    assert "make run" in text
    assert "make test" in text


DOCUMENTS = [
    "README.md",
    "CHANGELOG.md",
    *sorted(f"docs/{p.name}" for p in (ROOT / "docs").glob("*.md")),
]
_COMMAND = re.compile(r"\b(?:weir|flask) ([a-z][\w-]*(?: [a-z][\w-]*)*)([^`\n|#]*)")
# A prefix, an example of a slip, a variable of the tests, and one of a page that embeds.
_NOT_SETTINGS = {"WEIR_JWT_", "WEIR_PRT", "WEIR_TEST_CITUS", "WEIR_URL"}


def _current(document: str) -> str:
    """The text without the releases before this one, whose commands had other names."""
    return read(document).split("\n## 0.1.0")[0]


def _anchors(path: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", path.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", each.lower()).replace(" ", "-") for each in headings}


@cases("document", DOCUMENTS)
def test_links_between_documents_resolve(document: str) -> None:
    for link in re.findall(r"\]\((?!https?:)([^)\s]+)\)", read(document)):
        name, _, anchor = link.partition("#")
        target = (ROOT / document).parent / name if name else ROOT / document
        assert target.exists(), link
        assert not anchor or anchor in _anchors(target), link


@cases("document", DOCUMENTS)
def test_named_settings_exist(document: str) -> None:
    named = set(re.findall(r"\bWEIR_[A-Z0-9_]+", _current(document)))
    assert named - _NOT_SETTINGS - {row.name for row in TABLE} == set()


def test_options_of_named_commands_exist() -> None:
    commands, checked = dict(_commands(app.create_app().cli)), 0
    for document in DOCUMENTS:
        for words, rest in _COMMAND.findall(_current(document).replace("\\\n", " ")):
            parts = ["weir", *words.split()]
            names = [" ".join(parts[:count]) for count in range(len(parts), 1, -1)]
            command = next((commands[name] for name in names if name in commands), None)
            if command is None:
                continue
            options = {
                name for each in command.params for name in (*each.opts, *each.secondary_opts)
            }
            named = set(re.findall(r"(?<![\w-])--[a-z][\w-]*", rest))
            assert named <= options | {"--help"}, f"{document}: {command.name}"
            checked += len(named)
    assert checked > 50


# --- Faults --------------------------------------------------------------------------------------


def _tests(folder: str) -> set[str]:
    result = (path.read_text("utf-8") for path in (ROOT / folder).rglob("test_*.py"))
    return {name for text in result for name in re.findall(r"^def (test_\w+)", text, re.MULTILINE)}


def test_every_fault_has_its_line_and_every_line_its_test() -> None:
    named = set(re.findall(r"`(test_\w+)`", read("docs/reliability.md")))
    assert named - _tests("tests") == set()
    assert _tests("tests/faults") - named == set()


# --- Contents ------------------------------------------------------------------------------------


@pytest.mark.slow
def test_nothing_mentions_one_machine() -> None:
    files = subprocess.run(
        ["git", "ls-files", "*.py", "*.md", "*.js", "*.css", "*.toml", "Makefile"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout.split()  # fmt: skip
    pattern = re.compile(r"/(work|home|root|farm)/")
    messages = [f for f in files if f != "tests/test_docs.py" and pattern.search(read(f))]
    assert messages == []
