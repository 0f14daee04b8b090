"""Each device's status, for every dialect."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from api.catalog import Resolution
from api.metering.windows import SPANS
from api.store.alerts import mark_alerts
from api.store.base import (
    Attention,
    Cost,
    Device,
    Due,
    Edge,
    FlowRow,
    Row,
    Scope,
    Status,
    StatusEntry,
    StatusQuery,
    StatusSummary,
    UsualToday,
    WindowStatus,
)
from api.store.base.insight import NOTICE_RANK
from api.store.devices import COLUMNS, device_from
from api.store.dialect_interface import Seam, Transaction
from api.store.directory import in_scope
from api.store.sql import alerts as alert_sql
from api.store.sql import directory as directory_sql
from api.store.sql import fleet_page as page_sql
from api.store.sql import insight as sql
from api.store.tables import DEVICE_STATUS

_FIRST_UPTIME: Final = 17
_AT: Final = {name: index for index, name in enumerate(DEVICE_STATUS.names)}


class _Sums(NamedTuple):
    """``cost``: at the devices' own prices. ``unpriced``: gallons of devices without a price."""

    state: str
    currency: str | None
    findings: str | None
    devices: int
    sub_meters: int | None
    flow: float | None
    volume: float | None
    cost: float | None
    unpriced: float | None
    as_of_ms: int | None
    evaluated: int
    flowing: int
    quiet: int
    alarming: int
    compared: int
    compared_volume: float | None
    usual: float | None
    uptimes: tuple[int | None, ...]


class InsightPart(Seam):
    """`api.store.base.Insight` for every dialect."""

    def statuses(self, scope: Scope, query: StatusQuery) -> list[StatusEntry]:
        keys = [key for (key,) in self.fetch(sql.page(self.dialect, scope, query))]
        return self._entries(scope, keys)

    def status_of(self, scope: Scope, device: Device) -> StatusEntry:
        entries = self._entries(scope, [device.key])
        return entries[0] if entries else StatusEntry(device, None, ())

    def statuses_of(self, scope: Scope, devices: Sequence[Device]) -> list[StatusEntry]:
        return self._entries(scope, [device.key for device in devices])

    def _entries(self, scope: Scope, keys: Sequence[int]) -> list[StatusEntry]:
        if not keys:
            return []
        entries = {
            entry.device.key: entry
            for entry in map(_entry, self.fetch(sql.entries(self.dialect, keys)))
        }
        ordered = [entries[key] for key in keys if key in entries]
        devices = in_scope(self, scope, [entry.device for entry in ordered])
        return [
            entry._replace(device=device) for entry, device in zip(ordered, devices, strict=True)
        ]

    def count_statuses(self, scope: Scope, query: StatusQuery) -> int:
        return int(self.fetch(sql.count(self.dialect, scope, query))[0][0])

    def summarize(self, scope: Scope, query: StatusQuery) -> StatusSummary:
        fetched = self.fetch(sql.sums(self.dialect, scope, query))
        rows = [_Sums._make((*row[:_FIRST_UPTIME], row[_FIRST_UPTIME:])) for row in fetched]
        prices = self.fetch(directory_sql.default_price(scope.organization_id))
        states, findings, costs = Counter[str](), Counter[str](), defaultdict[str, float](float)
        for row in rows:
            states[row.state] += row.devices
            for kind in row.findings.split(",") if row.findings else ():
                findings[kind] += row.devices
            default = prices[0][0] if prices and row.unpriced is not None else None
            if row.currency and (row.cost is not None or default is not None):
                costs[row.currency] += (row.cost or 0.0) + (row.unpriced or 0.0) * (default or 0.0)
        return StatusSummary(
            devices=sum(states.values()),
            sub_meters=sum(row.sub_meters or 0 for row in rows),
            states=dict(states),
            flow=_sum(row.flow for row in rows),
            volume_today=_sum(row.volume for row in rows),
            costs=tuple(Cost(*each) for each in sorted(costs.items())),
            findings=dict(findings),
            as_of_ms=min((row.as_of_ms for row in rows if row.as_of_ms is not None), default=None),
            evaluated=sum(row.evaluated for row in rows),
            flowing=sum(row.flowing for row in rows),
            quiet=sum(row.quiet for row in rows),
            uptimes=tuple(
                (
                    int(sum(row.uptimes[at] or 0 for row in rows)),
                    int(sum(row.uptimes[at + 1] or 0 for row in rows)),
                )
                for at in range(0, 2 * len(SPANS), 2)
            ),
            alarming=sum(row.alarming for row in rows),
            usual=UsualToday(
                sum(row.compared for row in rows),
                sum(row.compared_volume or 0.0 for row in rows),
                sum(row.usual or 0.0 for row in rows),
            ),
        )

    def attention(self, scope: Scope, query: StatusQuery, before_ms: int) -> Attention:
        kinds, notices, costs = Counter[str](), Counter[str](), defaultdict[str, float](float)
        for kind, rank, currency, devices, cost in self.fetch(
            sql.open_by_kind(self.dialect, scope, query)
        ):
            if rank >= NOTICE_RANK:
                notices[kind] += devices
                continue
            kinds[kind] += devices
            if cost is not None:
                costs[currency] += cost
        waiting, since_ms = self.fetch(sql.unchecked(self.dialect, scope, query, before_ms))[0]
        return Attention(
            kinds=dict(kinds),
            costs=tuple(Cost(*each) for each in sorted(costs.items())),
            notices=dict(notices),
            unchecked=waiting,
            checked_ms=since_ms,
        )

    def flow_rows(
        self, devices: Sequence[Device], resolution: Resolution, low: int, high: int
    ) -> dict[int, list[FlowRow]]:
        keys = [device.key for device in devices]
        if not keys or low >= high:
            return {}
        rows = self.reckon(
            lambda arithmetic: self.fetch(
                page_sql.flow_rows(keys, resolution, low, high, arithmetic)
            )
        )
        by_device: defaultdict[int, list[FlowRow]] = defaultdict(list)
        for key, *row in rows:
            by_device[key].append(FlowRow(*row))
        return dict(by_device)

    def cell_counts(
        self, devices: Sequence[Device], counted: Resolution, cell_ms: int, low: int, high: int
    ) -> dict[int, dict[int, int]]:
        keys = [device.key for device in devices]
        if not keys or low >= high:
            return {}
        by_device: defaultdict[int, dict[int, int]] = defaultdict(dict)
        for key, cell, count in self.fetch(page_sql.cell_counts(keys, counted, cell_ms, low, high)):
            by_device[key][int(cell)] = int(count)
        return dict(by_device)

    # --- For the process that writes ---

    def due_by_reading(self, limit: int) -> list[Due]:
        return [Due(*row) for row in self.fetch(sql.due_by_reading(limit))]

    def due_by_time(self, now_ms: int, limit: int) -> list[int]:
        changed = [key for (key,) in self.fetch(sql.due_by_change(limit))]
        by_time = [key for (key,) in self.fetch(sql.due_by_time(now_ms, limit))]
        return list(dict.fromkeys((*changed, *by_time)))[:limit]

    def devices_by_key(self, keys: Sequence[int]) -> list[Device]:
        rows = self.fetch(sql.entries(self.dialect, keys)) if keys else []
        return [device_from(row[: len(COLUMNS)]) for row in rows]

    def due_of(self, keys: Sequence[int]) -> list[Due]:
        return [Due(*row) for row in self.fetch(sql.due_of(keys))] if keys else []

    def device_keys(self, organization_id: str | None = None) -> list[int]:
        return [key for (key,) in self.fetch(sql.all_keys(organization_id))]

    def status_rows(self, keys: Sequence[int]) -> dict[int, Status]:
        rows = self.fetch(sql.entries(self.dialect, keys)) if keys else []
        statuses = (_status(row[len(COLUMNS) :]) for row in rows)
        return {status.key: status for status in statuses if status is not None}

    def save_statuses(self, rows: Sequence[Status], done: Sequence[Due], maker: str) -> None:
        if not rows and not done:
            return
        with self.transaction() as transaction:
            for status in sorted(rows, key=lambda each: each.key):
                transaction.run(sql.save_status(_values(status, maker)))
            for due in sorted(done):
                transaction.run(sql.done(due.key, due.seq))
            self._mark_alerts(transaction, [status.key for status in rows])

    def _mark_alerts(self, transaction: Transaction, keys: Sequence[int]) -> None:
        """Marks devices of organizations with rules on states or values: these change with each
        status."""
        if keys and transaction.fetch(alert_sql.any_live_rule()):
            rows = transaction.fetch(alert_sql.with_live_rules(self.dialect, keys))
            mark_alerts(self.dialect, transaction, [key for (key,) in rows])

    def made_by_others(self, keys: Sequence[int], maker: str) -> list[int]:
        return [key for (key,) in self.fetch(sql.made_by_others(keys, maker))] if keys else []

    def edges(
        self, keys: Sequence[int], resolution: Resolution, low: int, high: int, closed_ms: int
    ) -> dict[int, Edge]:
        if not keys or low >= high:
            return {}
        rows = self.fetch(sql.edges(keys, resolution, low, high, closed_ms))
        return {row[0]: Edge(int(row[1]), *row[2:]) for row in rows}

    def whole_hours(
        self, keys: Sequence[int], counted: Resolution, lows: Sequence[int], high: int
    ) -> dict[int, list[Edge]]:
        rows = self.fetch(sql.whole_hours(keys, counted, lows, high)) if keys else []
        return {
            row[0]: [
                Edge(int(row[at] or 0), *row[at + 1 : at + 4])
                for at in range(1, 1 + 4 * len(lows), 4)
            ]
            for row in rows
        }

    def gallons(
        self, keys: Sequence[int], resolution: Resolution, low: int, high: int
    ) -> dict[int, list[tuple[int, float | None]]]:
        by_device: defaultdict[int, list[tuple[int, float | None]]] = defaultdict(list)
        for key, ts, value in self.fetch(sql.gallons(keys, resolution, low, high)) if keys else ():
            by_device[key].append((ts, value))
        return dict(by_device)

    def first_hour(self, key: int) -> int | None:
        hour: int | None = self.fetch(sql.first_hour(key))[0][0]
        return hour

    def last_hour(self, key: int, before_ms: int) -> int | None:
        hour: int | None = self.fetch(sql.last_hour(key, before_ms))[0][0]
        return hour

    def instants(self, key: int, low: int, high: int) -> list[int]:
        return [ts for (ts,) in self.fetch(sql.instants(key, low, high))]


def _sum(values: Iterable[float | None]) -> float | None:
    present = [value for value in values if value is not None]
    return sum(present) if present else None


def _entry(row: Row) -> StatusEntry:
    device, status = device_from(row[: len(COLUMNS)]), row[len(COLUMNS) :]
    kinds = status[_AT["findings"]]
    return StatusEntry(device, _status(status), tuple(kinds.split(",")) if kinds else ())


def _status(row: Row) -> Status | None:
    if row[0] is None:
        return None
    windows = tuple(
        WindowStatus(*(row[_AT[f"{name}_{span.name}"]] for name in WindowStatus._fields))
        for span in SPANS
    )
    plain = {name: row[_AT[name]] for name in _PLAIN}
    return Status(key=row[0], windows=windows, event_driven=bool(row[_AT["event_driven"]]), **plain)


_PLAIN: Final = (
    "as_of_ms", "updated_ms", "due_ms", "state", "seen_ms", "cadence_ms", "bucket_ms", "flow",
    "signal_strength", "network_rssi",
    "volume_today", "volume_month", "volume_usual", "price", "currency", "searched",
)  # fmt: skip


def _values(status: Status, maker: str) -> list[object]:
    values: dict[str, object] = {name: getattr(status, name) for name in _PLAIN}
    values["maker"] = maker
    values["device_id"], values["event_driven"] = status.key, int(status.event_driven)
    for span, window in zip(SPANS, status.windows, strict=True):
        for name, value in zip(WindowStatus._fields, window, strict=True):
            values[f"{name}_{span.name}"] = value
    return [values[name] for name in sql.WRITTEN]
