"""The demo fleet's tariff, budgets and scheduled report, as rows with ids that stay the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final
from uuid import NAMESPACE_URL, uuid5

import orjson

from api.domain.demo_fleet import Trial
from api.ingest.demo.fleet import IRRIGATION, TENANTS, TOWER
from api.insight.report_schedules import due_after
from api.insight.tariffs import definition
from api.metering.tariff import parse_tariff
from api.store.base import AuditEntry, BillingRow, Store
from api.store.base.alerts import ReceiverRow
from api.store.base.billing import BillingKind
from api.timez import zone

TARIFF: Final[Mapping[str, Any]] = {
    "name": "City water for tenants",
    "versions": [
        {
            "from": "1970-01-01",
            "fixed": "18.5",
            "rates": [
                {"perGallon": "0.0095"},
                {"perGallon": "0.0125", "above": "60000"},
                {"perGallon": "0.0165", "above": "180000"},
            ],
        }
    ],
}
# By (group, measure). Tenants use most of theirs; irrigation exceeds its own.
BUDGETS: Final[Mapping[tuple[str, str], str]] = {
    (TENANTS, "cost"): "26000",
    (IRRIGATION, "volume"): "320000",
}
RECEIVER: Final = "Facilities office"
ADDRESS: Final = "facilities@northside.example"
REPORT: Final = "Water of the week"


def ensure_billing(store: Store, trial: Trial) -> None:
    """Stores each row under its own id, so that a repeated step adds nothing twice."""
    store.keep_receiver(_receiver(trial), ())
    for row in _rows(trial):
        store.keep_billing_row(row, ())


def remove_billing(store: Store, trial: Trial, audit: Sequence[AuditEntry]) -> None:
    for row in _rows(trial):
        store.drop_billing_row(row, audit)
    store.drop_receiver(trial.organization_id, _receiver(trial).id, audit)


def _id(trial: Trial, name: str) -> str:
    return str(uuid5(NAMESPACE_URL, f"weir-demo/{trial.origin_ms}/{name}"))


def _receiver(trial: Trial) -> ReceiverRow:
    """Switched off, so that the demo fleet never sends a mail by itself."""
    at_ms = trial.origin_ms
    config = orjson.dumps({"to": [ADDRESS]}).decode()
    return ReceiverRow(
        _id(trial, RECEIVER), trial.organization_id, RECEIVER, "email", config, "", 0, "",
        trial.by, at_ms, at_ms,
    )  # fmt: skip


def _rows(trial: Trial) -> list[BillingRow]:
    report = {
        "name": REPORT,
        "every": "week",
        "timezone": TOWER.time_zone,
        "receivers": [_receiver(trial).id],
        "devices": [],
        "group": None,
        "paused": False,
    }
    due_ms = due_after("week", zone(TOWER.time_zone), trial.origin_ms)
    tariff = definition(parse_tariff(TARIFF), False, [TENANTS], [])
    return [
        _row(trial, "tariff", TARIFF["name"], tariff),
        *(
            _row(trial, "budget", f"group:{group}", {"measure": measure, "amount": amount})
            for (group, measure), amount in BUDGETS.items()
        ),
        _row(trial, "report", REPORT, report)._replace(due_ms=due_ms),
    ]


def _row(trial: Trial, kind: BillingKind, name: str, body: Mapping[str, Any]) -> BillingRow:
    at_ms = trial.origin_ms
    text = orjson.dumps(body).decode()
    return BillingRow(
        _id(trial, f"{kind}/{name}"), trial.organization_id, kind, name, text, None,
        trial.by, at_ms, at_ms,
    )  # fmt: skip
