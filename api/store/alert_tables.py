"""The tables of alerts: rules, receivers, alerts, silences, and the outbox."""

from __future__ import annotations

from typing import Final

from api.store.table_definition import Column, Table

ALERT_RULE: Final = Table(  # definition: JSON; live: evaluated with each reading
    "alert_rule",
    (
        Column("id", "text"),
        Column("organization_id", "text"),
        Column("name", "text"),
        Column("enabled", "small"),
        Column("live", "small"),
        Column("definition", "text"),
        Column("created_by", "text"),
        Column("created_ms", "int"),
        Column("updated_ms", "int"),
    ),
    key=("id",),
    indexes=("CREATE INDEX alert_rule_by_organization ON alert_rule (organization_id)",),
)

ALERT_RECEIVER: Final = Table(  # config: JSON; secret: sealed
    "alert_receiver",
    (
        Column("id", "text"),
        Column("organization_id", "text"),
        Column("name", "text"),
        Column("kind", "text"),
        Column("config", "text"),
        Column("secret", "text"),
        Column("enabled", "small"),
        Column("trouble", "text"),
        Column("created_by", "text"),
        Column("created_ms", "int"),
        Column("updated_ms", "int"),
    ),
    key=("id",),
    indexes=("CREATE INDEX alert_receiver_by_organization ON alert_receiver (organization_id)",),
)

# One episode of a rule on a device. subject: a kind of finding, "state" or a metric; due_ms: when
# it may change without a reading; data: the rest, JSON
ALERT: Final = Table(
    "alert",
    (
        Column("id", "text"),
        Column("organization_id", "text"),
        Column("rule_id", "text"),
        Column("device_key", "int"),
        Column("subject", "text"),
        Column("state", "text"),
        Column("rank", "small"),
        Column("cost_per_day", "real", required=False),
        Column("start_ms", "int"),
        Column("fired_ms", "int", required=False),
        Column("resolved_ms", "int", required=False),
        Column("due_ms", "int", required=False),
        Column("acknowledged_ms", "int", required=False),
        Column("group_id", "text", required=False),
        Column("data", "text"),
    ),
    key=("id",),
    indexes=(
        "CREATE INDEX alert_by_device ON alert (device_key, rule_id)",
        "CREATE INDEX alert_by_organization ON alert (organization_id, state, fired_ms)",
        "CREATE INDEX alert_by_due ON alert (due_ms) WHERE due_ms IS NOT NULL",
        "CREATE INDEX alert_by_group ON alert (group_id) WHERE group_id IS NOT NULL",
    ),
)

ALERT_SILENCE: Final = Table(  # null: every device, group or rule
    "alert_silence",
    (
        Column("id", "text"),
        Column("organization_id", "text"),
        Column("rule_id", "text", required=False),
        Column("device_id", "text", required=False),
        Column("group_name", "text", required=False),
        Column("subject", "text", required=False),
        Column("from_ms", "int"),
        Column("until_ms", "int"),
        Column("reason", "text"),
        Column("created_by", "text"),
        Column("created_ms", "int"),
    ),
    key=("id",),
    indexes=("CREATE INDEX alert_silence_by_organization ON alert_silence (organization_id)",),
)

# The outbox: a row for each message and receiver. thread: shared by an alert's "firing" and
# "resolved" messages; body: JSON; state: queued, sent, dead or dropped; place: the order within a
# thread
ALERT_MESSAGE: Final = Table(
    "alert_message",
    (
        Column("id", "text"),
        Column("organization_id", "text"),
        Column("receiver_id", "text"),
        Column("thread", "text"),
        Column("place", "int"),
        Column("event", "text"),
        Column("state", "text"),
        Column("created_ms", "int"),
        Column("due_ms", "int"),
        Column("attempts", "int"),
        Column("done_ms", "int", required=False),
        Column("response", "text"),
        Column("body", "text"),
    ),
    key=("id",),
    indexes=(
        "CREATE INDEX alert_message_by_due ON alert_message (due_ms) WHERE state = 'queued'",
        "CREATE INDEX alert_message_by_thread ON alert_message (thread, receiver_id, place)",
        "CREATE INDEX alert_message_by_organization ON alert_message (organization_id, created_ms)",
    ),
)

ALERT_CLOCK: Final = Table(  # name: run (latest), away and back (latest downtime)
    "alert_clock", (Column("name", "text"), Column("at_ms", "int")), key=("name",)
)

ALERTING: Final = (
    ALERT_RULE,
    ALERT_RECEIVER,
    ALERT,
    ALERT_SILENCE,
    ALERT_MESSAGE,
    ALERT_CLOCK,
)
