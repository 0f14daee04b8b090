"""Whether this host can answer, and what it would say if it were asked how it is.

Three words. **Not ready**: it can't answer, a balancer should ask another host. **Degraded**: it
answers, and somebody should look. **Ready**.
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
BELIEVED_S: Final = 1.0  # whoever asks more often gets the same answer


@dataclass(frozen=True, slots=True)
class Check:
    """``said`` is for people; ``facts`` are numbers under the names that they have in JSON."""

    status: str = OK
    said: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def as_json(self) -> dict[str, Any]:
        return {"status": self.status, **({"detail": self.said} if self.said else {}), **self.facts}


Checks = Mapping[str, Check]


def overall(checks: Checks) -> str:
    said = {check.status for check in checks.values()}
    return next(status for status in (FAILED, DEGRADED, OK) if status in said or status == OK)


class Readiness:
    """For any number of threads. ``store`` None: a dashboard of another server."""

    def __init__(self, store: Store | None, settings: Settings) -> None:
        self._store, self._settings = store, settings
        self._folder = Path(settings.instance)
        self._lock = Lock()
        self._asking = ThreadPoolExecutor(1, thread_name_prefix="readiness")
        self._asked: Future[Checks] | None = None
        self._known: Checks = {}
        self._known_s = -BELIEVED_S

    def checks(self) -> Checks:
        """At most a second old, and within a few seconds even where the store hangs."""
        with self._lock:
            if monotonic() - self._known_s >= BELIEVED_S:
                self._known, self._known_s = self._look(), monotonic()
            return self._known

    def _look(self) -> Checks:
        found: dict[str, Check] = {}
        if self._store is not None:
            found.update(self._of_store(self._store))
            said = writer_status.read(self._folder)
            found["commit"] = _commit(self._store, said)
            found["writer"] = _writer(said, alone=self._store.file() is not None)
            if self._settings.mqtt_url:
                found["feed"] = _feed(writer_status.read_all(self._folder))
        found["disk"] = self._disk()
        return found

    def _of_store(self, store: Store) -> Checks:
        """What has to be asked of the store. A question that hangs isn't asked a second time."""
        if self._asked is None:
            self._asked = self._asking.submit(_ask, store)
        try:
            found = self._asked.result(PATIENCE_S)
        except Late:
            return {"store": Check(FAILED, f"No response within {PATIENCE_S:g} s.")}
        self._asked = None
        return found

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


def _ask(store: Store) -> Checks:
    found: dict[str, Check] = {}
    # The file first, if it is there at all; and again, once asking has opened it.
    looks = (("file", _file_there), ("store", _store), ("file", _file), ("replica", _replica))
    for name, look in looks:
        try:
            check = look(store)
        except WeirError as error:
            check = Check(FAILED, getattr(error, "detail", "") or str(error))
        if check is not None:
            found[name] = check
        if check is not None and check.status == FAILED:
            break
    return found


def _store(store: Store) -> Check:
    store.check()
    return Check(OK, "", {"schema": store.schema_version()})


def _file_there(store: Store) -> Check | None:
    file = store.file()
    if file is not None and file.inode is None:
        return Check(FAILED, "The store's file is missing.", {"inode": None})
    return None


def _file(store: Store) -> Check | None:
    """A file that was deleted or replaced goes on answering whoever has it open."""
    file = store.file()
    if file is None:
        return None
    facts = {"inode": file.inode}
    if file.opened not in (None, file.inode):
        return Check(FAILED, "The store's file was replaced by another one.", facts)
    if file.trouble:
        return Check(DEGRADED, file.trouble, facts)
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


def _commit(store: Store, said: writer_status.WriterStatus | None) -> Check:
    """How long ago something was last stored. Whether that is long only the fleet can tell."""
    file = store.file()
    known = [at for at in (said and said.last_commit_s, file and file.written_s) if at]
    return Check(OK, "", {"ageS": round(max(0.0, time() - max(known)), 1) if known else None})


def _writer(said: writer_status.WriterStatus | None, *, alone: bool) -> Check:
    """A file's one writer runs where the file is; a server's may run on another host."""
    if said is None:
        return Check(DEGRADED if alone else OK, "No writer is running on this host.")
    facts: dict[str, Any] = {"waitingRows": said.waiting_rows}
    if not said.fresh:
        return Check(DEGRADED, "The writer has stopped or hangs: no readings are stored.", facts)
    if said.committing_s >= COMMIT_S:
        facts["committingS"] = said.committing_s
        took = f"{said.committing_s:.0f} s"
        return Check(DEGRADED, f"The writer has been inside one commit for {took}.", facts)
    if said.trouble:
        return Check(DEGRADED, f"Readings aren't being stored. {said.trouble}", facts)
    return Check(OK, "", facts)


def _feed(said: Sequence[writer_status.WriterStatus]) -> Check:
    """Of all that take in what the broker has, on this host: the worst is told."""
    feeds = [one for one in said if one.feed is not None]
    last = [one.last_message_s for one in feeds if one.last_message_s]
    facts = {
        "ingesters": sum(one.fresh for one in feeds),
        "ageS": round(max(0.0, time() - max(last)), 1) if last else None,
    }
    if not facts["ingesters"]:
        return Check(DEGRADED, "No ingester is running: messages wait at the broker.", facts)
    if not all(one.fresh for one in feeds):
        return Check(DEGRADED, "An ingester has stopped or hangs: its messages wait.", facts)
    if any(one.feed for one in feeds):
        return Check(DEGRADED, "The broker can't be reached, or refuses the connection.", facts)
    return Check(OK, "", facts)
