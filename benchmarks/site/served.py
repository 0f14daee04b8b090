"""The production server on loopback, with a fleet that keeps reporting during the measurement."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from uuid import uuid4

import httpx

from api.auth import key_digest
from api.store.base import Grant, Key, ReadingRow, Store
from api.timez import now_ms
from benchmarks.fleet import END_MS, Fleet
from benchmarks.ground import begun, in_order
from tests.servers import free_port

ROOT: Final = Path(__file__).resolve().parents[2]
AHEAD_MS: Final = 20 * 60_000  # how long the fleet keeps reporting
FEED_EVERY_S: Final = 1.0
STARTS_WITHIN_S: Final = 60.0
STOPS_WITHIN_S: Final = 40.0


@dataclass(frozen=True)
class Served:
    """``keys`` see the whole fleet, each a principal of its own. ``ids`` are its devices in the
    order of the fleet. ``pid`` is the parent of the server's other processes."""

    url: str
    keys: list[str]
    ids: list[str]
    fleet: Fleet
    store_url: str
    pid: int

    def processor_s(self) -> float:
        """Returns the processor seconds that the server's running processes have used; Linux
        only."""
        return sum(map(_used_s, (self.pid, *_children(self.pid))))


def _children(pid: int) -> list[int]:
    listed = Path(f"/proc/{pid}/task/{pid}/children").read_text("ascii").split()
    return [descendant for child in map(int, listed) for descendant in (child, *_children(child))]


def _used_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(") ")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def served(fleet: Fleet, folder: Path, *, keys: int, workers: int = 2) -> Iterator[Served]:
    """Runs `weir serve` with the fleet's readings up to now; further ones arrive while it runs."""
    store_url = f"sqlite:///{folder / 'site.sqlite'}"
    store, organization = begun(store_url, fleet)
    try:
        given = [_key(store, organization, number) for number in range(keys)]
        devices = in_order(store, organization)
        coming = _fill(store, fleet, [device.key for device in devices])
        with _feeding(store, coming), production(store_url, folder, workers) as (url, pid):
            yield Served(url, given, [device.id for device in devices], fleet, store_url, pid)
    finally:
        store.close()


def _key(store: Store, organization: str, number: int) -> str:
    secret, everything = str(uuid4()), Grant(everything=True)
    digest = key_digest(secret)
    store.create_key(Key(f"key_site_{number}", organization, "site", digest, everything, 0))
    return secret


# --- Readings ------------------------------------------------------------------------------------


def _fill(store: Store, fleet: Fleet, keys: list[int]) -> list[ReadingRow]:
    """Writes the readings up to now. Returns the later ones, in the order of their arrival."""
    now = now_ms()
    shift = now + AHEAD_MS - END_MS
    coming: list[ReadingRow] = []
    for index, key in enumerate(keys):
        for batch in fleet.batches(index, key):
            moved: list[ReadingRow] = [(row[0], row[1] + shift, *row[2:]) for row in batch]
            store.write([row for row in moved if row[1] <= now])
            coming += (row for row in moved if row[1] > now)
    return sorted(coming, key=lambda row: row[1])


@contextmanager
def _feeding(store: Store, coming: list[ReadingRow]) -> Iterator[None]:
    ending = threading.Event()

    def feed() -> None:
        done = 0
        while not ending.wait(FEED_EVERY_S):
            now, start = now_ms(), done
            while done < len(coming) and coming[done][1] <= now:
                done += 1
            if done > start:
                store.write(coming[start:done])

    thread = threading.Thread(target=feed, name="feed")
    thread.start()
    try:
        yield
    finally:
        ending.set()
        thread.join()


# --- The server ----------------------------------------------------------------------------------


@contextmanager
def production(store_url: str, folder: Path, workers: int) -> Iterator[tuple[str, int]]:
    """Runs `weir serve` over an existing store; yields its address and its parent process."""
    port = free_port()
    environ = {k: v for k, v in os.environ.items() if not k.startswith(("WEIR_", "FLASK_"))}
    environ |= {"WEIR_DATABASE": store_url, "WEIR_INSTANCE": str(folder / "instance")}
    words = ["serve", "--host", "127.0.0.1", "--port", str(port), "--workers", str(workers)]
    command = [sys.executable, "-m", "flask", *words]
    url = f"http://127.0.0.1:{port}"
    with process(command, environ=environ) as running:
        await_answer(f"{url}/healthz", running)
        yield url, running.pid


@contextmanager
def process(
    command: list[str], *, environ: dict[str, str] | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    """Runs a child process of the project's folder, ended by its id."""
    running = subprocess.Popen(command, cwd=ROOT, env=environ, stdout=subprocess.DEVNULL)
    try:
        yield running
    finally:
        running.terminate()
        try:
            running.wait(STOPS_WITHIN_S)
        except subprocess.TimeoutExpired:
            running.kill()
            running.wait()


def await_answer(url: str, running: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + STARTS_WITHIN_S
    while True:
        try:
            if httpx.get(url, timeout=5).status_code == 200:
                return
        except httpx.TransportError:
            pass
        if running.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError(f"nothing answers at {url}")
        time.sleep(0.1)
