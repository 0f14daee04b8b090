"""Frost: the device is so cold that it may freeze."""

from __future__ import annotations

from typing import Final

from api.insight.findings.low_value import Memory, step_of, words_of
from api.insight.findings.model import Day, Hour, Kind, Setting

KIND: Final = Kind(
    name="frost",
    label="Frost",
    headline="close to freezing",
    caption="at the meter",
    against="limit",
    unit="°C",
    severity="warning",
    memory=Memory,
    step=step_of(lambda row: row.temperature, lowest=True),
    sees=(Hour, Day),
    words=words_of("Temperature", "°C"),
    settings=(Setting("limit", "Below", "°C", 1, -60, 60),),
)
