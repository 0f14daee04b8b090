"""The demo fleet as a live source of the writer."""

from __future__ import annotations

import logging
from threading import Event, Thread
from typing import Final

from api.domain.demo_fleet import Trial
from api.errors import Unavailable, UserError
from api.ingest.batch import Batch
from api.ingest.demo.feed import SOURCE, Fleet, catch_up, live
from api.ingest.demo.fleet import ORGANIZATION_ID
from api.ingest.submission import RowResult, Submission
from api.ingest.writer import Writer
from api.store.base import Store, Written
from api.timez import now_ms

RETRY_S: Final = 5.0
SUBMIT_WAIT_S: Final = 5.0

_log = logging.getLogger(__name__)


class DemoSource:
    """Sends the missed readings, then each reading when it is due, from a thread."""

    def __init__(self, store: Store, writer: Writer, trial: Trial | None = None) -> None:
        """``trial``: as of `Fleet.of`."""
        self._store, self._writer, self._trial = store, writer, trial
        self._stopping = Event()
        self._thread = Thread(target=self._run, name="demo", daemon=True)

    @property
    def _organization_id(self) -> str:
        return self._trial.organization_id if self._trial else ORGANIZATION_ID

    def start(self) -> None:
        """Starts the thread. Raises UserError if there is no demo fleet."""
        if Fleet.of(self._store, self._trial) is None:
            raise UserError("there is no demo fleet: run weir demo seed")
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        self._thread.join()

    def take(self, batch: Batch) -> Written:
        """`api.ingest.demo.feed.Taker`: waits until the batch is committed."""
        rows = [*batch.columns.rows(), *batch.registers]
        submission = Submission(self._organization_id, SOURCE, rows)
        count = self._writer.submit(submission, wait_s=SUBMIT_WAIT_S).result().count()
        return Written(count.get(RowResult.STORED, 0), count.get(RowResult.REPEATED, 0))

    def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                self._send()
            except Unavailable as error:
                _log.warning("the demo feed is waiting: %s", error)
                self._stopping.wait(RETRY_S)

    def _send(self) -> None:
        fleet = Fleet.of(self._store, self._trial)
        if fleet is None:
            raise Unavailable("There is no demo fleet.")
        start = now_ms()
        catch_up(self._store, fleet, start, self)
        live(self._store, fleet, start, self._stopping.wait, self)
