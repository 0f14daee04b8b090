"""Keeping what was refused small: one row a cause, bounded texts, a bounded number of rows."""

from __future__ import annotations

from collections.abc import Iterable, Set
from dataclasses import replace

from api.store.base import Refusal

MAX_ROWS = 5_000  # for each organization; then further devices share one row a cause
MAX_SAMPLE = 500  # characters
MAX_NAME = 200
OTHERS = "(others)"

Cause = tuple[str, str, str]
"""(source, reason, device)"""


def cause(refusal: Refusal) -> Cause:
    return refusal.source, refusal.reason, refusal.device


def merged(refusals: Iterable[Refusal]) -> list[Refusal]:
    """One refusal a cause, counts added, texts cut, the last instant and sample kept. Of one
    organization; the order of first appearance."""
    found: dict[Cause, Refusal] = {}
    for refusal in map(_cut, refusals):
        before = found.get(cause(refusal))
        if before is not None:
            refusal = replace(
                refusal,
                count=before.count + refusal.count,
                at_ms=max(before.at_ms, refusal.at_ms),
            )
        found[cause(refusal)] = refusal
    return list(found.values())


def within_cap(
    refusals: Iterable[Refusal], known: Set[Cause], cap: int = MAX_ROWS
) -> list[Refusal]:
    """The same counts in at most ``cap`` rows beside one of "(others)" for each source and
    reason, given the causes that have a row already."""
    rows, kept = set(known), list[Refusal]()
    for refusal in refusals:
        if cause(refusal) not in rows and len(rows) >= cap:
            refusal = replace(refusal, device=OTHERS)
        rows.add(cause(refusal))
        kept.append(refusal)
    return merged(kept)


def _cut(refusal: Refusal) -> Refusal:
    return replace(
        refusal,
        source=_plain(refusal.source, MAX_NAME),
        reason=_plain(refusal.reason, MAX_NAME),
        device=_plain(refusal.device, MAX_NAME),
        sample=_plain(refusal.sample, MAX_SAMPLE),
    )


def _plain(text: str, length: int) -> str:
    """No NULs and no lone surrogates: not every database takes them."""
    return text[:length].replace("\x00", "\ufffd").encode("utf-8", "replace").decode("utf-8")
