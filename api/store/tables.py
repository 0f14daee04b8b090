"""The tables, built from the catalog.

The time series is ``reading``, one ``rollup_…`` per stored resolution, ``hour_counter`` and
``undated``. ``hour_counter`` has the number of rows of each finer table per hour: counts are sums.
``undated`` has the instants of readings sent without a timestamp. Few devices send these.

Their primary keys start with ``device_id``. They have no other unique column, reference or
sequence: they can be distributed by device.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from api.catalog import (
    BESIDE_REGISTER,
    COARSEST_STORED,
    METRICS,
    RAW,
    ROLLED_METRICS,
    STORED,
    Metric,
    Resolution,
)
from api.metering.windows import SPANS
from api.store.alert_tables import ALERTING
from api.store.annotation_tables import ANNOTATION, AUDIT
from api.store.billing_tables import BILLING, MONTH_END
from api.store.table_definition import Column, Table

# --- The time series -----------------------------------------------------------------------------

_DEVICE_AND_TIME = (Column("device_id", "int"), Column("ts", "int"))

READING: Final = Table(
    "reading",
    (
        *_DEVICE_AND_TIME,
        *(Column(metric.name, "real", required=False) for metric in METRICS),
        Column("seq", "small", default="0"),
    ),
    key=("device_id", "ts", "seq"),
    covering=True,
)


def counter(resolution: Resolution) -> str:
    """Returns the column that counts a coarser row's children of that resolution."""
    return "n" if resolution is RAW else f"n_{resolution.name}"


def finer(resolution: Resolution) -> tuple[Resolution, ...]:
    """Returns the stored resolutions that a stored one is computed from, finest first."""
    return STORED[: STORED.index(resolution)]


def _rolled(metric: Metric) -> list[Column]:
    """``_min`` and ``_max`` are null where a single value makes them equal to ``_sum``."""
    columns = [Column(f"{metric.name}_sum", "real", required=False)]
    columns.append(Column(f"{metric.name}_n", "small"))
    if metric.extremes:
        columns += [Column(f"{metric.name}_{end}", "real", required=False) for end in _ENDS]
    return columns


_ENDS = ("min", "max")


def _rollup(resolution: Resolution) -> Table:
    children = (RAW, *finer(resolution))
    return Table(
        resolution.table,
        (
            *_DEVICE_AND_TIME,
            *(Column(counter(child), "small") for child in children),
            *(column for metric in ROLLED_METRICS for column in _rolled(metric)),
        ),
        key=("device_id", "ts"),
    )


ROLLUPS: Final = {resolution: _rollup(resolution) for resolution in STORED}

COUNTED: Final = (RAW, *finer(COARSEST_STORED))
HOUR_COUNTER: Final = Table(
    "hour_counter",
    (*_DEVICE_AND_TIME, *(Column(counter(child), "small") for child in COUNTED)),
    key=("device_id", "ts"),
    covering=True,
)
UNDATED: Final = Table("undated", _DEVICE_AND_TIME, key=("device_id", "ts"))
READING_ORIGINAL: Final = replace(  # the original values of readings that a correction has changed
    READING, name="reading_original", covering=False
)
REGISTER: Final = Table(  # as sent, with the other quantities; unit '': the device's
    "register",
    (
        *_DEVICE_AND_TIME,
        Column("value", "real"),
        Column("unit", "text", default="''"),
        *(Column(metric.name, "real", required=False) for metric in BESIDE_REGISTER),
    ),
    key=("device_id", "ts"),
    covering=True,
)
DERIVED_SEQ: Final = -1  # seq of the readings that are derived from registers
TIME_SERIES: Final = (
    READING, *ROLLUPS.values(), HOUR_COUNTER, UNDATED, READING_ORIGINAL, REGISTER,
)  # fmt: skip

# --- Status and findings -------------------------------------------------------------------------

_DEVICE_ID = Column("device_id", "int")

# findings: open kinds, comma-separated; maker: the saving process; finding_rank and finding_cost:
# severity rank (0 is the worst) and cost a day of the worst open finding, null without one
DEVICE_STATUS: Final = Table(
    "device_status",
    (
        _DEVICE_ID,
        Column("as_of_ms", "int"),
        Column("updated_ms", "int"),
        Column("due_ms", "int"),
        Column("state", "text"),
        Column("seen_ms", "int", required=False),
        Column("cadence_ms", "int"),
        Column("event_driven", "small"),
        Column("bucket_ms", "int"),
        *(Column(c, "real", required=False) for c in ("flow", "signal_strength", "network_rssi")),
        *(
            column
            for span in SPANS
            for column in (
                Column(f"actual_{span.name}", "int"),
                Column(f"expected_{span.name}", "int"),
                Column(f"quality_min_{span.name}", "real", required=False),
                Column(f"quality_max_{span.name}", "real", required=False),
            )
        ),
        Column("volume_today", "real", required=False),
        Column("volume_month", "real", required=False),
        Column("volume_usual", "real", required=False),
        Column("price", "real", required=False),
        Column("currency", "text"),
        Column("searched", "text"),
        Column("maker", "text"),
        Column("findings", "text", default="''"),
        Column("finding_rank", "small", required=False),
        Column("finding_cost", "real", required=False),
    ),
    key=("device_id",),
    indexes=("CREATE INDEX device_status_by_due ON device_status (due_ms)",),
)

INSIGHT_DUE: Final = Table(  # instants from which on readings are new for status and findings
    "insight_due",
    (
        _DEVICE_ID,
        Column("status_ms", "int", required=False),
        Column("findings_ms", "int", required=False),
        Column("seq", "int"),
    ),
    key=("device_id",),
    indexes=(
        "CREATE INDEX insight_due_status ON insight_due (device_id) WHERE status_ms IS NOT NULL",
        "CREATE INDEX insight_due_findings ON insight_due (device_id)"
        " WHERE findings_ms IS NOT NULL",
    ),
)

FINDING: Final = Table(
    "finding",
    (
        _DEVICE_ID,
        Column("kind", "text"),
        Column("opened_ms", "int"),
        Column("id", "text"),
        Column("severity", "text"),
        Column("start_ms", "int"),
        Column("end_ms", "int", required=False),
        Column("value", "real"),
        Column("unit", "text"),
        Column("usual", "real", required=False),
        Column("gallons", "real", required=False),
        Column("cost_per_day", "real", required=False),
        Column("words", "text"),
        Column("offers_new_normal", "small"),
        Column("rank", "small"),  # rank: of the severity, worst first
        Column("usual_per_day", "real"),
        Column("dismissed_ms", "int", required=False),
        Column("dismissed_by", "text", required=False),
        Column("reason", "text", required=False),
        Column("judgement", "text", required=False),
    ),
    key=("device_id", "kind", "opened_ms"),
    indexes=(
        "CREATE INDEX finding_by_id ON finding (id)",
        "CREATE INDEX finding_by_device ON finding"
        " (device_id, dismissed_ms, end_ms, severity, kind, start_ms)",
        "CREATE INDEX finding_by_order ON finding (rank, COALESCE(cost_per_day, 0) DESC,"
        " usual_per_day DESC, start_ms, id, dismissed_ms, end_ms, severity, device_id, kind)",
    ),
)

# basis: digest of the facts and settings used; as_of_ms: the time of evaluation; due_ms: when
# silence may become a finding; next_ms: first hour not evaluated; version: number of writes
FINDING_STATE: Final = Table(
    "finding_state",
    (
        _DEVICE_ID,
        Column("version", "int"),
        Column("basis", "text"),
        Column("updated_ms", "int"),
        Column("next_ms", "int"),
        Column("as_of_ms", "int", required=False),
        Column("made_ms", "int"),
        Column("due_ms", "int", required=False),
        Column("data", "blob"),
    ),
    key=("device_id",),
    indexes=("CREATE INDEX finding_state_by_due ON finding_state (due_ms)",),
)

# mark: changes with each change, so that a device changed during an evaluation stays due
ALERT_DUE: Final = Table("alert_due", (_DEVICE_ID, Column("mark", "int")), key=("device_id",))

OF_DEVICES: Final = (DEVICE_STATUS, INSIGHT_DUE, FINDING, FINDING_STATE, ALERT_DUE, MONTH_END)
DISTRIBUTED: Final = (*TIME_SERIES, *OF_DEVICES)

# --- The directory -------------------------------------------------------------------------------

ORGANIZATION: Final = Table(
    "organization",
    (
        Column("id", "text"),
        Column("name", "text"),
        Column("active", "small"),
        Column("created_ms", "int"),
        Column("updated_ms", "int"),
        Column("default_cost_per_gallon", "real", required=False),
        Column("account_organizations", "text", required=False),
        Column("subscriptions", "text", required=False),
    ),
    key=("id",),
)

DEVICE: Final = Table(
    "device",
    (
        Column("key", "int"),
        Column("id", "text"),
        Column("organization_id", "text"),
        Column("serial_number", "text"),
        Column("network_unique_identifier", "text"),
        Column("category", "text"),
        Column("label", "text"),
        Column("created_ms", "int"),
        Column("updated_ms", "int"),
        Column("installed_on_ms", "int"),
        Column("installed", "small"),
        Column("active", "small"),
        Column("cost_per_gallon", "text"),
        Column("alerts_active", "small"),
        Column("k_factor", "text"),
        Column("time_zone", "text"),
        Column("model", "text"),
        Column("reseller_id", "text", required=False),
        Column("distributor_id", "text", required=False),
        Column("config", "text", required=False),
        Column("billing_subscriptions", "text"),
        Column("reporting_interval_s", "real", required=False),
    ),
    key=("key",),
    indexes=(
        "CREATE UNIQUE INDEX device_by_id ON device (id)",
        "CREATE UNIQUE INDEX device_by_serial_number"
        " ON device (organization_id, serial_number) WHERE active = 1",
        "CREATE UNIQUE INDEX device_by_network_unique_identifier"
        " ON device (organization_id, network_unique_identifier) WHERE active = 1",
        "CREATE INDEX device_by_organization ON device (organization_id)",
    ),
)

# In order of the label, and in order of the status table for every other order. The first has more
# columns than it needs: where either would do, SQLite uses the narrower one.
LISTED_DEVICES: Final = (
    "CREATE INDEX device_by_label ON device"
    " (organization_id, active, label, id, key, serial_number, network_unique_identifier)",
    "CREATE INDEX device_listed ON device (organization_id, active, key, label, id)",
)

DEVICE_GROUP: Final = Table(
    "device_group",
    (Column("name", "text"), Column("device_key", "int")),
    key=("device_key", "name"),
    indexes=("CREATE INDEX device_group_by_name ON device_group (name)",),
)

DEVICE_ANCESTOR: Final = Table(  # the meters upstream of a device; depth 1: its parent
    "device_ancestor",
    (Column("device_key", "int"), Column("ancestor_key", "int"), Column("depth", "int")),
    key=("device_key", "ancestor_key"),
    indexes=("CREATE INDEX device_ancestor_by_ancestor ON device_ancestor (ancestor_key)",),
)

API_KEY: Final = Table(
    "api_key",
    (
        Column("key_id", "text"),
        Column("organization_id", "text"),
        Column("name", "text"),
        Column("digest", "blob"),
        Column("everything", "small"),
        Column("created_ms", "int"),
        Column("expires_ms", "int", required=False),
        Column("revoked_ms", "int", required=False),
    ),
    key=("key_id",),
    indexes=("CREATE UNIQUE INDEX api_key_by_digest ON api_key (digest)",),
)

KEY_GRANT: Final = Table(  # kind: device (value: its UUID) or group (value: its name)
    "key_grant",
    (Column("key_id", "text"), Column("kind", "text"), Column("value", "text")),
    key=("key_id", "kind", "value"),
)

KEY_USE: Final = Table(  # when a key was last used, to a few minutes
    "key_use", (Column("key_id", "text"), Column("used_ms", "int")), key=("key_id",)
)

ORGANIZATION_SETTING: Final = Table(  # name: currency, zone, units, demo
    "organization_setting",
    (Column("organization_id", "text"), Column("name", "text"), Column("value", "text")),
    key=("organization_id", "name"),
)

# --- Ingest --------------------------------------------------------------------------------------

REFUSAL: Final = Table(
    "refusal",
    (
        Column("organization_id", "text"),
        Column("source", "text"),
        Column("reason", "text"),
        Column("device", "text"),
        Column("count", "int"),
        Column("first_seen_ms", "int"),
        Column("last_seen_ms", "int"),
        Column("sample", "text"),
    ),
    key=("organization_id", "source", "reason", "device"),
)

IMPORT_PROGRESS: Final = Table(
    "import_progress",
    (
        Column("digest", "text"),
        Column("organization_id", "text"),
        Column("position", "int"),
        Column("stored", "int"),
        Column("repeated", "int"),
        Column("refused", "int"),
        Column("complete", "small"),
    ),
    key=("digest", "organization_id"),
)

RETENTION: Final = Table(  # name: raw
    "retention", (Column("name", "text"), Column("from_ms", "int")), key=("name",)
)

INSIGHT_SETTING: Final = (
    Table(  # level: organization, group (target: its name) or device (its UUID)
        "insight_setting",
        (
            Column("organization_id", "text"),
            Column("level", "text"),
            Column("target", "text"),
            Column("kind", "text"),
            Column("name", "text"),
            Column("value", "real"),
        ),
        key=("organization_id", "level", "target", "kind", "name"),
    )
)

HOLIDAY: Final = Table(  # day: 2026-01-01
    "holiday",
    (Column("organization_id", "text"), Column("day", "text")),
    key=("organization_id", "day"),
)

SMALL_TABLES: Final = (
    ORGANIZATION, DEVICE, DEVICE_GROUP, DEVICE_ANCESTOR, API_KEY, KEY_GRANT, KEY_USE,
    ORGANIZATION_SETTING, REFUSAL, IMPORT_PROGRESS, RETENTION, INSIGHT_SETTING, HOLIDAY,
    ANNOTATION, AUDIT, *ALERTING, BILLING,
)  # fmt: skip
TABLES: Final = (*DISTRIBUTED, *SMALL_TABLES)
