"""`weir serve` as a process: start, refusals, stop."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
from contextlib import closing

import pytest

from tests.commands.conftest import CommandLine
from tests.commands.shell import PATIENCE_S, ROOT, Shell, eventually, stopped
from tests.servers import free_port
from tests.tables import cases


def test_serve_creates_the_store_serves_and_stops_cleanly(shell: Shell) -> None:
    server = shell.start("serve", "--workers", "1")
    eventually(lambda: shell.get("/healthz")[0] == 200, "the server was up")
    assert json.loads(shell.get("/management/v1/version")[1])["version"]
    filters = "&".join(f"filter=onboardTemperature:lte:{n}.123456789" for n in range(20))
    ids = ",".join(["1f8730a9-5d67-4895-9215-6e247087ea00"] * 50)
    for query in (f"/flow/datapoints/M-1?resolution=raw&{filters}", f"/flow/latest?ids={ids}"):
        assert shell.get(f"/management/v1{query}")[0] == 401  # read completely, and then refused
    assert server.stdout is not None
    assert server.stdout.readline() == f"Weir is at http://127.0.0.1:{shell.port}\n"
    assert stopped(server, signal.SIGTERM) == (0, "", "")
    with closing(socket.socket()) as probe:
        assert probe.connect_ex(("127.0.0.1", shell.port)) != 0


def test_a_port_that_is_taken_is_one_line(shell: Shell) -> None:
    with closing(socket.create_server(("127.0.0.1", shell.port))):
        code, out, err = shell.run("serve")
    assert (code, out) == (1, "")
    assert err == f"Error: cannot listen on 127.0.0.1:{shell.port}: Address already in use\n"


@cases("arguments", [("--port", "70000"), ("--workers", "0"), ("--host", "nowhere.invalid")])
def test_serve_refuses_what_it_cannot_do(flask: CommandLine, arguments: tuple[str, ...]) -> None:
    assert arguments[1] in flask.error("serve", *arguments)


def test_the_demo_is_not_served_without_its_fleet(shell: Shell) -> None:
    code, out, err = shell.run("serve", "--demo")
    assert (code, out, len(err.splitlines())) == (1, "", 1)


SLOW_SITE = """
import time
from pathlib import Path
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
            Path("begun").touch()
            time.sleep(2)
        start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", "4")])
        return [b"done"]
    return site
"""


def put_in_place(shell: Shell, site: str) -> None:
    """Serve that `app` instead of the project's, which `weir` would put first on the path."""
    (shell.folder / "app.py").write_text(site)
    (shell.folder / "sitecustomize.py").write_text("import app")
    shell.environ["PYTHONPATH"] = os.pathsep.join([str(shell.folder), str(ROOT)])


def test_running_requests_finish_before_the_server_stops(shell: Shell) -> None:
    put_in_place(shell, SLOW_SITE)
    server = shell.start("serve", "--workers", "1", cwd=shell.folder)
    eventually(lambda: shell.get("/")[0] == 200, "the server was up")
    idle = http.client.HTTPConnection("127.0.0.1", shell.port)  # an idle keep-alive connection
    idle.request("GET", "/")
    idle.getresponse().read()
    slow = http.client.HTTPConnection("127.0.0.1", shell.port)
    slow.request("GET", "/slow")
    eventually((shell.folder / "begun").exists, "the request was under way")
    server.send_signal(signal.SIGTERM)
    assert slow.getresponse().read() == b"done"
    assert server.wait(PATIENCE_S) == 0
    slow.close()
    idle.close()


def test_a_site_that_cannot_be_built_stops_the_server_without_a_stack_trace(shell: Shell) -> None:
    put_in_place(shell, SLOW_SITE.replace("def site", "1 / 0\n    def site"))
    server = shell.start("serve", "--workers", "2", cwd=shell.folder)
    out, err = server.communicate(timeout=PATIENCE_S)
    assert (server.returncode, out) == (1, "")
    assert err == "Error: the site can't be built: ZeroDivisionError: division by zero\n"


@pytest.mark.parametrize("name", ["WEIR_INSTANCE", "WEIR_DATABASE"])
def test_an_unusable_folder_stops_the_start_and_is_named(shell: Shell, name: str) -> None:
    (shell.folder / "file").write_text("")
    place = shell.folder / "file" / "weir"
    shell.environ[name] = f"sqlite:///{place}" if name == "WEIR_DATABASE" else str(place)
    code, out, err = shell.run("serve")
    assert (code, out, len(err.splitlines())) == (1, "", 1)
    assert err.startswith(f"Error: {name} can't be used: ")


def test_a_file_that_is_not_a_store_stops_the_start_and_is_named(shell: Shell) -> None:
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
