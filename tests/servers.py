"""Real servers for tests, on loopback, each in a folder of its own and ended by its id."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import psycopg

_QUICK = {  # a test's cluster need not survive a power cut
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "max_connections": "60",
    "shared_buffers": "64MB",
}


def free_port() -> int:
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def postgres_program(name: str) -> str:
    """The path of one of the server's programs; Debian keeps them out of PATH."""
    for folder in sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True):
        if (folder / name).exists():
            return str(folder / name)
    found = shutil.which(name)
    if found is None:
        raise RuntimeError(f"{name} is not installed; `make test` installs it (package postgresql)")
    return found


def _unprivileged() -> int | None:
    """The user id to run Postgres as, which refuses to be root; None where we aren't root."""
    return pwd.getpwnam("postgres").pw_uid if os.geteuid() == 0 else None


@contextmanager
def postgres(folder: Path) -> Iterator[str]:
    """A fresh cluster in ``folder``; yields the URL of its server, ends it at the end."""
    user, data, port = _unprivileged(), folder / "data", free_port()
    folder.mkdir(parents=True, exist_ok=True)
    if user is not None:
        os.chown(folder, user, -1)
        for parent in folder.parents:  # pytest's temporary folders are the owner's alone
            if parent.stat().st_uid == os.geteuid() and len(parent.parts) > 2:
                parent.chmod(parent.stat().st_mode | 0o011)
    initdb = [postgres_program("initdb"), "-D", str(data), "-U", "weir", "-A", "trust", "-N"]
    subprocess.run(
        [*initdb, "-E", "UTF8", "--locale=C.UTF-8"],
        user=user,
        cwd=folder,
        check=True,
        capture_output=True,
    )
    options = [part for k, v in _QUICK.items() for part in ("-c", f"{k}={v}")]
    address = ["-h", "127.0.0.1", "-p", str(port), "-k", ""]
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen(
            [postgres_program("postgres"), "-D", str(data), *address, *options],
            user=user,
            cwd=folder,
            stdout=subprocess.DEVNULL,
            stderr=log,
        )
    url = f"postgresql://weir@127.0.0.1:{port}"
    try:
        _await_postgres(url, server, folder / "log")
        yield url
    finally:
        server.send_signal(signal.SIGINT)  # "fast": stores may still hold connections
        try:
            server.wait(3)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def _await_postgres(url: str, server: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + 30
    while True:
        try:
            psycopg.connect(f"{url}/postgres", connect_timeout=2).close()
            return
        except psycopg.OperationalError:
            if server.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"Postgres didn't start: {log.read_text()}") from None
            time.sleep(0.05)
