"""Alerts as a file: those that fire, then those resolved, latest first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from api.client.alerts import Alert
from api.timez import now_ms, stamp
from components.alerts.queries import every_alert
from components.fleet.queries import ServiceAccess
from components.url_state import text_param
from web.downloads.names import file_stem
from web.downloads.table import Column, Kind, Part, Table

_COLUMNS = (
    Column("state", Kind.TEXT),
    Column("severity", Kind.TEXT),
    Column("kind", Kind.TEXT, width=18),
    Column("serial_number", Kind.TEXT, width=18),
    Column("label", Kind.TEXT, width=28),
    Column("rule", Kind.TEXT, width=28),
    Column("start_utc", Kind.INSTANT, width=20),
    Column("fired_utc", Kind.INSTANT, width=20),
    Column("end_utc", Kind.INSTANT, width=20),
    Column("sent", Kind.TEXT, width=28),
    Column("acknowledged_utc", Kind.INSTANT, width=20),
    Column("acknowledged_by", Kind.TEXT, width=28),
    Column("acknowledged_text", Kind.TEXT, width=40),
    Column("value"),
    Column("unit", Kind.TEXT),
    Column("cost_per_day"),
    Column("words", Kind.TEXT, width=60),
    Column("id", Kind.TEXT, width=38),
)


def alerts_file(access: ServiceAccess, query: Mapping[str, str]) -> Table:
    """``group``: only its devices'."""
    parts = (_part(some) for some in every_alert(access.client, text_param(query, "group", 100)))
    name = file_stem("alerts", stamp(now_ms()).replace(":", ""))
    return Table(name, "Alerts", _COLUMNS, parts)


def _part(alerts: Sequence[Alert]) -> Part:
    return [
        [each.state for each in alerts],
        [each.severity for each in alerts],
        [each.kind for each in alerts],
        [each.serial_number for each in alerts],
        [each.label for each in alerts],
        [each.rule_name for each in alerts],
        [each.start_ms for each in alerts],
        [each.fired_ms for each in alerts],
        [each.ended_ms for each in alerts],
        [each.outcome for each in alerts],
        [each.acknowledged_ms for each in alerts],
        [each.acknowledged_by or None for each in alerts],
        [each.acknowledged_text or None for each in alerts],
        [each.value for each in alerts],
        [each.unit or None for each in alerts],
        [each.cost_per_day for each in alerts],
        [each.words for each in alerts],
        [each.id for each in alerts],
    ]
