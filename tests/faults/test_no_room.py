"""The store locked by another process, its disk full, its file read-only: reads continue, senders
are asked to retry, and no acknowledged reading is lost."""

from __future__ import annotations

import os
import resource
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from api.errors import Unavailable
from api.store.open import open_store
from api.store.sqlite import READ_ONLY_DISK
from tests.commands.conftest import CommandLine
from tests.commands.shell import Shell, eventually
from tests.faults.conftest import Start
from tests.faults.loaded_server import WatchedServer, locked

DISK_BYTES = 64 << 20
NOBODY = 65_534
LOOKS_EVERY_S = 0.5
LOCKED_S = 12


@pytest.mark.slow
def test_while_the_store_is_locked_reads_continue_and_senders_retry(start: Start) -> None:
    loaded = start(history=True)
    loaded.begin()
    with locked(loaded.path):
        until_s = time.monotonic() + LOCKED_S
        loaded.await_refusals()
        count = len(loaded.acknowledged)
        while time.monotonic() < until_s:
            answer = loaded.old_rates(0, 100)
            assert answer.status_code == 200, answer.text
            assert len(answer.json()["data"]) == 100
            assert "error" not in loaded.wall()
            assert loaded.tried()[0] in (429, 503)
            time.sleep(LOOKS_EVERY_S)
        assert len(loaded.acknowledged) == count
    loaded.await_more()
    log = loaded.settled().splitlines()
    assert {line.partition(":")[0] for line in log} <= {"requests fail"}
    assert len(log) <= 2


# --- A full disk ---------------------------------------------------------------------------------


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path | None]:
    """A small disk of its own, if one can be mounted."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "tmpfs", str(folder)]
    if os.geteuid() or subprocess.run(mount, capture_output=True).returncode:
        yield None
        return
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def _fill(folder: Path) -> Path:
    ballast = folder / "ballast"
    with ballast.open("wb", buffering=0) as file, suppress(OSError):
        while file.write(bytes(4096)):
            pass
    assert os.statvfs(folder).f_bavail == 0
    return ballast


def _may_write(loaded: WatchedServer, size: int) -> None:
    """Limits the size of files that the writer may write."""
    writer = loaded.parts()[0]
    _, hard = resource.prlimit(writer, resource.RLIMIT_FSIZE)
    resource.prlimit(writer, resource.RLIMIT_FSIZE, (size, hard))


def _stays_readable(loaded: WatchedServer, words: str) -> None:
    loaded.await_refusals()
    eventually(lambda: words in str(loaded.tried()[1]), "senders were told why")
    assert loaded.tried()[0] == 503
    assert loaded.old_rates(0, 100).status_code == 200
    assert "error" not in loaded.wall()


def _said_once(log: str, words: str) -> None:
    lines = log.splitlines()
    assert sum("no reading can be stored" in line and words in line for line in lines) == 1
    assert lines.count("readings are stored again") == 1


@pytest.mark.slow
def test_a_full_disk_stores_nothing_until_there_is_room(disk: Path | None, start: Start) -> None:
    if disk is None:  # mounting needs a permission that a container may lack
        pytest.skip("no disk may be mounted here: the next test limits the process instead")
    loaded = start(disk, history=True)
    loaded.begin()
    ballast = _fill(disk)
    _stays_readable(loaded, "The disk is full")
    eventually(lambda: "The disk is full" in loaded.outage(), "pages said it on top")
    ballast.unlink()
    loaded.await_more()
    eventually(lambda: loaded.outage() == "", "pages said it no more")
    _said_once(loaded.settled(), "The disk is full")


@pytest.mark.slow
def test_a_writer_without_write_access_continues_once_it_has_it(start: Start) -> None:
    loaded = start(history=True)
    loaded.begin()
    _may_write(loaded, 0)
    _stays_readable(loaded, "can't be read or written")
    _may_write(loaded, resource.RLIM_INFINITY)
    loaded.await_more()
    _said_once(loaded.settled(), "can't be read or written")


# --- A disk that is mounted read-only ------------------------------------------------------------


def test_on_a_read_only_disk_the_start_fails_with_a_reason(
    disk: Path | None, tmp_path: Path
) -> None:
    if disk is None:  # as above
        pytest.skip(
            "no disk may be mounted here: the next test takes the rights to the file instead"
        )
    shell = Shell(disk)
    shell.environ["WEIR_INSTANCE"] = str(tmp_path / "instance")
    weir = CommandLine(shell.environ)
    weir.ask("db", "upgrade")
    weir.ask("orgs", "create", "Acme")
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
    try:
        code, out, err = shell.run("serve")
        assert (code, out) == (1, "")
        assert READ_ONLY_DISK in err
        assert "Traceback" not in err
        assert READ_ONLY_DISK in weir.error("orgs", "list")
    finally:
        subprocess.run(["mount", "-o", "remount,rw", str(disk)], check=True)
    assert [org["name"] for org in weir.ask("orgs", "list")] == ["Acme"]
    shell.start("serve", "--workers", "1")
    eventually(lambda: shell.get("/healthz")[0] == 200, "it was up")
    shell.end_all()


# --- A file that may only be read ----------------------------------------------------------------


def _as_nobody(url: str, answers: int, go_on: int) -> None:
    """Runs in a child without root's rights, by one store: two writes and a read."""
    if os.geteuid() == 0:
        os.setuid(NOBODY)
    store = open_store(url)
    for name in ("First", "Second"):
        try:
            result = store.create_organization(name).name
        except Unavailable as error:
            result = str(error)
        os.write(answers, f"{len(store.organizations())} {result}\n".encode())
        os.read(go_on, 1)


def test_a_read_only_file_is_read_and_written_once_that_is_allowed() -> None:
    with tempfile.TemporaryDirectory(prefix="weir-read-only-") as name:
        folder = Path(name)
        url = f"sqlite:///{folder / 'weir.sqlite'}"
        store = open_store(url)
        store.upgrade()
        store.create_organization("Acme")
        _allow(folder, 0o444, 0o555)
        answers, theirs = os.pipe()
        mine, go_on = os.pipe()
        child = os.fork()
        if child == 0:
            with suppress(BaseException):
                _as_nobody(url, theirs, mine)
            os._exit(0)
        os.close(theirs)
        with os.fdopen(answers) as result:
            first = result.readline()
            _allow(folder, 0o666, 0o777)
            os.write(go_on, b"..")
            second = result.readline()
        os.waitpid(child, 0)
        store.close()
        for end in (mine, go_on):
            os.close(end)
    assert first.startswith("1 Service unavailable. The store's file can't be written")
    assert second == "2 Second\n"


def _allow(folder: Path, files: int, itself: int) -> None:
    for file in folder.iterdir():
        file.chmod(files)
    folder.chmod(itself)
