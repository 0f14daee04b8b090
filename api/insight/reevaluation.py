"""Recomputes status and findings of devices whose readings were changed by hand."""

from __future__ import annotations

from collections.abc import Iterable

from api.insight.finding_evaluator import Evaluator
from api.insight.status_projection import Projection
from api.store.base import Store
from api.timez import now_ms


def reevaluate(store: Store, keys: Iterable[int]) -> None:
    """Brings status and findings up to date at once. A running writer would do so within seconds,
    since the change has made the devices due; so nothing is lost if this is interrupted."""
    at_ms, devices = now_ms(), sorted(set(keys))
    Projection(store).rebuild(devices, at_ms)
    evaluator = Evaluator(store)
    for key in devices:
        evaluator.run_due(key, at_ms)
