"""Findings, rules and receivers in a real store, for tests of evaluation and delivery."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from typing import Any

import orjson

from api.insight.alerts.rules import StoredRule, parse_rule
from api.insight.receivers import KIND_BY_NAME
from api.insight.receivers.sealed_secrets import ReceiverSeal
from api.store.alerts import mark_alerts
from api.store.base import FindingRow, Store
from api.store.base.alerts import ReceiverRow
from api.store.sql import findings as sql

_FIELDS = tuple(each.name for each in fields(FindingRow))


def keep_findings(store: Any, rows: Iterable[FindingRow]) -> None:
    """Stores them as the evaluator does, marks included."""
    with store.transaction() as transaction:
        for row in rows:
            values = [getattr(row, name) for name in _FIELDS]
            values[_FIELDS.index("offers_new_normal")] = 0
            transaction.run(sql.keep(values))
            mark_alerts(store.dialect, transaction, [row.key])


def keep_rule(store: Store, **given: Any) -> None:
    rule = parse_rule({"name": "Rule", "receivers": ["hook"], **given})
    store.keep_rule(StoredRule("r", "acme", rule, "key", 0, 0).row(), ())


def keep_hook(store: Store, url: str, secret_key: str, id: str = "hook") -> None:
    config, secret = KIND_BY_NAME["webhook"].check({"url": url})
    sealed = ReceiverSeal(secret_key).close(secret)
    text = orjson.dumps(config).decode()
    store.keep_receiver(
        ReceiverRow(id, "acme", id, "webhook", text, sealed, 1, "", "key", 0, 0), ()
    )
