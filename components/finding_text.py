"""A finding's shape, number and length, as every page writes them. Pure text."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from api.catalog import FLOW_AMOUNT, HOUR_MS, ONBOARD_TEMPERATURE
from api.client.findings import Finding
from api.insight.findings import KIND_BY_NAME, Kind
from api.metering.units import words_in
from components import formatting
from components.units import Units

DIAMONDS: Final = {"critical": "◆", "warning": "⬖", "notice": "◇"}
SEVERITY_WORDS: Final = {"critical": "Critical", "warning": "Warning", "notice": "Notice"}
SILENT: Final = "silent"
_MINUS: Final = "−"


def kind_of(finding: Finding) -> Kind:
    return KIND_BY_NAME[finding.kind]


def quantity(value: float | None, unit: str, units: Units) -> str:
    """A number in a kind's unit: 54.4 gal/h, 6 h 13 min, 38.5 °F; an en dash for None."""
    if value is None:
        return formatting.NOTHING
    if unit == "gal/h":
        scale = units.scale(FLOW_AMOUNT, value)
        return f"{formatting.number(scale.of(value))} {scale.unit}/h"
    if unit == "gal/min":
        return f"{units.flow(value)} {units.flow_unit}"
    if unit == "gal":
        return units.volume(value)
    if unit == "h":
        return formatting.duration(round(value * HOUR_MS))
    if unit == "days":
        return formatting.plural(round(value), "day")
    if unit == "°C":
        return units.quantity(value, ONBOARD_TEMPERATURE)
    return f"{formatting.number(value)}{'' if unit == '%' else ' '}{unit}"


def sentence(finding: Finding, units: Units) -> str:
    """What is wrong, in a sentence of the service."""
    return words_in(finding.words, units.name)


def how_much(finding: Finding, units: Units, now_ms: int | None = None) -> str:
    """The finding's number. An open silence lasts until ``now_ms``, since it is evaluated only once
    an hour."""
    if now_ms is not None and finding.end_ms is None and finding.kind == SILENT:
        return lasting(finding, now_ms)
    text = quantity(finding.value, finding.unit, units)
    plus = kind_of(finding).difference and not text.startswith(_MINUS)
    return f"+{text}" if plus else text


def bound_of(kinds: Iterable[Kind]) -> str:
    """The qualifier of the sum of their costs: ``at least``, ``up to``, ``about`` for a mixture, or
    "" if all are measured."""
    bounds = {kind.bound for kind in kinds} - {""}
    return "about" if len(bounds) > 1 else next(iter(bounds), "")


def lasting(finding: Finding, now_ms: int) -> str:
    return formatting.duration(max(0, (finding.end_ms or now_ms) - finding.start_ms))
