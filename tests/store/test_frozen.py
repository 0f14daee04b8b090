"""Each released schema is upgraded to the present one with all its rows."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import psycopg
import pytest

from api.catalog import RAW
from api.store import migrations
from api.store.base import Grant, NewDevice, Scope, Span
from api.store.open import open_store
from api.store.query import Query
from api.store.tables import TABLES
from api.store.web.tables import WEB_TABLES
from tests.store.schemas.freeze import OPENERS, READINGS, SCHEMAS, START_MS, file_of, missing

ROOT = Path(__file__).resolve().parents[2]
FROZEN = [
    (dialect, kind, version)
    for dialect in ("sqlite", "postgres")
    for kind, schema in SCHEMAS.items()
    for version in range(1, schema.CURRENT + 1)
]


def test_every_schema_has_its_file() -> None:
    assert missing() == [], "run: python -m tests.store.schemas.freeze"


@pytest.fixture
def frozen(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Any, str, int]]:
    """A store of that version as its program left it, its kind, and its version."""
    dialect, kind, version = request.param
    text = file_of(dialect, kind, version).read_text("utf-8")
    if dialect == "sqlite":
        url = f"sqlite:///{tmp_path / 'weir.sqlite'}"
        connection = apsw.Connection(str(OPENERS[kind](url).path))
        connection.execute(text)
        connection.close()
    else:
        url = request.getfixturevalue("postgres_url")
        with psycopg.connect(url, autocommit=True) as server:
            server.execute(text)  # pyright: ignore[reportArgumentType]
    store = OPENERS[kind](url)
    yield store, kind, version
    store.close()


def contents(store: Any, kind: str, columns: dict[str, list[str]] | None = None) -> dict[str, Any]:
    """The rows of each existing table, in the given columns or in all of them."""
    result: dict[str, Any] = {}
    for table in WEB_TABLES if kind == "web" else TABLES:
        there = {row[0] for row in store.fetch(store.dialect.columns(table.name))}
        names = [n for n in table.names if n in there]
        if columns is not None:
            names = columns.get(table.name, [])
        if names:
            order = ", ".join(table.key)
            query = f"SELECT {', '.join(names)} FROM {table.name} ORDER BY {order}"
            result[table.name] = (names, store.fetch(Query(query)))
    return result


@pytest.mark.parametrize("frozen", FROZEN, indirect=True, ids=lambda p: "-".join(map(str, p)))
def test_an_older_store_is_upgraded_with_all_its_rows(
    frozen: tuple[Any, str, int],
) -> None:
    store, kind, version = frozen
    before = contents(store, kind)
    assert store.upgrade() == (version, SCHEMAS[kind].CURRENT)
    assert contents(store, kind, {name: names for name, (names, _) in before.items()}) == before
    store.check()
    if kind == "web":
        assert [embed.definition.title for embed in store.embeds("acme")] == ["Keller"]
        return
    assert len(before["reading"][1]) == READINGS + 1
    verdict = store.verify()
    assert verdict.buckets > 100
    assert verdict.wrong == 0
    (device,) = store.resolve(Scope("acme", Grant(everything=True)), ["M-1"])
    last = START_MS + READINGS * 37_000
    assert store.write([(device.key, last, *(2.0,) * 7)]).stored == 1
    assert store.count(device, RAW, Span()) == READINGS + 2
    assert store.verify().wrong == 0


@pytest.mark.parametrize("frozen", FROZEN, indirect=True, ids=lambda p: "-".join(map(str, p)))
def test_an_upgraded_store_has_the_tables_of_a_new_one(
    frozen: tuple[Any, str, int], tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    store, kind, _ = frozen
    store.upgrade()
    fresh = OPENERS[kind](f"sqlite:///{tmp_path / 'fresh.sqlite'}")
    fresh.upgrade()
    tables = WEB_TABLES if kind == "web" else TABLES
    for table in tables:
        ours, theirs = (
            {row[0] for row in s.fetch(s.dialect.columns(table.name))} for s in (store, fresh)
        )
        assert ours == theirs
    fresh.close()


# --- Killed half-way -----------------------------------------------------------------------------

# An upgrade whose next step makes a table, prints a line, and never reaches its second statement.
HANG = """
import sys, time
from types import SimpleNamespace
from api.store import migrations
from api.store.open import open_store

def step(dialect):
    yield f"CREATE TABLE half_way (a {dialect.types['int']} NOT NULL PRIMARY KEY)"
    yield f"ALTER TABLE organization ADD COLUMN half_way {dialect.types['int']}"
    print("half-way", flush=True)
    time.sleep(600)  # killed long before: the test waits for the line above

store = open_store(sys.argv[1])
store.schema = SimpleNamespace(
    VERSION_TABLE=migrations.VERSION_TABLE,
    STEPS=(*migrations.STEPS, step),
    CURRENT=migrations.CURRENT + 1,
)
store.upgrade()
"""


def test_a_killed_migration_leaves_the_old_version_intact(store_url: str) -> None:
    store = open_store(store_url)
    store.upgrade()
    store.create_organization("Acme", organization_id="acme")
    store.import_devices("acme", [NewDevice("M-1")])
    before = contents(store, "store")
    process = subprocess.Popen(
        [sys.executable, "-c", HANG, store_url], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "half-way\n"
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    deadline = time.monotonic() + 30  # until the server has noticed that its client is gone
    while True:
        try:
            assert store.upgrade() == (migrations.CURRENT, migrations.CURRENT)
            break
        except AssertionError:
            assert time.monotonic() < deadline
    assert contents(store, "store") == before
    assert store.fetch(store.dialect.columns("half_way")) == []  # pyright: ignore[reportAttributeAccessIssue]
    store.check()
    store.close()
