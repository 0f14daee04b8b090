"""Notes, maintenance and corrections in words."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Final
from zoneinfo import ZoneInfo

from api.catalog import METRICS
from api.client.annotations import Annotation, CorrectionPreview
from components import formatting
from components.units import Units

KINDS: Final = {"note": "Note", "maintenance": "Maintenance", "correction": "Correction"}
REPEATS: Final = {"daily": "daily", "weekly": "weekly", "monthly": "monthly"}
_LABELS: Final = {metric.name: metric.label for metric in METRICS}


def local(instant_ms: int, tz: ZoneInfo) -> str:
    """``2026-03-08 12:00``, as a field takes it."""
    return datetime.fromtimestamp(instant_ms / 1000, tz).strftime("%Y-%m-%d %H:%M")


def when(said: Annotation, tz: ZoneInfo) -> str:
    """``2026-03-08 12:00 – 13:00``; of a series ``…, weekly until 2026-05-01``."""
    first = local(said.from_ms, tz)
    if said.to_ms is None:
        return first
    last = local(said.to_ms, tz)
    last = last[11:] if last[:10] == first[:10] else last
    repeat = ""
    if said.repeat is not None and said.until_ms is not None:
        until = local(said.until_ms, tz)[:10]
        repeat = f", {REPEATS.get(said.repeat, said.repeat)} until {until}"
    return f"{first} – {last}{repeat}"


def effect(said: Annotation) -> str:
    """``excluded``, ``× 0.5``; with metrics where not all are meant."""
    what = "excluded" if said.factor is None else f"× {said.factor:g}"
    if len(said.metrics) in (0, len(METRICS)):
        return what
    return f"{what}: {', '.join(_LABELS.get(name, name).lower() for name in said.metrics)}"


def whose(said: Annotation, labels: Mapping[str, str]) -> str:
    """The device's label, or its group."""
    if said.group is not None:
        return f"group {said.group}"
    return labels.get(said.device_id or "", said.serial_number or "")


def previewed(shown: CorrectionPreview, units: Units) -> str:
    """What a correction would change."""
    count = (
        f"{formatting.whole(shown.values)} of {formatting.whole(shown.readings)} readings change"
    )
    if shown.gallons_before is None:
        return f"{count}."
    before = units.volume(shown.gallons_before)
    after = "nothing" if shown.gallons_after is None else units.volume(shown.gallons_after)
    return f"{count}. Volume: {before} before, {after} after."
