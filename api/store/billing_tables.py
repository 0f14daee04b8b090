"""The tables of billing: budgets, tariffs, scheduled reports, and month-end forecasts."""

from __future__ import annotations

from typing import Final

from api.store.table_definition import Column, Table

# kind: budget, tariff or report; definition: JSON; due_ms: when a report is sent next
BILLING: Final = Table(
    "billing",
    (
        Column("id", "text"),
        Column("organization_id", "text"),
        Column("kind", "text"),
        Column("name", "text"),
        Column("definition", "text"),
        Column("due_ms", "int", required=False),
        Column("created_by", "text"),
        Column("created_ms", "int"),
        Column("updated_ms", "int"),
    ),
    key=("id",),
    indexes=("CREATE INDEX billing_by_organization ON billing (organization_id, kind)",),
)

AMOUNTS: Final = ("so_far", "expected", "low80", "high80", "low95", "high95")

# Of the local month that holds as_of_ms; due_ms: when it is recomputed; cost_…: of the same
# amounts, null without a price; tariff: the name of the tariff used, "" for a plain price
MONTH_END: Final = Table(
    "month_end",
    (
        Column("device_id", "int"),
        Column("as_of_ms", "int"),
        Column("due_ms", "int"),
        Column("month", "text"),
        *(Column(name, "real", required=False) for name in AMOUNTS),
        *(Column(f"cost_{name}", "real", required=False) for name in AMOUNTS),
        Column("currency", "text"),
        Column("tariff", "text"),
    ),
    key=("device_id",),
    indexes=("CREATE INDEX month_end_by_due ON month_end (due_ms)",),
)
