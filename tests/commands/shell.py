"""`flask` as child processes, observed from outside."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from tests.servers import free_port

ROOT = Path(__file__).resolve().parents[2]
PATIENCE_S = 90.0  # on a busy machine


class Shell:
    """`flask` as child processes, with a store in a folder of their own."""

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


def eventually(check: Callable[[], Any], what: str) -> Any:
    """The first true value of ``check``."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        try:
            if result := check():
                return result
        except OSError:
            pass
        time.sleep(0.05)
    raise AssertionError(f"it never came that {what}")


def stopped(process: subprocess.Popen[str], number: int) -> tuple[int, str, str]:
    process.send_signal(number)
    out, err = process.communicate(timeout=PATIENCE_S)
    return process.returncode, out, err


def children(parent: int) -> dict[int, str]:
    """The command lines of the direct children that are alive, by process id."""
    result: dict[int, str] = {}
    for listed in Path(f"/proc/{parent}/task").glob("[0-9]*/children"):
        for child in _text(listed).split():
            if alive(int(child)):
                result[int(child)] = _text(Path(f"/proc/{child}/cmdline")).replace("\0", " ")
    return result


def _text(file: Path) -> str:
    """Empty if its process has ended."""
    try:
        return file.read_text()
    except OSError:
        return ""


def feed_of(process: subprocess.Popen[str]) -> int | None:
    """The process that sends the demo fleet's readings: a child of the writer."""
    results = [pid for pid, command in children(process.pid).items() if "writer" in command]
    return results[0] if results else None


def alive(pid: int) -> bool:
    try:
        return (Path("/proc") / str(pid) / "stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def catches(pid: int, number: int) -> bool:
    """Whether the process has installed its handler of that signal."""
    text = (Path("/proc") / str(pid) / "status").read_text().partition("SigCgt:")[2].split()[0]
    return bool(int(text, 16) >> (number - 1) & 1)
