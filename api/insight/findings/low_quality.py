"""Low quality: the quality that the device reports for its readings is poor or declining."""

from __future__ import annotations

from typing import Final

from api.insight.findings.low_value import Memory, step_of, words_of
from api.insight.findings.model import Day, Hour, Kind, Setting

KIND: Final = Kind(
    name="low-quality",
    label="Low quality",
    headline="quality is low",
    caption="quality",
    against="limit",
    unit="%",
    severity="notice",
    memory=Memory,
    step=step_of(lambda row: row.quality, lowest=False),
    sees=(Hour, Day),
    words=words_of("Quality", "%"),
    settings=(Setting("limit", "Below", "%", 40, 0, 100),),
)
