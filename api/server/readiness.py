"""Health checks of this host.

Overall status: **not ready** (it can't serve; a load balancer should use another host),
**degraded** (it serves, but an operator should look), or **ready**.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as Late
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from time import monotonic, time
from typing import Any, Final

from api.errors import WeirError
from api.settings import Settings
from api.store.base import Store
from api.telemetry import writer_status

OK: Final = "ok"
DEGRADED: Final = "degraded"
FAILED: Final = "failed"
OVERALL: Final = {OK: "ready", DEGRADED: "degraded", FAILED: "not ready"}
LAG_S: Final = 10.0
COMMIT_S: Final = 10.0
PATIENCE_S: Final = 3.0
CACHE_S: Final = 1.0  # seconds; more frequent requests get the same checks


@dataclass(frozen=True, slots=True)
class Check:
    """One check. ``detail`` is for people; ``facts`` are numbers by their names in JSON."""

    status: str = OK
    detail: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def as_json(self) -> dict[str, Any]:
        detail = {"detail": self.detail} if self.detail else {}
        return {"status": self.status, **detail, **self.facts}


Checks = Mapping[str, Check]


def overall(checks: Checks) -> str:
    statuses = {check.status for check in checks.values()}
    return next(status for status in (FAILED, DEGRADED, OK) if status in statuses or status == OK)


class Readiness:
    """Runs the checks. Thread-safe. ``store`` is None for the dashboard of another server."""

    def __init__(self, store: Store | None, settings: Settings) -> None:
        self._store, self._settings = store, settings
        self._folder = Path(settings.instance)
        self._lock = Lock()
        self._executor = ThreadPoolExecutor(1, thread_name_prefix="readiness")
        self._pending: Future[Checks] | None = None
        self._cached: Checks = {}
        self._cached_at_s = -CACHE_S

    def checks(self) -> Checks:
        """Returns results at most a second old. Returns within a few seconds even if the store
        hangs."""
        with self._lock:
            if monotonic() - self._cached_at_s >= CACHE_S:
                self._cached, self._cached_at_s = self._look(), monotonic()
            return self._cached

    def _look(self) -> Checks:
        checks: dict[str, Check] = {}
        if self._store is not None:
            checks.update(self._of_store(self._store))
            writer = writer_status.read(self._folder)
            checks["commit"] = _commit(self._store, writer)
            checks["writer"] = _writer(writer, alone=self._store.file() is not None)
            if self._settings.mqtt_url:
                checks["feed"] = _feed(writer_status.read_all(self._folder))
            if self._settings.mqtt_listen:
                checks["listener"] = _listener(writer_status.read(self._folder))
        checks["disk"] = self._disk()
        return checks

    def _of_store(self, store: Store) -> Checks:
        """Returns the checks that read the store. While one hangs, no second one is started."""
        if self._pending is None:
            self._pending = self._executor.submit(_check_store, store)
        try:
            checks = self._pending.result(PATIENCE_S)
        except Late:
            return {"store": Check(FAILED, f"No response within {PATIENCE_S:g} s.")}
        self._pending = None
        return checks

    def _disk(self) -> Check:
        file = None if self._store is None else self._store.file()
        place = self._folder if file is None else file.path.parent
        try:
            free = shutil.disk_usage(place).free
        except OSError as error:
            return Check(DEGRADED, f"The free disk space is unknown: {error.strerror}.")
        facts = {"freeBytes": free}
        if free < self._settings.disk_min_mb * 1_000_000:
            return Check(DEGRADED, "The store's disk is almost full.", facts)
        return Check(OK, "", facts)


def _check_store(store: Store) -> Checks:
    checks: dict[str, Check] = {}
    # The file is checked twice: whether it exists, and again once reading has opened it.
    looks = (("file", _file_there), ("store", _store), ("file", _file), ("replica", _replica))
    for name, look in looks:
        try:
            check = look(store)
        except WeirError as error:
            check = Check(FAILED, getattr(error, "detail", "") or str(error))
        if check is not None:
            checks[name] = check
        if check is not None and check.status == FAILED:
            break
    return checks


def _store(store: Store) -> Check:
    store.check()
    return Check(OK, "", {"schema": store.schema_version()})


def _file_there(store: Store) -> Check | None:
    file = store.file()
    if file is not None and file.inode is None:
        return Check(FAILED, "The store's file is missing.", {"inode": None})
    return None


def _file(store: Store) -> Check | None:
    """Checks for a file that was deleted or replaced: processes that have it open can still read
    it."""
    file = store.file()
    if file is None:
        return None
    facts = {"inode": file.inode}
    if file.opened not in (None, file.inode):
        return Check(FAILED, "The store's file was replaced by another one.", facts)
    if file.problem:
        return Check(DEGRADED, file.problem, facts)
    return Check(OK, "", facts)


def _replica(store: Store) -> Check | None:
    replica = store.replica()
    if replica is None:
        return None
    facts = {"receiving": replica.receiving, "lagS": replica.lag_s}
    if not replica.receiving:
        return Check(DEGRADED, "The standby has no connection to its primary.", facts)
    if replica.lag_s is None or replica.lag_s > LAG_S:
        return Check(DEGRADED, f"The standby is more than {LAG_S:g} s behind.", facts)
    return Check(OK, "", facts)


def _commit(store: Store, writer: writer_status.WriterStatus | None) -> Check:
    """Returns the seconds since the last commit. There is no limit: how long is too long depends on
    the fleet."""
    file = store.file()
    times_s = [at for at in (writer and writer.last_commit_s, file and file.written_s) if at]
    return Check(OK, "", {"ageS": round(max(0.0, time() - max(times_s)), 1) if times_s else None})


def _writer(status: writer_status.WriterStatus | None, *, alone: bool) -> Check:
    """Checks the writer. SQLite's one writer runs on the file's host; that of Postgres may run
    elsewhere."""
    if status is None:
        return Check(DEGRADED if alone else OK, "No writer is running on this host.")
    facts: dict[str, Any] = {"waitingRows": status.waiting_rows}
    if not status.fresh:
        return Check(DEGRADED, "The writer has stopped or hangs: no readings are stored.", facts)
    if status.committing_s >= COMMIT_S:
        facts["committingS"] = status.committing_s
        took = f"{status.committing_s:.0f} s"
        return Check(DEGRADED, f"The writer has been inside one commit for {took}.", facts)
    if status.problem:
        return Check(DEGRADED, "The writer can't store readings at the moment; it retries.", facts)
    return Check(OK, "", facts)


def _feed(statuses: Sequence[writer_status.WriterStatus]) -> Check:
    """Returns the worst state of all MQTT ingesters on this host."""
    feeds = [status for status in statuses if status.feed is not None]
    last = [status.last_message_s for status in feeds if status.last_message_s]
    facts = {
        "ingesters": sum(status.fresh for status in feeds),
        "ageS": round(max(0.0, time() - max(last)), 1) if last else None,
    }
    if not facts["ingesters"]:
        return Check(DEGRADED, "No ingester is running: messages wait at the broker.", facts)
    if not all(status.fresh for status in feeds):
        return Check(DEGRADED, "An ingester has stopped or hangs: its messages wait.", facts)
    if any(status.feed for status in feeds):
        return Check(DEGRADED, "The broker can't be reached, or refuses the connection.", facts)
    return Check(OK, "", facts)


def _listener(status: writer_status.WriterStatus | None) -> Check:
    """Checks whether meters can connect by MQTT."""
    if status is None or not status.fresh or status.listener is None:
        return Check(DEGRADED, "No writer on this host listens to meters.", {"clients": 0})
    last_s = status.listener_message_s
    age_s = None if last_s is None else round(max(0.0, time() - last_s), 1)
    facts = {"clients": status.clients, "ageS": age_s}
    if status.listener:
        return Check(DEGRADED, "Meters can't connect by MQTT: the log has the reason.", facts)
    return Check(OK, "", facts)
