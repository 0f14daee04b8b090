"""Creates, feeds and removes the demo fleet that an administrator requested."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from threading import Event, Thread
from typing import Any, Final
from uuid import NAMESPACE_URL, uuid5

from api.domain.demo_fleet import MARK, Trial, removed
from api.errors import WeirError
from api.ingest.batch import Batch
from api.ingest.demo.billing import ensure_billing, remove_billing
from api.ingest.demo.feed import Fleet, seed
from api.ingest.demo.fleet import FLEET, ORGANIZATION_ID, device
from api.ingest.demo.source import DemoSource
from api.ingest.pipeline import OnBatch
from api.ingest.writer import Writer
from api.insight.alerts.management import checked_rule
from api.insight.alerts.rules import StoredRule
from api.store.base import AuditEntry, DeviceQuery, Progress, Store
from api.store.web.base import WebStore
from api.timez import now_ms

POLL_S: Final = 2.0
RULES: Final[Sequence[Mapping[str, Any]]] = (
    {"name": "Leaks and bursts", "kinds": ["continuous-flow", "burst"], "severity": "warning"},
    {"name": "Silent meters", "source": "state", "states": ["silent"], "hold": 900},
)

_log = logging.getLogger(__name__)


class Interrupted(Exception):
    """The process stops, or the fleet is to be removed."""


class DemoKeeper:
    """A thread of the writer. Each step may be interrupted and is repeated: existing devices, rules
    and readings aren't changed, and the history continues after its last batch."""

    def __init__(
        self, store: Store, open_web: Callable[[], WebStore], writer: Writer, key_file: Path
    ) -> None:
        """``open_web``: called to remove a fleet; a writer may run where no dashboard does.
        ``key_file``: of the demo organization, on this machine."""
        self._store, self._open_web, self._writer = store, open_web, writer
        self._key_file = key_file
        self._stopping = Event()
        self._thread = Thread(target=self._run, name="demo-keeper", daemon=True)
        self._source: DemoSource | None = None

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        self._thread.join()
        self._end_feed()

    def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                self.step()
            except Interrupted:
                pass
            except WeirError as error:  # the store is busy or away
                _log.warning("the demo fleet is waiting: %s", error)
            self._stopping.wait(POLL_S)

    def step(self) -> None:
        """Takes the next step of the request. Raises WeirError and Interrupted."""
        trial = Trial.anywhere(self._store)
        if trial is None:
            self._end_feed()
        elif trial.removing:
            self._end_feed()
            with closing(self._open_web()) as web:
                remove(self._store, web, trial, self._key_file)
        elif not trial.complete(self._store):
            make(self._store, trial, self._check)
        elif self._source is None:
            fleet = Fleet.of(self._store, trial)
            if fleet is not None:
                self._source = DemoSource(self._store, self._writer, trial)
                self._source.start()

    def _end_feed(self) -> None:
        if self._source is not None:
            self._source.stop()
            self._source = None

    def _check(self, batch: Batch) -> None:
        trial = Trial.anywhere(self._store)
        if self._stopping.is_set() or trial is None or trial.removing:
            raise Interrupted


def make(store: Store, trial: Trial, on_batch: OnBatch) -> None:
    """Creates its devices, rules, billing and history; existing ones aren't changed."""
    store.import_devices(trial.organization_id, [device(one, trial.origin_ms) for one in FLEET])
    for id, body in rules_of(trial).items():
        parsed = checked_rule(store, trial.scope, body)
        at_ms = trial.origin_ms
        rule = StoredRule(id, trial.organization_id, parsed, trial.by, at_ms, at_ms)
        store.keep_rule(rule.row(), ())
    ensure_billing(store, trial)
    fleet = Fleet.of(store, trial)
    if fleet is not None:
        seed(store, fleet, on_batch)


def rules_of(trial: Trial) -> dict[str, Mapping[str, Any]]:
    """Returns the rules by ids, which are the same each time."""
    return {
        str(uuid5(NAMESPACE_URL, f"weir-demo/{trial.origin_ms}/{body['name']}")): body
        for body in RULES
    }


def remove(store: Store, web: WebStore, trial: Trial, key_file: Path) -> None:
    """Deletes its devices with their readings, its embeds, rules and billing, then the request.
    What else the organization has stays; the demo organization goes too if it has nothing else."""
    at_ms, organization_id = now_ms(), trial.organization_id

    def audit(kind: str, action: str, subject: str) -> AuditEntry:
        reason = "The demo fleet is removed."
        return AuditEntry(at_ms, organization_id, trial.by, kind, action, subject, reason=reason)

    ids = {one.id for one in FLEET}
    for embed in web.embeds(organization_id):
        if embed.revoked_ms is None and ids.issuperset(embed.definition.devices):
            web.revoke_embed(embed.id, at_ms, [audit("embed", "revoke", embed.id)])
    for each in store.resolve(trial.scope, sorted(ids)):
        if each is not None:
            store.delete_device(each, [audit("device", "delete", each.id)])
    for id in rules_of(trial):
        store.drop_rule(organization_id, id, [audit("rule", "delete", id)])
    remove_billing(store, trial, ())
    store.write([], progress=Progress(MARK, organization_id))
    others = store.count_devices(trial.scope, DeviceQuery(active=None))
    if organization_id == ORGANIZATION_ID and not others:
        end = audit("organization", "delete", organization_id)
        store.delete_organization(organization_id, [end])
        key_file.unlink(missing_ok=True)
    else:
        removed(store, trial)
