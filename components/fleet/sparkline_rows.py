"""Asking for the page's lines: each device's rows of the window, kept until a bucket ends."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from functools import partial
from typing import Final, NamedTuple

from api.catalog import FLOW_RATE
from api.client import Client
from api.errors import WeirError
from api.metering.uptime import resolution_for
from api.metering.windows import Span, strip_window
from api.timez import floor_to, zone
from components.charts.frames import frame
from components.fleet.device_status import Known
from components.fleet.meters import Meter
from components.fleet.queries import ONE_DEVICE_ERRORS, Deadline, Desk, turn
from components.fleet.sparklines import Spark, spark

Line = Spark | WeirError
RETRY_MS: Final = 30_000
_UTC = zone("UTC")


class _Kept(NamedTuple):
    """``bucket_ms`` is the start of the bucket that was under way."""

    bucket_ms: int
    asked_ms: int
    line: Line

    def is_due(self, bucket_ms: int, now_ms: int) -> bool:
        failed = isinstance(self.line, WeirError) and now_ms - self.asked_ms >= RETRY_MS
        return failed or self.bucket_ms != bucket_ms


def lines(
    desk: Desk,
    span: Span,
    meters: Sequence[Meter],
    known: Mapping[str, Known],
    deadline: Deadline,
    now_ms: int,
) -> dict[str, Line]:
    """By device id, or why one has none. Asked for as far as the deadline allows; an older line
    stands until then, and a device without any isn't in the answer."""
    bucket = floor_to(now_ms, span.line.fixed_ms)
    kept: dict[str, _Kept | None] = {
        m.id: desk.memory.local(_key(desk, span, m.id)) for m in meters
    }
    due = [id for id, each in kept.items() if each is None or each.is_due(bucket, now_ms)]
    late = [id for id in due if _is_late(kept[id], bucket - span.line.fixed_ms)]
    wanted = [*(id for id in due if id not in set(late)), *turn(late, len(meters))]
    jobs = (partial(_ask, desk.client, span, id, known[id], now_ms) for id in wanted)
    for id, line in desk.answers(jobs, deadline):
        kept[id] = _Kept(bucket, now_ms, line)
        desk.memory.keep(_key(desk, span, id), kept[id])
    return {id: each.line for id, each in kept.items() if each is not None}


def _is_late(kept: _Kept | None, before_ms: int) -> bool:
    """Only by the one bucket that has just ended: that may wait for its turn."""
    return kept is not None and kept.bucket_ms == before_ms


def _key(desk: Desk, span: Span, device_id: str) -> Hashable:
    return (desk.principal, "line", span.name, device_id)


def _ask(client: Client, span: Span, device_id: str, known: Known, now_ms: int) -> tuple[str, Line]:
    window = strip_window(span, resolution_for(known.cadence), now_ms)
    try:
        rows = client.datapoints(
            device_id,
            span.line,
            from_ms=window.from_ms,
            to_ms=min(window.to_ms, now_ms),
            metrics=(FLOW_RATE,),
        )
    except ONE_DEVICE_ERRORS as error:
        return device_id, error
    framed = frame(
        rows, FLOW_RATE, window, tz=_UTC, cadence_ms=known.cadence.expected_ms, until_ms=now_ms
    )
    return device_id, spark(framed, window, span.line.fixed_ms * span.rows_per_point,
                            span.rows_per_point)  # fmt: skip
