"""The real command line: each command once as a process, and what only processes can show."""

from __future__ import annotations

import fcntl
import gzip
import http.client
import json
import os
import pty
import signal
import socket
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from api.catalog import HOUR_MS
from api.ingest.source import digest
from api.store.base import Progress
from api.store.open import open_store
from tests.commands.conftest import CommandLine
from tests.servers import free_port

ROOT = Path(__file__).resolve().parents[2]
PATIENCE_S = 90.0  # on a machine that does much else


class Shell:
    """`flask` as processes with a store in a folder of their own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = free_port()
        self.url = f"sqlite:///{folder / 'weir.sqlite'}"
        mine = {k: v for k, v in os.environ.items() if not k.startswith(("WEIR_", "FLASK_"))}
        self.environ = {
            **mine,
            "WEIR_DATABASE": self.url,
            "WEIR_INSTANCE": str(folder / "instance"),
            "WEIR_PORT": str(self.port),
        }
        self.started: list[subprocess.Popen[str]] = []

    def start(self, *arguments: str | Path, cwd: Path = ROOT) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "flask", *map(str, arguments)]
        process = subprocess.Popen(
            command,
            cwd=cwd,
            env=self.environ,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self.started.append(process)
        return process

    def run(self, *arguments: str | Path) -> tuple[int, str, str]:
        process = self.start(*arguments)
        out, err = process.communicate(timeout=PATIENCE_S)
        return process.returncode, out, err

    def ask(self, *arguments: str | Path) -> Any:
        code, out, err = self.run(*arguments, "--json")
        assert (code, err) == (0, "")
        return json.loads(out)

    def get(self, path: str, **headers: str) -> tuple[int, bytes]:
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)) as connection:
            connection.request("GET", path, headers=headers)
            answer = connection.getresponse()
            return answer.status, answer.read()

    def end_all(self) -> None:
        for process in self.started:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.communicate()


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    shell = Shell(tmp_path)
    yield shell
    shell.end_all()


def eventually(check: Callable[[], Any], what: str) -> Any:
    """What ``check`` gives as soon as it is true."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        try:
            if found := check():
                return found
        except OSError:
            pass
        time.sleep(0.05)
    raise AssertionError(f"it never came that {what}")


def stopped(process: subprocess.Popen[str], number: int) -> tuple[int, str, str]:
    process.send_signal(number)
    out, err = process.communicate(timeout=PATIENCE_S)
    return process.returncode, out, err


def test_from_an_empty_folder_to_readings_and_credentials(shell: Shell) -> None:
    assert shell.ask("db", "upgrade")["before"] == 0
    org = shell.ask("orgs", "create", "Acme", "--cost-per-gallon", "0.01")["id"]
    assert [o["id"] for o in shell.ask("orgs", "list")] == [org]
    devices = shell.folder / "d.json"
    devices.write_text('[{"serialNumber": "M-1"}]')
    assert shell.ask("devices", "import", devices, "--org", org)["created"] == 1
    readings = shell.folder / "r.ndjson"
    readings.write_text('{"device": "M-1", "recordedAt": "2024-03-01", "flowRate": 1}\n')
    imported = shell.ask("readings", "import", readings, "--org", org)
    assert imported == {"read": 1, "stored": 1, "repeated": 0, "refused": 0}
    assert shell.ask("readings", "refused") == []
    assert shell.ask("rollups", "verify")["wrong"] == 0
    key = shell.ask("keys", "create", "--org", org, "--device", "M-1")
    assert shell.ask("keys", "revoke", key["keyId"])["keyId"] == key["keyId"]
    assert shell.ask("keys", "list")[0]["state"] == "revoked"
    assert shell.ask("tokens", "create", "--org", org)["token"].count(".") == 2
    embed = shell.ask("embeds", "create", "--org", org, "--view", "tile", "--device", "M-1")
    assert embed["url"] in embed["snippet"]
    assert shell.ask("embeds", "revoke", embed["id"])["id"] == embed["id"]
    assert [e["state"] for e in shell.ask("embeds", "list", "--org", org)] == ["revoked"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("orgs", "list"),
        ("orgs",),
        ("devices", "import"),
        ("keys", "revoke"),
        ("embeds", "create"),
        ("demo", "feed"),
    ],
    ids=" ".join,
)
def test_a_failure_is_one_line_and_status_one(shell: Shell, arguments: tuple[str, ...]) -> None:
    code, out, err = shell.run(*arguments)
    if arguments == ("orgs",):  # a group alone explains itself
        assert "create" in out + err
        return
    assert (code, out, len(err.splitlines())) == (1, "", 1)
    assert "Traceback" not in err


def test_a_terminal_shows_progress_and_a_pipe_does_not(shell: Shell) -> None:
    shell.ask("db", "upgrade")
    org = shell.ask("orgs", "create", "Acme")["id"]
    readings = shell.folder / "r.csv"
    readings.write_text("device,recorded_at,quality\n")
    command = [sys.executable, "-m", "flask", "readings", "import", str(readings), "--org", org]
    assert shell.run(*command[3:]) == (
        0,
        "read      0\nstored    0\nrepeated  0\nrefused   0\n",
        "",
    )
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 90, 0, 0))
    subprocess.run(command, cwd=ROOT, env=shell.environ, stderr=theirs, stdout=subprocess.DEVNULL)
    assert b"r.csv:   0%" in os.read(ours, 10_000)
    os.close(ours)
    os.close(theirs)


# --- An import that is killed --------------------------------------------------------------------

ROWS = 400_000


def test_a_killed_import_loses_nothing_and_repeats_nothing(shell: Shell) -> None:
    path = shell.folder / "long.csv.gz"
    with gzip.open(path, "wt", compresslevel=1) as file:
        file.write("device,recorded_at,flow_amount\n")
        for n in range(ROWS):
            minute, second = divmod(n, 60)
            day, minute = divmod(minute, 1440)
            device = "M-9" if n % 1000 == 0 else "M-1"  # there is no M-9
            at = f"2024-03-{1 + day:02}T{minute // 60:02}:{minute % 60:02}:{second:02}Z"
            file.write(f"{device},{at},{n % 17}\n")
    shell.ask("db", "upgrade")
    org = shell.ask("orgs", "create", "Acme")["id"]
    devices = shell.folder / "d.json"
    devices.write_text('[{"serialNumber": "M-1"}]')
    shell.ask("devices", "import", devices, "--org", org)
    store, name = open_store(shell.url, read_only=True), digest(path)

    def reached() -> Progress | None:
        return store.progress(name, org)

    process = shell.start("readings", "import", path, "--org", org)
    eventually(reached, "a batch was committed")
    process.kill()
    process.communicate(timeout=PATIENCE_S)  # till nobody holds its output: its helper ends too
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
    assert shell.ask("rollups", "verify")["wrong"] == 0


# --- The server ----------------------------------------------------------------------------------


def test_serve_creates_the_store_answers_and_stops_cleanly(shell: Shell) -> None:
    server = shell.start("serve", "--workers", "2")
    eventually(lambda: shell.get("/healthz")[0] == 200, "the server was up")
    assert json.loads(shell.get("/management/v1/version")[1])["version"]
    filters = "&".join(f"filter=onboardTemperature:lte:{n}.123456789" for n in range(20))
    ids = ",".join(["1f8730a9-5d67-4895-9215-6e247087ea00"] * 50)
    for query in (f"/flow/datapoints/M-1?resolution=raw&{filters}", f"/flow/latest?ids={ids}"):
        assert shell.get(f"/management/v1{query}")[0] == 401  # read whole, and then refused
    code, out, err = stopped(server, signal.SIGTERM)
    assert (code, out, err) == (0, f"Weir is at http://127.0.0.1:{shell.port}\n", "")
    with closing(socket.socket()) as probe:
        assert probe.connect_ex(("127.0.0.1", shell.port)) != 0


def test_a_port_that_is_taken_is_one_line(shell: Shell) -> None:
    with closing(socket.create_server(("127.0.0.1", shell.port))):
        code, out, err = shell.run("serve")
    assert (code, out) == (1, "")
    assert err == f"Error: cannot listen on 127.0.0.1:{shell.port}: Address already in use\n"


@pytest.mark.parametrize(
    "arguments",
    [("--port", "70000"), ("--workers", "0"), ("--host", "nowhere.invalid"), ("--demo",)],
    ids=" ".join,
)
def test_serve_refuses_what_it_cannot_do(shell: Shell, arguments: tuple[str, ...]) -> None:
    code, out, err = shell.run("serve", *arguments)
    assert (code, out, len(err.splitlines())) == (1, "", 1)


SLOW_SITE = """
import time
from flask import Flask
from api.commands import register
from api.settings import Settings
import os
import pty

def create_app():
    app = Flask("slow")
    register(app, lambda: Settings.from_env(os.environ))
    return app

def wsgi():
    def site(environ, start_response):
        if environ["PATH_INFO"] == "/slow":
            time.sleep(2)
        start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", "4")])
        return [b"done"]
    return site
"""


def test_what_was_begun_is_finished_before_the_server_stops(shell: Shell) -> None:
    (shell.folder / "app.py").write_text(SLOW_SITE)
    shell.environ["PYTHONPATH"] = str(ROOT)
    server = shell.start("serve", "--workers", "1", cwd=shell.folder)
    eventually(lambda: shell.get("/")[0] == 200, "the server was up")
    idle = http.client.HTTPConnection("127.0.0.1", shell.port)  # kept alive, asking nothing
    idle.request("GET", "/")
    idle.getresponse().read()
    slow = http.client.HTTPConnection("127.0.0.1", shell.port)
    slow.request("GET", "/slow")
    time.sleep(0.5)
    server.send_signal(signal.SIGTERM)
    assert slow.getresponse().read() == b"done"
    assert server.wait(PATIENCE_S) == 0
    slow.close()
    idle.close()


def test_a_site_that_cannot_be_built_stops_the_server_without_a_stack_trace(shell: Shell) -> None:
    (shell.folder / "app.py").write_text(SLOW_SITE.replace("def site", "1 / 0\n    def site"))
    shell.environ["PYTHONPATH"] = str(ROOT)
    server = shell.start("serve", "--workers", "2", cwd=shell.folder)
    out, err = server.communicate(timeout=PATIENCE_S)
    assert (server.returncode, out) == (1, "")
    assert err == "Error: the site can't be built: ZeroDivisionError: division by zero\n"


@pytest.mark.parametrize("name", ["WEIR_INSTANCE", "WEIR_DATABASE"])
def test_a_place_that_cannot_be_used_stops_the_start_and_is_named(shell: Shell, name: str) -> None:
    (shell.folder / "file").write_text("")
    place = shell.folder / "file" / "weir"
    shell.environ[name] = f"sqlite:///{place}" if name == "WEIR_DATABASE" else str(place)
    code, out, err = shell.run("serve")
    assert (code, out, len(err.splitlines())) == (1, "", 1)
    assert err.startswith(f"Error: {name} can't be used: ")


def test_a_file_that_is_no_store_stops_the_start_and_is_named(shell: Shell) -> None:
    (shell.folder / "weir.sqlite").write_text("Dear diary, " * 100)
    code, out, err = shell.run("serve")
    assert (code, out, len(err.splitlines())) == (1, "", 1)
    assert err.startswith("Error: WEIR_DATABASE can't be used: ")


def test_a_dashboard_of_a_remote_server_needs_no_store(shell: Shell) -> None:
    shell.environ["WEIR_API_URL"] = f"http://127.0.0.1:{free_port()}"
    assert "WEIR_API_URL" in shell.run("serve", "--demo")[2]
    server = shell.start("serve", "--workers", "1")
    eventually(lambda: shell.get("/healthz") == (200, b"ok\n"), "the server was up")
    status, body = shell.get("/management/v1/version")
    assert (status, json.loads(body)["type"]) == (404, "urn:weir:problem:not-found")
    assert shell.get("/sign-in")[0] == 200
    assert stopped(server, signal.SIGTERM)[0] == 0
    assert not (shell.folder / "weir.sqlite").exists()


# --- The demo fleet ------------------------------------------------------------------------------


def _children(process: subprocess.Popen[str]) -> dict[int, str]:
    """The command lines of the direct children that are alive, by process id."""
    found: dict[int, str] = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text().rpartition(")")[2].split()
            command = (status.parent / "cmdline").read_text().replace("\0", " ")
        except OSError:  # it ended meanwhile
            continue
        if int(fields[1]) == process.pid and fields[0] != "Z":
            found[int(status.parent.name)] = command
    return found


def _feed_of(process: subprocess.Popen[str]) -> int | None:
    """The writer, which sends the demo fleet's readings."""
    found = [pid for pid, command in _children(process).items() if "writer" in command]
    return found[0] if found else None


def _alive(pid: int) -> bool:
    try:
        return (Path("/proc") / str(pid) / "stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.fixture
def seeded(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> Shell:
    """A store with the demo fleet and three hours of its history."""
    monkeypatch.setattr("api.ingest.demo.feed.HISTORY_MS", 3 * HOUR_MS)
    CommandLine(shell.environ).ask("demo", "seed")
    return shell


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at processes in /proc")
def test_the_demo_fleet_is_served_live_and_its_feed_is_kept_alive(seeded: Shell) -> None:
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
    first, feed = last_seen(), eventually(lambda: _feed_of(server), "the feed was there")
    eventually(lambda: last_seen() > first, "a live reading arrived")
    os.kill(feed, signal.SIGKILL)
    again = eventually(
        lambda: (pid := _feed_of(server)) not in (None, feed) and pid, "the feed was back"
    )
    code, _, err = stopped(server, signal.SIGTERM)
    assert (code, err) == (0, "Warning: the writer ended (SIGKILL); starting it again in 0.5 s.\n")
    eventually(lambda: not _alive(again), "the feed had stopped with the server")

    server = shell.start("serve", "--demo", "--workers", "1")
    feed = eventually(lambda: _feed_of(server), "the feed was there")
    eventually(lambda: shell.get("/healthz")[0] == 200, "the server was up")
    workers = _children(server)
    assert feed in workers
    server.kill()
    eventually(lambda: not any(map(_alive, workers)), "all had noticed that they were alone")


def test_a_feed_stops_when_it_is_told_to(seeded: Shell) -> None:
    for number in (signal.SIGTERM, signal.SIGINT):
        feed = seeded.start("demo", "feed")
        time.sleep(1.5)
        assert stopped(feed, number) == (0, "", "")
