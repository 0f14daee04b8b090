"""Weak signal: the radio link is poor, or soon will be."""

from __future__ import annotations

from typing import Final

from api.insight.findings.low_value import Memory, step_of, words_of
from api.insight.findings.model import Day, Hour, Kind, Setting

KIND: Final = Kind(
    name="weak-signal",
    label="Weak signal",
    headline="the signal is weak",
    caption="signal",
    against="limit",
    unit="dBm",
    severity="notice",
    memory=Memory,
    step=step_of(lambda row: row.signal, lowest=False),
    sees=(Hour, Day),
    words=words_of("Signal", "dBm"),
    settings=(Setting("limit", "Below", "dBm", -120, -200, 0),),
)
