"""The register of a device's meter: its latest value and steps. The card stays hidden for a device
without registers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from zoneinfo import ZoneInfo

from dash import html
from dash.development.base_component import Component

from api.catalog import FLOW_AMOUNT
from api.client.registers import Register
from api.metering.register import Exchange, Flag
from api.timez import DAY_MS
from components import formatting
from components.controls import attributes, labelled
from components.formatting import Clock, day_text, minute_text
from components.units import Units

CARD: Final = "device-register"
TITLE: Final = "Register"
STEPS: Final = 10  # rows shown
_MOST_DECIMALS: Final = 3
_SIGNS: Final = {"l": "L", "ml": "mL", "hl": "hL", "m3": "m³", "ft3": "ft³"}
_CAUSES: Final = {
    Flag.SPREAD: ("warn", "a gap: spread evenly over it"),
    Flag.EXCHANGE: ("off", "the meter was exchanged"),
    Flag.ROLLOVER: ("off", "the register rolled over"),
    Flag.BACK: ("bad", "the register went back: unknown"),
}
"""A remark on a step: its severity and text."""


def note(
    registers: Sequence[Register], exchanges: Sequence[Exchange], tz: ZoneInfo, now_ms: int
) -> str:
    """``1,203.457 m³ on Sun 8 Mar 2026, 12:00 · meter exchanged on …``; "" without registers."""
    if not registers:
        return ""
    last = registers[0]
    value = formatting.exact(last.register, _places([last.register]))
    parts = [f"{value} {_sign(last.unit)} on {_time(last.recorded_ms, tz)}"]
    past = [each.at_ms for each in exchanges if each.at_ms <= now_ms]
    if past:
        parts.append(f"meter exchanged on {_time(max(past), tz)}")
    return " · ".join(parts)


def card(registers: Sequence[Register], units: Units, tz: ZoneInfo) -> list[Component]:
    """``registers``: the latest first."""
    if not registers:
        return []
    volumes = [each.gallons for each in registers]
    scale = units.scale(FLOW_AMOUNT, max((v for v in volumes if v is not None), default=0.0))
    scaled = [None if v is None else scale.of(v) for v in volumes]
    places, decimals = _places([each.register for each in registers]), formatting.decimals(scaled)
    heads = ("Time", "Register", f"Volume, {scale.unit}", "Remarks")
    rows = [
        html.Tr(
            [
                html.Th(_time(each.recorded_ms, tz), scope="row"),
                html.Td(f"{formatting.exact(each.register, places)} {_sign(each.unit)}"),
                html.Td(formatting.exact(volume, decimals)),
                html.Td(_remarks(each)),
            ]
        )
        for each, volume in zip(registers, scaled, strict=True)
    ]
    head = html.Tr([html.Th(name, scope="col") for name in heads])
    return [
        html.Div(
            html.Table([html.Thead(head), html.Tbody(rows)], className="rows"),
            className="rows-scroll",
            role="region",
            tabIndex=0,
            **labelled("Registers, scrollable"),
        )
    ]


def _remarks(register: Register) -> list[Component]:
    if register.since_ms is None:
        return [html.Span("the first register")]
    causes = [_CAUSES[flag] for flag in Flag if flag in register.flags]
    return [
        html.Span(words, className="cause", **attributes(data_kind=kind)) for kind, words in causes
    ]


def _sign(unit: str) -> str:
    return _SIGNS.get(unit, unit)


def _places(values: Sequence[float]) -> int:
    """The least number of decimals that shows all of these exactly, at most three."""
    return next(
        (
            places
            for places in range(_MOST_DECIMALS)
            if all(round(value, places) == round(value, _MOST_DECIMALS) for value in values)
        ),
        _MOST_DECIMALS,
    )


def _time(instant_ms: int, tz: ZoneInfo) -> str:
    local = Clock(tz, instant_ms, instant_ms).local(instant_ms)
    return f"{day_text(local // DAY_MS)}, {minute_text(local)}"
