"""Dismisses a finding as "not a problem", which raises the device's threshold of its kind."""

from __future__ import annotations

from dataclasses import replace
from typing import Final, NamedTuple

from api.errors import Conflict
from api.insight.facts import OfOrganization, merged
from api.insight.findings import KIND_BY_NAME
from api.insight.findings.model import FACTOR
from api.store.base import Device, FindingEntry, Scope, Store

STEP: Final = 1.5  # by which each dismissal raises the threshold
_ALIKE: Final = 1e-6


class Threshold(NamedTuple):
    """The factor by which a device's thresholds of a kind count."""

    kind: str
    before: float
    factor: float

    @property
    def words(self) -> str:
        label = KIND_BY_NAME[self.kind].label
        if abs(self.factor - 1) < _ALIKE:
            return f"{label}: this device's threshold is the usual one again."
        return f"{label}: this device's threshold is now {self.factor:.3g} times the usual one."


def dismissed(
    store: Store, scope: Scope, entry: FindingEntry, *, by: str, reason: str, at_ms: int
) -> tuple[FindingEntry, Threshold]:
    """Dismiss a finding. Raises Conflict if it already is."""
    if entry.finding.dismissed_ms is not None:
        raise Conflict("This finding is dismissed already.")
    before, _ = _factors(store, scope, entry)
    factor = min(before * STEP, FACTOR.most)
    finding = replace(entry.finding, dismissed_ms=at_ms, dismissed_by=by, reason=reason)
    judged = entry._replace(finding=finding)
    store.judge(scope, judged, factor)
    return judged, Threshold(finding.kind, before, factor)


def restored(store: Store, scope: Scope, entry: FindingEntry) -> tuple[FindingEntry, Threshold]:
    """Undo a dismissal. Raises Conflict if there is none."""
    if entry.finding.dismissed_ms is None:
        raise Conflict("This finding is not dismissed.")
    before, inherited = _factors(store, scope, entry)
    factor = max(before / STEP, inherited)
    own = None if factor - inherited < _ALIKE else factor
    finding = replace(entry.finding, dismissed_ms=None, dismissed_by=None, reason=None)
    judged = entry._replace(finding=finding)
    store.judge(scope, judged, own)
    return judged, Threshold(finding.kind, before, factor)


def _factors(store: Store, scope: Scope, entry: FindingEntry) -> tuple[float, float]:
    """(the factor now, the factor without the device's own setting)."""
    finding = entry.finding
    device: Device = store.devices_by_key([finding.key])[0]
    shared = OfOrganization.read(store, scope.organization_id)
    groups = store.groups_by_device([finding.key]).get(finding.key, [])
    without = {name: kinds for name, kinds in shared.settings.items() if name[0] != "device"}
    now, inherited = (
        merged(device, groups, layers).get(finding.kind, {}).get(FACTOR.name, FACTOR.default)
        for layers in (shared.settings, without)
    )
    return now, inherited
