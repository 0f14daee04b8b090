"""Real servers for tests on loopback, each in a folder of its own and ended by its process id."""

from __future__ import annotations

import fcntl
import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import gettempdir

import psycopg

_SMALL = {"max_connections": "60", "shared_buffers": "64MB"}
# A test's database need not survive a power cut.
_QUICK = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}


def first_handed_out() -> int:
    """The first port of the range that the system assigns by itself."""
    try:
        return int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    except OSError:
        return 32_768


_given: set[int] = set()
_book = -1  # a file with a byte for each port; open as long as this process lives


def free_port() -> int:
    """A port of 127.0.0.1 for a server that a test starts and may start again. It is reserved for
    this process: it lies below the ports that the system assigns, and other test processes see it
    locked."""
    global _book
    if _book < 0:
        path = Path(gettempdir()) / f"weir-ports-{os.getuid()}"
        _book = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    for _ in range(1_000):
        port = first_handed_out() - 1 - secrets.randbelow(10_000)
        if port not in _given and _locked(port) and _unused(port):
            _given.add(port)
            return port
    raise RuntimeError("no port is free")


def _locked(port: int) -> bool:
    try:
        fcntl.lockf(_book, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, port)
    except OSError:
        return False
    return True


def _unused(port: int) -> bool:
    with closing(socket.socket()) as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


def postgres_program(name: str) -> str:
    """The path of one of the server's programs; Debian keeps them out of PATH."""
    for folder in sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True):
        if (folder / name).exists():
            return str(folder / name)
    result = shutil.which(name)
    if result is None:
        raise RuntimeError(f"{name} is not installed; `make test` installs it (package postgresql)")
    return result


def _unprivileged() -> int | None:
    """The user id to run Postgres as, which refuses to run as root; None unless this is root."""
    return pwd.getpwnam("postgres").pw_uid if os.geteuid() == 0 else None


@contextmanager
def postgres(folder: Path, *, durable: bool = False) -> Iterator[str]:
    """Starts a fresh cluster in ``folder``, yields its server's URL and stops it. A ``durable`` one
    flushes its commits, as a production server does."""
    data = _folder_for_postgres(folder)
    initdb = [postgres_program("initdb"), "-D", str(data), "-U", "weir", "-A", "trust", "-N"]
    _run_as_postgres([*initdb, "-E", "UTF8", "--locale=C.UTF-8"], folder)
    with started_postgres(folder, durable=durable) as url:
        yield url


@contextmanager
def standby(primary_url: str, folder: Path) -> Iterator[str]:
    """A streaming standby of that server; yields its URL and stops it."""
    data = _folder_for_postgres(folder)
    copy = [postgres_program("pg_basebackup"), "-D", str(data), "-R", "-N", "-c", "fast"]
    _run_as_postgres([*copy, "-d", f"{primary_url}/postgres"], folder)
    with started_postgres(folder) as url:
        yield url


@contextmanager
def started_postgres(
    folder: Path, port: int | None = None, *, durable: bool = False
) -> Iterator[str]:
    """The server of an existing cluster in ``folder``."""
    port = port or free_port()
    settings = _SMALL if durable else _SMALL | _QUICK
    options = [part for k, v in settings.items() for part in ("-c", f"{k}={v}")]
    address = ["-h", "127.0.0.1", "-p", str(port), "-k", ""]
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen(
            [postgres_program("postgres"), "-D", str(folder / "data"), *address, *options],
            user=_unprivileged(),
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


def _folder_for_postgres(folder: Path) -> Path:
    """A folder that the user of Postgres can enter."""
    folder.mkdir(parents=True, exist_ok=True)
    user = _unprivileged()
    if user is not None:
        os.chown(folder, user, -1)
        for parent in folder.parents:  # pytest's temporary folders are closed to other users
            if parent.stat().st_uid == os.geteuid() and len(parent.parts) > 2:
                parent.chmod(parent.stat().st_mode | 0o011)
    return folder / "data"


def _run_as_postgres(command: list[str], folder: Path) -> None:
    subprocess.run(command, user=_unprivileged(), cwd=folder, check=True, capture_output=True)


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


# --- Mosquitto -----------------------------------------------------------------------------------


def mosquitto_program(name: str = "mosquitto") -> str:
    """The path of the broker or one of its programs; Debian keeps the broker out of PATH."""
    reply = shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")
    if reply is None:
        raise RuntimeError(f"{name} is not installed; `make test` installs it (package mosquitto)")
    return reply


KEEPING = (
    "persistence true",
    "autosave_on_changes true",
    "autosave_interval 1",
    "max_queued_messages 0",
    "max_inflight_messages 0",
)
"""The persistence settings of deploy/mosquitto.conf; a test compares them."""
EVERY_SECOND = tuple(line.replace("changes true", "changes false") for line in KEEPING)
"""The same for a broker that saves every second instead of after every change."""


class Mosquitto:
    """A real broker on a port of its own, which it keeps over restarts."""

    def __init__(self, folder: Path, *settings: str, anonymous: bool = True) -> None:
        self.folder, self.port = folder, free_port()
        folder.mkdir(parents=True, exist_ok=True)
        us = pwd.getpwuid(os.geteuid()).pw_name  # started by root, it would change its user
        lines = [f"user {us}", f"listener {self.port} 127.0.0.1", *settings]
        lines += [f"persistence_location {folder}/"]
        if anonymous:
            lines += ["allow_anonymous true"]
        self._configuration = folder / "mosquitto.conf"
        self._configuration.write_text("\n".join([*lines, ""]))
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"mqtt://127.0.0.1:{self.port}"

    def start(self) -> None:
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [mosquitto_program(), "-c", str(self._configuration)],
                stdout=subprocess.DEVNULL,
                stderr=log,
            )
        deadline = time.monotonic() + 30
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                if self._process.poll() is not None or time.monotonic() > deadline:
                    text = (self.folder / "log").read_text()
                    raise RuntimeError(f"Mosquitto didn't start: {text}") from None
                time.sleep(0.02)

    def kill(self) -> None:
        """As by kill -9: it saves nothing more."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        self._end(signal.SIGTERM)

    def _end(self, number: signal.Signals) -> None:
        if self._process is not None:
            self._process.send_signal(number)
            self._process.wait(10)
            self._process = None


@contextmanager
def mosquitto(folder: Path, *settings: str) -> Iterator[Mosquitto]:
    """A running broker, stopped at the end."""
    broker = Mosquitto(folder, *settings)
    broker.start()
    try:
        yield broker
    finally:
        broker.stop()


@contextmanager
def redis(folder: Path, port: int | None = None) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """A fresh Redis without persistence; yields its URL and its process, and stops it."""
    program = shutil.which("redis-server")
    if program is None:
        raise RuntimeError("redis-server is not installed; `make test` installs it")
    number = port or free_port()
    options = ["--port", str(number), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
    with (folder / "redis.log").open("wb") as log:
        server = subprocess.Popen([program, *options], cwd=folder, stdout=log, stderr=log)
    try:
        _await_port(number, server)
        yield f"redis://127.0.0.1:{number}/0", server
    finally:
        server.send_signal(signal.SIGCONT)  # a test may have stopped it
        server.kill()
        server.wait()


@contextmanager
def alertmanager(folder: Path) -> Iterator[str]:
    """The address of Debian's Alertmanager, running alone."""
    program = shutil.which("prometheus-alertmanager") or shutil.which("alertmanager")
    if program is None:
        raise RuntimeError("prometheus-alertmanager is not installed; `make test` installs it")
    port, config = free_port(), folder / "alertmanager.yml"
    config.write_text("route: {receiver: nobody}\nreceivers: [{name: nobody}]\n")
    address = f"127.0.0.1:{port}"
    command = [
        program, f"--config.file={config}", f"--storage.path={folder / 'data'}",
        f"--web.listen-address={address}", "--cluster.listen-address=",
    ]  # fmt: skip
    with (folder / "alertmanager.log").open("wb") as log:
        server = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        _await_port(port, server)
        yield f"http://{address}"
    finally:
        server.kill()
        server.wait()


def _await_port(port: int, server: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 30
    while True:
        with closing(socket.socket()) as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        if server.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError("the server didn't start")
        time.sleep(0.02)
