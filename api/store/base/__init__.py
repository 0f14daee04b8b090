"""The interface of every store. `tests/store` runs one suite on each implementation.

Instants are epoch milliseconds (UTC). Buckets are aligned in UTC and named by their start. Reads
of the time series take a ``Device``, and a ``Device`` comes only from a ``Scope``: no reading can
be reached outside the scope of a credential.

Errors: `Unavailable` (locked, out of reach, disk full), `StoreMissing` (no such store),
`UserError` for an invalid write (a serial number that is already in use).
"""

from __future__ import annotations

from typing import Protocol

from api.store.base.alerts import Alerts
from api.store.base.annotations import (
    Annotation,
    AnnotationEntry,
    AnnotationKind,
    AnnotationQuery,
    Annotations,
    Corrections,
    OriginalReading,
    Removal,
    Touched,
)
from api.store.base.audit import AuditEntry, AuditLog, AuditQuery
from api.store.base.directory import (
    Device,
    DeviceQuery,
    Directory,
    Grant,
    GroupSize,
    Imported,
    Key,
    NewDevice,
    Organization,
    Scope,
)
from api.store.base.findings import (
    LEVELS,
    UNTOUCHED,
    Evaluated,
    EvaluationState,
    FindingEntry,
    FindingLevel,
    FindingQuery,
    FindingRow,
    Findings,
    FindingSetting,
    HourOfReadings,
    OpenFindings,
)
from api.store.base.ingest import (
    DISTRIBUTED_ROWS_A_COMMIT,
    ROWS_A_COMMIT,
    Clockless,
    Ingest,
    Instant,
    Progress,
    ReadingRow,
    Refusal,
    RefusalSummary,
    Written,
)
from api.store.base.insight import (
    Attention,
    Cost,
    Due,
    Edge,
    FlowRow,
    Insight,
    Status,
    StatusEntry,
    StatusQuery,
    StatusSummary,
    UsualToday,
    WindowStatus,
)
from api.store.base.maintenance import Replica, Retention, StoreFile, Upkeep, Verdict
from api.store.base.series import (
    Condition,
    LatestQuery,
    LatestResult,
    Piece,
    Row,
    Span,
    TimeSeries,
    Volume,
    Where,
)

__all__ = [
    "DISTRIBUTED_ROWS_A_COMMIT",
    "LEVELS",
    "ROWS_A_COMMIT",
    "UNTOUCHED",
    "Alerts",
    "Annotation",
    "AnnotationEntry",
    "AnnotationKind",
    "AnnotationQuery",
    "Annotations",
    "AuditEntry",
    "AuditLog",
    "AuditQuery",
    "Corrections",
    "OriginalReading",
    "Removal",
    "Touched",
    "Attention",
    "Clockless",
    "Condition",
    "Cost",
    "Device",
    "DeviceQuery",
    "Directory",
    "Due",
    "Edge",
    "Evaluated",
    "FindingEntry",
    "FindingLevel",
    "FindingQuery",
    "FindingRow",
    "FindingSetting",
    "Findings",
    "FlowRow",
    "Grant",
    "GroupSize",
    "HourOfReadings",
    "Imported",
    "Ingest",
    "Insight",
    "Instant",
    "EvaluationState",
    "Key",
    "LatestResult",
    "LatestQuery",
    "NewDevice",
    "OpenFindings",
    "Organization",
    "Piece",
    "Progress",
    "ReadingRow",
    "Refusal",
    "RefusalSummary",
    "Replica",
    "Retention",
    "Row",
    "Scope",
    "Span",
    "Status",
    "StatusEntry",
    "StatusQuery",
    "StatusSummary",
    "Store",
    "StoreFile",
    "TimeSeries",
    "Volume",
    "Upkeep",
    "UsualToday",
    "Verdict",
    "Where",
    "WindowStatus",
    "Written",
]


class Store(
    Directory,
    Ingest,
    TimeSeries,
    Insight,
    Findings,
    Alerts,
    Annotations,
    Corrections,
    Removal,
    AuditLog,
    Retention,
    Upkeep,
    Protocol,
):
    """The complete store. `api.store.open.open_store(url)` returns one."""
