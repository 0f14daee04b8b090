"""Findings: spans of time in which a device's data weren't as they should be.

How to use it, in three calls::

    result = evaluate(device, settings, state, readings, touched_ms=…, now_ms=…)

- ``device`` (`Device`): zone, cadence, price, holidays, what is excluded from training.
- ``settings``: ``{kind: {setting: number}}``, what differs from the defaults, merged from those of
  organization, group and device; `settings_of` reads the device's ``config`` (by design, limits),
  `parse` what a person typed. "Not a problem" multiplies ``factor``.
- ``state``: what the last call left (`State.dump`, `State.load`: some 11 kB), None for the first.
  A ValueError of `State.load`: begin with None.
- ``readings`` (`Readings`): answers hours, minutes and falls of this device's register. `resume_ms`
  tells from where hours will be read.
- ``touched_ms``: the earliest recorded_at that was stored since the last call.
- ``now_ms``: the clock. A device falls silent by it: call again when
  last seen + ``device.silent_after_ms`` + 1 min falls due.

``result.findings`` are all that were open at ``result.since_ms`` or since. Store each under
(device, kind, opened_ms), and delete the stored ones with opened_ms ≥ since_ms that aren't among
them: late data has taken them back.

The findings depend on the readings alone, not on their order, lateness, repetition or split. Late
readings re-run the device from the start of the local day they touch; later than eight days, or
with changed facts or settings, from the first reading.

`KINDS` is the registry: one row a kind, one file each.
"""

from api.insight.findings.device_config import settings_of
from api.insight.findings.driver import Evaluation, evaluate, resume_ms
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
from api.insight.findings.severity import order
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
    "order",
    "parse",
    "resume_ms",
    "settings_of",
    "values",
]
