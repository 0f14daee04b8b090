"""The real command line: each group of commands once as a process, and what only processes show."""

from __future__ import annotations

import fcntl
import gzip
import json
import os
import pty
import signal
import struct
import subprocess
import sys
import termios
from functools import partial
from pathlib import Path

import pytest

from api.catalog import HOUR_MS
from api.ingest.source import digest
from api.store.base import Progress
from api.store.open import open_store
from tests.commands.conftest import CommandLine
from tests.commands.shell import (
    PATIENCE_S,
    ROOT,
    Shell,
    alive,
    catches,
    children,
    eventually,
    feed_of,
    stopped,
)


def test_from_an_empty_folder_to_readings_and_credentials(shell: Shell) -> None:
    weir = CommandLine(shell.environ)  # in process: each group of commands once as a process
    assert shell.ask("db", "upgrade")["before"] == 0
    org = shell.ask("orgs", "create", "Acme", "--cost-per-gallon", "0.01")["id"]
    assert [o["id"] for o in weir.ask("orgs", "list")] == [org]
    devices = shell.folder / "d.json"
    devices.write_text('[{"serialNumber": "M-1"}]')
    assert shell.ask("devices", "import", devices, "--org", org)["created"] == 1
    readings = shell.folder / "r.ndjson"
    readings.write_text('{"device": "M-1", "recordedAt": "2024-03-01", "flowRate": 1}\n')
    imported = shell.ask("readings", "import", readings, "--org", org)
    assert imported == {"read": 1, "stored": 1, "repeated": 0, "refused": 0}
    assert weir.ask("readings", "refused") == []
    assert weir.ask("rollups", "verify")["wrong"] == 0
    key = shell.ask("keys", "create", "--org", org, "--device", "M-1")
    assert weir.ask("keys", "revoke", key["keyId"])["keyId"] == key["keyId"]
    assert weir.ask("keys", "list")[0]["state"] == "revoked"
    assert shell.ask("tokens", "create", "--org", org)["token"].count(".") == 2
    embed = shell.ask("embeds", "create", "--org", org, "--view", "tile", "--device", "M-1")
    assert embed["url"] in embed["snippet"]
    assert weir.ask("embeds", "revoke", embed["id"])["id"] == embed["id"]
    assert [e["state"] for e in weir.ask("embeds", "list", "--org", org)] == ["revoked"]


def test_a_failure_is_one_line_and_status_one(shell: Shell) -> None:
    code, out, err = shell.run("orgs", "list")
    assert (code, out, len(err.splitlines())) == (1, "", 1)
    assert "Traceback" not in err
    weir = CommandLine(shell.environ)
    for command in (
        ("devices", "import"), ("keys", "revoke"), ("embeds", "create"), ("demo", "feed"),
    ):  # fmt: skip
        assert weir.error(*command), command
    alone = weir.run("orgs")  # a group explains itself
    assert "create" in alone.output


def test_a_terminal_shows_progress_and_a_pipe_does_not(shell: Shell) -> None:
    ask = CommandLine(shell.environ).ask
    ask("db", "upgrade")
    org = ask("orgs", "create", "Acme")["id"]
    readings = shell.folder / "r.csv"
    readings.write_text("device,recorded_at,quality\n")
    command = [sys.executable, "-m", "flask", "readings", "import", str(readings), "--org", org]
    assert shell.run(*command[3:]) == (
        1,
        "read      0\nstored    0\nrepeated  0\nrefused   0\n",
        "Warning: no row was stored\n",
    )
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 90, 0, 0))
    subprocess.run(command, cwd=ROOT, env=shell.environ, stderr=theirs, stdout=subprocess.DEVNULL)
    assert b"r.csv:   0%" in os.read(ours, 10_000)
    os.close(ours)
    os.close(theirs)


# --- An import that is killed --------------------------------------------------------------------

ROWS = 200_000


def test_a_killed_import_loses_nothing_and_repeats_nothing(shell: Shell) -> None:
    path = shell.folder / "long.csv.gz"
    with gzip.open(path, "wt", compresslevel=1) as file:
        file.write("device,recorded_at,flow_amount\n")
        for n in range(ROWS):
            minute, second = divmod(n, 60)
            day, minute = divmod(minute, 1440)
            device = "M-9" if n % 1000 == 0 else "M-1"  # there is no device M-9
            at = f"2024-03-{1 + day:02}T{minute // 60:02}:{minute % 60:02}:{second:02}Z"
            file.write(f"{device},{at},{n % 17}\n")
    ask = CommandLine(shell.environ).ask
    ask("db", "upgrade")
    org = ask("orgs", "create", "Acme")["id"]
    devices = shell.folder / "d.json"
    devices.write_text('[{"serialNumber": "M-1"}]')
    ask("devices", "import", devices, "--org", org)
    store, name = open_store(shell.url, read_only=True), digest(path)

    def reached() -> Progress | None:
        return store.progress(name, org)

    process = shell.start("readings", "import", path, "--org", org)
    eventually(reached, "a batch was committed")
    process.kill()
    # Until nobody holds its output: its helper process ends too.
    process.communicate(timeout=PATIENCE_S)
    killed = reached()
    assert killed is not None
    assert 0 < killed.position < ROWS
    assert not killed.complete
    assert killed.stored + killed.refused == killed.position

    refused = ROWS // 1000
    done = shell.run("readings", "import", path, "--org", org, "--json")
    assert json.loads(done[1]) == {
        "read": ROWS,
        "stored": ROWS - refused,
        "repeated": 0,
        "refused": refused,
    }
    assert [r.count for r in store.refusals(org)] == [refused]
    store.close()
    assert ask("rollups", "verify")["wrong"] == 0


# --- The demo fleet ------------------------------------------------------------------------------


@pytest.fixture
def seeded(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> Shell:
    """A store with the demo fleet and three hours of its history."""
    monkeypatch.setattr("api.ingest.demo.fleet.HISTORY_MS", 3 * HOUR_MS)
    monkeypatch.setattr("api.ingest.demo.fleet.LONG_HISTORY_MS", 3 * HOUR_MS)
    CommandLine(shell.environ).ask("demo", "seed")
    return shell


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at processes in /proc")
def test_the_demo_fleet_is_served_live_and_its_feed_is_restarted(seeded: Shell) -> None:
    shell = seeded
    assert shell.ask("demo", "seed", "--if-missing")["stored"] == 0
    key = json.loads((shell.folder / "instance" / "demo_key").read_text())["key"]
    question = "/management/v1/flow/latest?ids=FM-10708,FM-11300&metrics=lastSeen"

    def last_seen() -> str:
        status, body = shell.get(question, **{"service-api-key": key})
        assert status == 200
        return str(max(entry["lastSeen"] for entry in json.loads(body)["data"]))

    server = shell.start("serve", "--demo", "--workers", "1")
    eventually(lambda: shell.get("/healthz")[0] == 200, "the server was up")
    first, feed = last_seen(), eventually(lambda: feed_of(server), "the feed was there")
    eventually(lambda: last_seen() > first, "a live reading arrived")
    os.kill(feed, signal.SIGKILL)
    again = eventually(
        lambda: (pid := feed_of(server)) not in (None, feed) and pid, "the feed was back"
    )
    code, _, err = stopped(server, signal.SIGTERM)
    assert (code, err) == (0, "Warning: the writer stopped (SIGKILL); restarting in 0.5 s.\n")
    eventually(lambda: not alive(again), "the feed had stopped with the server")

    server = shell.start("serve", "--demo", "--workers", "1")
    feed = eventually(lambda: feed_of(server), "the feed was there")
    eventually(lambda: shell.get("/healthz")[0] == 200, "the server was up")
    workers = children(server.pid)
    assert feed in workers
    server.kill()
    eventually(lambda: not any(map(alive, workers)), "all had noticed that they were alone")


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at processes in /proc")
def test_a_feed_stops_on_a_signal(seeded: Shell) -> None:
    for number in (signal.SIGTERM, signal.SIGINT):
        feed = seeded.start("demo", "feed")
        eventually(partial(catches, feed.pid, signal.SIGTERM), "the feed listened")
        assert stopped(feed, number) == (0, "", "")
