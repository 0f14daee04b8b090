"""Writes the missing schema files: `python -m tests.store.schemas.freeze`.

Each version is made by the program's own steps up to it, filled, and dumped: SQLite's from its own
table of schemas, Postgres' by pg_dump.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any, Final

import apsw
import psycopg

from api.embeds import EmbedDefinition, Rolling
from api.store import migrations
from api.store.base import (
    Annotation,
    AnnotationKind,
    AuditEntry,
    Grant,
    Key,
    NewDevice,
    Progress,
    Refusal,
    Scope,
)
from api.store.open import open_store, open_web_store
from api.store.query import Query
from api.store.tables import TABLES
from api.store.web import migrations as web_migrations
from api.store.web.base import Embed, Maker
from api.store.web.tables import WEB_TABLES
from tests import servers

FOLDER: Final = Path(__file__).parent
SCHEMAS: Final[dict[str, Any]] = {"store": migrations, "web": web_migrations}
OPENERS: Final[dict[str, Any]] = {"store": open_store, "web": open_web_store}
START_MS: Final = 1_772_928_000_000  # 2026-03-08T00:00Z
READINGS: Final = 400


def file_of(dialect: str, kind: str, version: int) -> Path:
    return FOLDER / f"{dialect}-{kind}-{version}.sql"


def missing() -> list[tuple[str, int]]:
    """(kind, version) of each missing file."""
    return [
        (kind, version)
        for kind, schema in SCHEMAS.items()
        for version in range(1, schema.CURRENT + 1)
        if not all(file_of(d, kind, version).exists() for d in ("sqlite", "postgres"))
    ]


def at_version(url: str, kind: str, version: int) -> Any:
    """A store as the program of that version made it, without rows."""
    store = OPENERS[kind](url)
    schema = SCHEMAS[kind]
    store.schema = SimpleNamespace(
        VERSION_TABLE=schema.VERSION_TABLE, STEPS=schema.STEPS[:version], CURRENT=version
    )
    store.upgrade()
    return store


def fill(url: str) -> None:
    """Some rows of everything, in a store and a web store of the present schema."""
    store, web = open_store(url), open_web_store(url)
    store.upgrade()
    web.upgrade()
    org = store.create_organization("Acme", organization_id="acme", cost_per_gallon=0.004).id
    store.import_devices(
        org,
        [
            NewDevice("M-1", {"id": "a2a1279f-d474-4d4d-8896-5d852b0ae3cf"}, ("north",)),
            NewDevice("M-2", {"label": "Zähler <2>", "reportingInterval": 60.0, "active": False}),
        ],
    )
    grant = Grant(groups=frozenset({"north"}))
    store.create_key(Key("key_1", org, "reader", b"\x00\xff" * 16, grant, START_MS))
    (device,) = store.resolve(Scope(org, Grant(everything=True)), ["M-1"])
    assert device is not None
    rows: list[Any] = [
        (device.key, START_MS + n * 37_000, n % 7 / 3, None, 0.25 * n, 90.0, -70.0, None, 21.5)
        for n in range(READINGS)
    ]
    store.add(rows[:1], undated=[rows[0][:2]])
    store.write(
        [*rows[1:], (*rows[5][:2], *(1.0,) * 7)],  # two at one instant
        refusals=[Refusal(org, "file", "no such device", "M-9", "M-9,…", START_MS, 3)],
        progress=Progress("d" * 64, org, position=READINGS + 4, refused=3),
    )
    result = AuditEntry(START_MS, org, "key_1", "correction", "create", "c-1", after={"n": 1})
    store.correct(
        Annotation(
            "c-1", org, AnnotationKind.CORRECTION, device.key, None, START_MS,
            START_MS + 60_000, "wrong", START_MS, "key_1", metrics=("quality",), factor=0.5,
        ),
        [result],
    )  # fmt: skip
    definition = EmbedDefinition(
        view="tile", devices=(device.id,), metric="flow_rate", origins=("https://a.example",),
        window=Rolling(86_400), zone="Europe/Berlin", units="si", theme="dark",
        controls=(), title="Keller", expires_ms=None,
    )  # fmt: skip
    web.create_embed(
        Embed("embed_1", org, Maker("reader", key_id="key_1"), definition, START_MS), [result]
    )
    store.close()
    web.close()


def _copy(source: Any, target: Any, kind: str) -> None:
    """All rows of the tables that both have."""
    tables = WEB_TABLES if kind == "web" else TABLES
    there = {
        t.name: {row[0] for row in target.fetch(target.dialect.columns(t.name))} for t in tables
    }
    for table in tables:
        names = [name for name in table.names if name in there[table.name]]
        if names:
            rows = source.fetch(Query(f"SELECT {', '.join(names)} FROM {table.name}"))
            with target.transaction() as transaction:
                transaction.insert(table, names, rows)


def _sqlite(path: Path) -> str:
    connection = apsw.Connection(str(path))
    lines: list[str] = []
    result: Any = connection.execute("SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL")
    schema = list(result)
    lines += [f"{sql};" for _, sql in schema]
    for name, sql in schema:
        if sql.startswith("CREATE TABLE"):
            columns = [row[1] for row in connection.execute(f"PRAGMA table_info({name})")]  # pyright: ignore[reportGeneralTypeIssues]
            quoted = " || ', ' || ".join(f'quote("{column}")' for column in columns)
            rows: Any = connection.execute(f"SELECT {quoted} FROM {name}")
            lines += [f"INSERT INTO {name} VALUES ({values});" for (values,) in rows]
    connection.close()
    return "\n".join([*lines, ""])


def _postgres(url: str) -> str:
    program = servers.postgres_program("pg_dump")
    options = ["--inserts", "--rows-per-insert=100", "--no-owner", "--no-comments"]
    shown = subprocess.run([program, *options, url], check=True, capture_output=True, text=True)
    output = (
        line for line in shown.stdout.splitlines() if not line.startswith(("--", "\\", "SET "))
    )
    return "\n".join([*(line for line in output if line), ""])


def main() -> None:
    with TemporaryDirectory() as name, servers.postgres(Path(name) / "server") as server:
        folder = Path(name)
        urls = {"sqlite": f"sqlite:///{folder / 'full.sqlite'}", "postgres": f"{server}/postgres"}
        for url in urls.values():
            fill(url)
        for kind, version in missing():
            for dialect, made in _made(urls, folder, server, kind, version):
                path = file_of(dialect, kind, version)
                if not path.exists():
                    path.write_text(made, "utf-8")


def _made(
    urls: dict[str, str], folder: Path, server: str, kind: str, version: int
) -> Iterator[tuple[str, str]]:
    place = folder / f"{kind}{version}.sqlite"
    database = f"{kind}_{version}"
    with psycopg.connect(f"{server}/postgres", autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {database}")  # pyright: ignore[reportArgumentType]
    for dialect, url in (("sqlite", f"sqlite:///{place}"), ("postgres", f"{server}/{database}")):
        full = OPENERS[kind](urls[dialect])
        store = at_version(url, kind, version)
        _copy(full, store, kind)
        file = store.path if dialect == "sqlite" else None
        store.close()
        full.close()
        yield dialect, _sqlite(file) if file else _postgres(url)


if __name__ == "__main__":
    main()
