"""Register went back: it fell, and neither a rollover nor an exchange explains that."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

from api.insight.findings.model import Context, Draft, Hour, Kind, Setting
from api.insight.findings.text import number, when


class Memory(NamedTuple):
    """Empty: the store knows which registers went back."""


def step(
    memory: Memory, draft: Draft | None, hour: Hour, context: Context
) -> tuple[Memory, Sequence[Draft]]:
    drafts: list[Draft] = [] if draft is None else [draft]
    if hour.row is None:
        return memory, drafts
    least = context.values["least"] * context.factor
    for fall in hour.readings.register_falls(hour.start_ms, hour.until_ms):
        if fall.gallons > least:
            at = fall.recorded_at_ms
            drafts.append(Draft(at, at, end_ms=at, value=fall.gallons, usual=fall.before))
    return memory, drafts


def words(draft: Draft, tz: ZoneInfo) -> str:
    return f"The register fell by {number(draft.value)} gal at {when(draft.start_ms, tz)}"


KIND: Final = Kind(
    name="register-back",
    label="Register went back",
    headline="its register went back",
    caption="went back",
    unit="gal",
    severity="warning",
    memory=Memory,
    step=step,
    sees=(Hour,),
    words=words,
    settings=(Setting("least", "Falls by more than", "gal", 0.01, 0, 1e6),),
    live=True,
)
