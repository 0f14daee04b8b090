"""The command's preview and the page's are the same: guess, corrections, rows and refusals."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from api.ingest.foreign.mapping import Mapping, from_table
from api.timez import stamp
from tests.ingest.foreign import layouts, more_layouts, system_layouts, vendor_layouts
from tests.ingest.foreign.layout_files import LayoutCase, written
from tests.ingest.imports.site import Site
from tests.tables import cases

NAMES = ("german.csv", "Inflow.xlsx", "by_hand.xlsx", "v24.psv", "victoria.jsonl", "psql.txt")
_ALL = (*layouts.CASES, *more_layouts.CASES, *vendor_layouts.CASES, *system_layouts.CASES)
CASES = [next(case for case in _ALL if case.name == name) for name in NAMES]


def mapping_of(page: dict[str, Any]) -> Mapping:
    table = dict(page["mapping"])
    return from_table(table | {"column": table.pop("columns")})


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_the_command_and_the_page_agree(case: LayoutCase, site: Site, tmp_path: Path) -> None:
    path = written(case, tmp_path)
    corrections = ["--set", case.correction] if case.correction else []
    command = site.flask.ask(
        "readings", "import", path, "--org", site.org, "--preview", *corrections
    )
    id = site.upload(case)
    if case.correction:
        name, _, value = case.correction.partition("=")
        site.ask("PATCH", f"/{id}", json={"settings": {name: value}})
    page = site.ask("GET", f"/{id}")
    preview = page["preview"]

    assert mapping_of(page) == from_table(command["mapping"])
    assert page["unsure"] == command["check"]
    assert [row | {"recordedAt": stamp(row["recordedAt"])} for row in preview["rows"]] == command[
        "rows"
    ]
    new = [device["name"] for device in preview["devices"] if not device["known"]]
    assert (new, preview["newDevices"]) == (command["newDevices"], len(command["newDevices"]))
    refused = Counter[str]()
    for reason, _, count, _ in preview["refused"]:
        refused[reason] += count
    assert refused == command["refused"]
    assert sum(refused.values()) == case.refused


@cases(
    ("name", "content"),
    [
        ("usage.pdf", b"%PDF-1.7\n"),
        ("usage.csv", b" \r\n"),
        ("usage.json", b'{"a": [1, 2'),
        ("usage.csv", b"litres\n1\n2\n3\n"),
        ("usage.csv", b"time\n2025-10-01T00:00:00Z\n"),
    ],
)
def test_the_command_and_the_page_refuse_alike(
    name: str, content: bytes, site: Site, tmp_path: Path
) -> None:
    case = LayoutCase(name, lambda: content, {})
    path = written(case, tmp_path)
    error = site.flask.error("readings", "import", path, "--org", site.org, "--preview")
    page = site.ask("GET", f"/{site.upload(case, pieces=1)}")
    problem = page["outcome"]["problem"] or page["preview"]["problem"]
    assert _bare(problem, name) == _bare(error, str(path))


def _bare(message: str, file: str) -> str:
    """The message without the file's name, and without capital and full stop."""
    text = message.removeprefix(file).lstrip(": ").rstrip(".")
    return f"{text[:1].lower()}{text[1:]}"
