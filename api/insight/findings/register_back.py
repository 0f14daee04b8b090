"""Register went back: a cumulative register falls, and no rollover explains it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

from api.insight.findings.model import Context, Draft, Hour, Kind, Setting
from api.insight.findings.text import number, when

NEAR_ROLLOVER: Final = 0.1  # of the modulus, before and after it


class Memory(NamedTuple):
    gallons: float | None = None


def step(
    memory: Memory, draft: Draft | None, hour: Hour, context: Context
) -> tuple[Memory, Sequence[Draft]]:
    drafts: list[Draft] = [] if draft is None else [draft]
    if hour.row is None:
        return memory, drafts
    last = memory.gallons
    for reading in hour.readings.registers(hour.start_ms, hour.until_ms):
        fall = 0.0 if last is None else last - reading.gallons
        rolled = reading.modulus is not None and fall > (1 - 2 * NEAR_ROLLOVER) * reading.modulus
        if fall > context.values["least"] * context.factor and not rolled:
            at = reading.recorded_at_ms
            drafts.append(Draft(at, at, end_ms=at, value=fall, usual=last))
        last = reading.gallons
    return Memory(last), drafts


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
    needs=lambda device, values: device.registers,
)
