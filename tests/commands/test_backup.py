"""`weir backup` and `weir restore`: complete copies during writes, and nothing overwritten."""

from __future__ import annotations

import gzip
import io
import os
import signal
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw
import orjson
import psycopg
import pytest

from api.catalog import RAW
from api.ingest.file_lock import only_writer, replaced
from api.settings import Settings
from api.store.base import Grant, NewDevice, Scope, Span, Store
from api.store.open import open_store
from api.timez import stamp
from tests.commands.conftest import CommandLine
from tests.servers import postgres_program
from tests.store.fleet import NOON_MS

ROOT = Path(__file__).resolve().parents[2]
BATCH = 500

# Writes batch after batch, each a transaction: reading n of a device is of second n.
WRITE = """
import sys
from api.store.open import open_store
from api.store.base import Grant, Scope
url, organization, start, batch = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
store = open_store(url)
(device,) = store.resolve(Scope(organization, Grant(everything=True)), ["M-1"])
for first in range(0, 10**9, batch):
    store.write([
        (device.key, start + n * 1000, float(n % 7), None, 1.0, None, None, None, None)
        for n in range(first, first + batch)
    ])
    print(first + batch, flush=True)
"""


@contextmanager
def writing(weir: CommandLine, org: str) -> Iterator[subprocess.Popen[str]]:
    """A process that writes without a pause."""
    command = [sys.executable, "-c", WRITE, weir.environ["WEIR_DATABASE"], org]
    process = subprocess.Popen(
        [*command, str(NOON_MS), str(BATCH)],
        cwd=ROOT, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    try:
        for _ in range(3):
            assert process.stdout.readline()
        yield process
    finally:
        process.send_signal(signal.SIGKILL)
        process.communicate()


def instants(store: Store, org: str) -> list[int]:
    """The instants of M-1's readings, in order."""
    (device,) = store.resolve(Scope(org, Grant(everything=True)), ["M-1"])
    assert device is not None
    return [row[0] for row in store.rows(device, RAW, Span(), limit=10**7)]


@pytest.mark.parametrize("name", ["weir.tar", "weir.tar.gz"])
def test_a_backup_under_load_has_the_first_commits_without_a_gap(
    weir: CommandLine, meters: str, tmp_path: Path, name: str
) -> None:
    file = tmp_path / "backups" / name
    file.parent.mkdir()
    with writing(weir, meters) as process:
        assert process.stdout is not None
        before = int(process.stdout.readline())
        done = weir.ask("backup", file)
        assert process.poll() is None
        went_on = int(process.stdout.readline())
    assert went_on >= before
    assert done["readings"] % BATCH == 0
    assert done["readings"] >= before
    assert [p.name for p in file.parent.iterdir()] == [name]
    assert file.stat().st_mode & 0o077 == 0

    elsewhere = CommandLine(
        {"WEIR_DATABASE": f"sqlite:///{tmp_path / 'other' / 'r.sqlite'}",
         "WEIR_INSTANCE": str(tmp_path / "other")}
    )  # fmt: skip
    assert elsewhere.ask("restore", file) == done
    store = open_store(elsewhere.environ["WEIR_DATABASE"], read_only=True)
    expected = [NOON_MS + n * 1000 for n in range(done["readings"])]
    assert instants(store, meters) == expected
    store.close()
    verdict = elsewhere.ask("rollups", "verify")
    assert verdict["buckets"] > 0
    assert verdict["wrong"] == 0


@pytest.fixture
def file(weir: CommandLine, meters: str, tmp_path: Path) -> Path:
    """A backup of a store with an embed."""
    weir.ask("embeds", "create", "--org", meters, "--view", "tile", "--device", "M-1")
    path = tmp_path / "weir.tar"
    done = weir.ask("backup", path)
    assert (done["devices"], done["embeds"]) == (3, 1)
    return path


def test_processes_that_have_the_store_open_see_the_restored_one(
    weir: CommandLine, meters: str, file: Path, opened: Callable[[], Store]
) -> None:
    reader = opened()
    later = weir.ask("orgs", "create", "Later")["id"]
    weir.ask("embeds", "create", "--org", meters, "--view", "tile", "--device", "M-2")
    assert reader.organization(later) is not None
    weir.ask("restore", file, "--force")
    assert reader.organization(later) is None
    assert reader.organization(meters) is not None
    assert len(weir.ask("embeds", "list", "--org", meters)) == 1
    weir.ask("orgs", "create", "Later still")
    reader.close()  # a process that had the old file open leaves the new one's log alone
    assert len(weir.ask("orgs", "list")) == 2


def test_nothing_is_overwritten_without_the_option(weir: CommandLine, file: Path) -> None:
    weir.ask("orgs", "create", "Later")
    assert "--force" in weir.error("restore", file)
    assert len(weir.ask("orgs", "list")) == 2


def test_a_check_changes_nothing(weir: CommandLine, file: Path) -> None:
    weir.ask("orgs", "create", "Later")
    folder = set(file.parent.iterdir())
    assert weir.ask("restore", file, "--check")["devices"] == 3
    assert set(file.parent.iterdir()) == folder
    assert len(weir.ask("orgs", "list")) == 2


def test_a_store_with_a_writer_is_not_restored(weir: CommandLine, file: Path) -> None:
    with only_writer(Settings.from_env(weir.environ)):
        assert "is already being written by" in weir.error("restore", file, "--force")


# `flask` with these arguments. It prints a line before it imports a file, then waits for one.
IMPORT = """
import os, sys
from api.ingest import pipeline
from tests.commands.conftest import CommandLine
take_in = pipeline.import_file
def asked_first(*arguments, **named):
    os.write(1, b"begun\\n")  # not what a command says
    os.read(0, 1)
    return take_in(*arguments, **named)
pipeline.import_file = asked_first
sys.exit(CommandLine(dict(os.environ)).run(*sys.argv[1:]).exit_code)
"""


def test_a_store_with_a_running_import_is_not_restored(
    weir: CommandLine, meters: str, file: Path, tmp_path: Path
) -> None:
    """The import would continue in the restored file from its place in the other one."""
    rows = tmp_path / "rows.csv"
    rows.write_text(f"device,recorded_at,flow_amount\nM-1,{stamp(NOON_MS)},1\n")
    words = ["readings", "import", str(rows), "--org", meters]
    with subprocess.Popen(
        [sys.executable, "-c", IMPORT, *words],
        cwd=ROOT, env=os.environ | weir.environ, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    ) as running:  # fmt: skip
        assert running.stdin is not None
        assert running.stdout is not None
        assert running.stdout.readline() == "begun\n"
        assert "is being written by another command" in weir.error("restore", file, "--force")
        running.stdin.write("\n")
        running.stdin.close()
    assert running.returncode == 0
    weir.ask("restore", file, "--force")
    assert weir.ask(*words)["stored"] == 1


def test_nothing_is_written_while_a_store_is_restored(weir: CommandLine) -> None:
    with replaced(weir.environ["WEIR_DATABASE"]):
        assert "is being restored" in weir.error("orgs", "create", "Later")
        assert len(weir.ask("orgs", "list")) == 0
    weir.ask("orgs", "create", "Later")


def _cut(content: bytes) -> bytes:
    return content[: len(content) // 2]


def _flipped(content: bytes) -> bytes:
    place = content.index(b"SQLite format 3") + 5_000
    return content[:place] + bytes([content[place] ^ 0xFF]) + content[place + 1 :]


def _of_another(content: bytes) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        tar.addfile(tarfile.TarInfo("../../escape"), io.BytesIO())
        tar.addfile(tarfile.TarInfo("letter.txt"), io.BytesIO())
    return out.getvalue()


def _rewritten(content: bytes, **fields: object) -> bytes:
    """The same backup with another manifest."""
    out = io.BytesIO()
    with (
        tarfile.open(fileobj=io.BytesIO(content)) as old,
        tarfile.open(fileobj=out, mode="w") as new,
    ):
        for member in old:
            source = old.extractfile(member)
            assert source is not None
            body = source.read()
            if member.name == "manifest.json":
                body = orjson.dumps({**orjson.loads(body), **fields})
                member.size = len(body)
            new.addfile(member, io.BytesIO(body))
    return out.getvalue()


UNSOUND = [
    (lambda _: b"", "is not a complete backup"),
    (lambda _: b"Dear diary", "is not a complete backup"),
    (_cut, "is not a complete backup"),
    (lambda content: _cut(gzip.compress(content)), "is not a complete backup"),
    (_flipped, "differs"),
    (_of_another, "is not a backup"),
    (lambda content: _rewritten(content, format=2), "a newer program"),
    (lambda content: _rewritten(content, parts=3), "is not a complete backup"),
]


@pytest.mark.parametrize(("damage", "text"), UNSOUND)
@pytest.mark.parametrize("check", [True, False])
def test_a_damaged_backup_changes_nothing(
    weir: CommandLine, file: Path, damage: Callable[[bytes], bytes], text: str, check: bool
) -> None:
    file.write_bytes(damage(file.read_bytes()))
    folder = set(file.parent.iterdir())
    assert text in weir.error("restore", file, "--check" if check else "--force")
    locks = {file.parent / f"weir.sqlite{lock}" for lock in ("-writer", "-use")}
    assert set(file.parent.iterdir()) <= folder | locks
    assert len(weir.ask("orgs", "list")) == 1


def test_a_target_that_cannot_be_written_is_one_line(weir: CommandLine, tmp_path: Path) -> None:
    assert "can't be written" in weir.error("backup", tmp_path / "no" / "weir.tar")


@pytest.mark.parametrize("newer", ["weir.sqlite", "weir.web.sqlite"])
def test_a_schema_newer_than_the_program_is_not_backed_up(
    weir: CommandLine, meters: str, tmp_path: Path, newer: str
) -> None:
    table = "schema_version" if newer == "weir.sqlite" else "web_schema_version"
    connection = apsw.Connection(str(tmp_path / newer))
    connection.execute(f"UPDATE {table} SET version = 999 WHERE version = 1")
    connection.close()
    output = weir.error("backup", tmp_path / "weir.tar")
    assert f"{newer} has schema version 999, newer than this program's" in output
    assert not (tmp_path / "weir.tar").exists()


def test_a_missing_store_cannot_be_backed_up(flask: CommandLine, tmp_path: Path) -> None:
    assert "no store at" in flask.error("backup", tmp_path / "weir.tar")
    assert not (tmp_path / "weir.tar").exists()


def test_a_server_database_is_left_to_its_own_tools(tmp_path: Path) -> None:
    line = CommandLine(
        {"WEIR_DATABASE": "postgresql://weir@127.0.0.1/weir", "WEIR_INSTANCE": str(tmp_path)}
    )
    assert "pg_dump --format=custom" in line.error("backup", tmp_path / "weir.tar")


def test_pg_dump_and_pg_restore_copy_a_server_store(
    postgres_server: str, postgres_url: str, tmp_path: Path
) -> None:
    """The commands of docs/operations.md, with other names."""
    store = open_store(postgres_url)
    store.upgrade()
    org = store.create_organization("Acme").id
    store.import_devices(org, [NewDevice("M-1")])
    (device,) = store.resolve(Scope(org, Grant(everything=True)), ["M-1"])
    assert device is not None
    store.write([(device.key, NOON_MS + n * 1000, *(1.0,) * 7) for n in range(3000)])
    store.close()
    file, name = tmp_path / "weir.dump", f"restored_{time.monotonic_ns()}"
    with psycopg.connect(f"{postgres_server}/postgres", autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")  # pyright: ignore[reportArgumentType]
    other = f"{postgres_server}/{name}"
    for command in (
        ["pg_dump", "--format=custom", f"--file={file}", postgres_url],
        ["pg_restore", "--no-owner", "--exit-on-error", f"--dbname={other}", str(file)],
    ):
        subprocess.run([postgres_program(command[0]), *command[1:]], check=True)
    restored = open_store(other)
    restored.check()
    assert len(instants(restored, org)) == 3000
    assert restored.verify().wrong == 0
    restored.close()


@pytest.mark.parametrize("name", ["x.zip", "x", "x.gz", "x.sqlite"])
def test_a_backup_is_named_as_a_tar_file(weir: CommandLine, tmp_path: Path, name: str) -> None:
    assert ".tar, .tar.gz or .tgz" in weir.error("backup", tmp_path / name)
    assert not (tmp_path / name).exists()
