"""Findings: spans of time in which a device's data show a problem.

Use::

    result = evaluate(device, settings, state, readings, touched_ms=…, now_ms=…)

- ``device`` (`Device`): zone, cadence, price, holidays, and spans excluded from training.
- ``settings``: ``{kind: {setting: number}}``, the values that differ from the defaults, merged from
  organization, group and device. `settings_of` reads the device's ``config`` (by design, limits),
  `parse` reads what a person typed. "Not a problem" multiplies ``factor``.
- ``state``: the state of the last result, about 11 kB (`State.dump`, `State.load`); None for the
  first call. If `State.load` raises ValueError, begin with None.
- ``readings`` (`Readings`): hours, minutes and register falls of this device.
- ``touched_ms``: the earliest recorded_at that was stored since the last call.
- ``now_ms``: the clock, by which a device becomes silent. Call again at
  last seen + ``device.silent_after_ms`` + 1 min.

``result.findings`` are all findings open at ``result.since_ms`` or later. Store each under
(device, kind, opened_ms), and delete the stored ones with opened_ms ≥ since_ms that aren't among
them: late data has disproved them.

The findings depend only on the readings, not on their order, lateness, repetition or grouping.
Late readings re-run the device from the start of their local day. If they are more than eight days
late, or if facts or settings have changed, it is re-run from the first reading.

`KINDS` is the registry: one row and one file per kind.
"""

from api.insight.findings.device_config import settings_of
from api.insight.findings.driver import Evaluation, evaluate
from api.insight.findings.model import (
    SEVERITIES,
    Device,
    Finding,
    HourRow,
    Kind,
    Minute,
    Readings,
    RegisterFall,
    Setting,
)
from api.insight.findings.registry import KIND_BY_NAME, KINDS, Settings, parse, values
from api.insight.findings.state import State

__all__ = [
    "KIND_BY_NAME",
    "KINDS",
    "SEVERITIES",
    "Device",
    "Evaluation",
    "Finding",
    "HourRow",
    "Kind",
    "Minute",
    "Readings",
    "RegisterFall",
    "Setting",
    "Settings",
    "State",
    "evaluate",
    "parse",
    "settings_of",
    "values",
]
