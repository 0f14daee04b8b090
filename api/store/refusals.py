"""Limits the stored refusals: one row per cause, short texts, a maximum of rows."""

from __future__ import annotations

from collections.abc import Iterable, Set
from dataclasses import replace

from api.store.base import Refusal

MAX_ROWS = 5_000  # per organization; beyond it, devices share one row per cause
MAX_SAMPLE = 500  # characters
MAX_NAME = 200
OTHERS = "(others)"

Cause = tuple[str, str, str]
"""(source, reason, device)"""


def cause(refusal: Refusal) -> Cause:
    return refusal.source, refusal.reason, refusal.device


def merged(refusals: Iterable[Refusal]) -> list[Refusal]:
    """Returns one refusal per cause, in order of first appearance: counts are added, texts
    shortened, the last instant and sample kept. All must be of one organization."""
    by_cause: dict[Cause, Refusal] = {}
    for refusal in map(_cut, refusals):
        before = by_cause.get(cause(refusal))
        if before is not None:
            refusal = replace(
                refusal,
                count=before.count + refusal.count,
                at_ms=max(before.at_ms, refusal.at_ms),
            )
        by_cause[cause(refusal)] = refusal
    return list(by_cause.values())


def within_cap(
    refusals: Iterable[Refusal], existing: Set[Cause], cap: int = MAX_ROWS
) -> list[Refusal]:
    """Returns the same counts in at most ``cap`` rows, plus one row "(others)" per source and
    reason. ``existing``: causes that already have a row."""
    rows, capped = set(existing), list[Refusal]()
    for refusal in refusals:
        if cause(refusal) not in rows and len(rows) >= cap:
            refusal = replace(refusal, device=OTHERS)
        rows.add(cause(refusal))
        capped.append(refusal)
    return merged(capped)


def _cut(refusal: Refusal) -> Refusal:
    return replace(
        refusal,
        source=_plain(refusal.source, MAX_NAME),
        reason=_plain(refusal.reason, MAX_NAME),
        device=_plain(refusal.device, MAX_NAME),
        sample=_plain(refusal.sample, MAX_SAMPLE),
    )


def _plain(text: str, length: int) -> str:
    """Removes NULs and lone surrogates, which some databases refuse."""
    return text[:length].replace("\x00", "\ufffd").encode("utf-8", "replace").decode("utf-8")
