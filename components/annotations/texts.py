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


def when(annotation: Annotation, tz: ZoneInfo) -> str:
    """``2026-03-08 12:00 – 13:00``; of a series ``…, weekly until 2026-05-01``."""
    first = local(annotation.from_ms, tz)
    if annotation.to_ms is None:
        return first
    last = local(annotation.to_ms, tz)
    last = last[11:] if last[:10] == first[:10] else last
    repeat = ""
    if annotation.repeat is not None and annotation.until_ms is not None:
        until = local(annotation.until_ms, tz)[:10]
        repeat = f", {REPEATS.get(annotation.repeat, annotation.repeat)} until {until}"
    return f"{first} – {last}{repeat}"


def effect(annotation: Annotation) -> str:
    """``excluded``, ``× 0.5``; with metrics where not all are meant."""
    what = "excluded" if annotation.factor is None else f"× {annotation.factor:g}"
    if len(annotation.metrics) in (0, len(METRICS)):
        return what
    return f"{what}: {', '.join(_LABELS.get(name, name).lower() for name in annotation.metrics)}"


def whose(annotation: Annotation, labels: Mapping[str, str]) -> str:
    """The device's label, or its group."""
    if annotation.group is not None:
        return f"group {annotation.group}"
    return labels.get(annotation.device_id or "", annotation.serial_number or "")


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
