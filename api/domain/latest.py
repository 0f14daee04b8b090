"""Summary metrics of up to 50 devices over one window."""

from __future__ import annotations

from typing import NamedTuple

from api import timez
from api.catalog import Resolution
from api.domain.calendar import coarsest_within
from api.domain.identify import identify_each
from api.store.base import Device, LatestQuery, LatestResult, Scope, Span, Store


class Summary(NamedTuple):
    device: Device
    result: LatestResult


class Latest(NamedTuple):
    """``expected`` is the number of bucket starts of ``uptime`` in the window; 0 without
    ``uptime``."""

    uptime: Resolution | None
    quality: Resolution | None
    expected: int
    entries: list[Summary]


def latest(
    store: Store,
    scope: Scope,
    identifiers: tuple[str, ...],
    *,
    from_ms: int,
    to_ms: int,
    uptime: Resolution | None,
    quality: bool,
    last: bool,
) -> Latest:
    """Returns one entry per visible device, in the requested order. Every count is of bucket starts
    within the window, so that the observed count never exceeds the expected one."""
    devices = identify_each(store, scope, identifiers)
    source = coarsest_within(to_ms - from_ms) if quality else None
    query = LatestQuery(Span(from_ms, to_ms), uptime, source, last)
    results = store.latest(devices, query) if devices else {}
    expected = timez.bucket_starts(from_ms, to_ms, uptime.fixed_ms) if uptime else 0
    return Latest(uptime, source, expected, [Summary(d, results[d.key]) for d in devices])
