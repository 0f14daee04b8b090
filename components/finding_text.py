"""A finding's texts, as every page writes them: its shape, its numbers and instants in the reader's
units and zone. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from api.catalog import FLOW_AMOUNT, HOUR_MS, ONBOARD_TEMPERATURE
from api.client.finding_settings import FindingSettingValue
from api.client.findings import Finding
from api.insight.finding_dismissal import STEP, Judgement
from api.insight.findings import KIND_BY_NAME, Kind
from api.insight.findings.model import Draft
from api.metering.cost import DEFAULT_CURRENCY, Price, money, price_of
from api.metering.units import plain, words_in
from api.timez import DAY_MS, zone, zone_or_utc
from components import formatting
from components.charts.marks import Mark
from components.directory_queries import Directory
from components.formatting import Clock, day_text, local_date, minute_text
from components.units import Units, usual_units
from components.url_state import View

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


# --- The device ----------------------------------------------------------------------------------


def label(finding: Finding, devices: Directory) -> str:
    meter = devices.by_id.get(finding.device_id)
    return (meter.label if meter else "") or finding.serial_number


def group(finding: Finding, devices: Directory) -> str:
    meter = devices.by_id.get(finding.device_id)
    return meter.groups[0] if meter and meter.groups else ""


def currency(finding: Finding, devices: Directory) -> str:
    device_price = price(finding, devices)
    return device_price.currency if device_price else DEFAULT_CURRENCY


def clock(finding: Finding, devices: Directory, zone: str | None, now_ms: int) -> Clock:
    """The clock of the reader's zone, otherwise of the device's."""
    meter = devices.by_id.get(finding.device_id)
    tz = zone_or_utc(zone, meter.time_zone if meter else None)
    return Clock(tz, finding.start_ms - DAY_MS, max(now_ms, finding.end_ms or 0) + DAY_MS)


def consequence(judgement: Judgement, kind: Kind) -> str:
    """The effect of dismissing a finding of that kind with that judgement."""
    if judgement.effect == "nothing":
        return "Changes nothing else."
    if judgement.effect == "normal":
        return "It ends now; what has flowed since it began counts as usual."
    return f"On this device, {kind.label.lower()} then begins at {STEP:g} times its threshold."


# --- Amounts -------------------------------------------------------------------------------------


def against(finding: Finding, units: Units) -> str:
    """``limit 40%`` or ``usually 20 gal/h``; empty without either."""
    if finding.usual is None:
        return ""
    kind = kind_of(finding)
    if kind.against == "limit":
        return f"limit {quantity(finding.usual, finding.unit, units)}"
    unit = "gal" if finding.unit == "days" else finding.unit
    a_day = " a day" if finding.unit == "days" else ""
    return f"usually {quantity(finding.usual, unit, units)}{a_day}"


def so_far(finding: Finding, units: Units) -> str:
    return units.volume(finding.gallons)


def cost(finding: Finding, devices: Directory) -> str:
    if finding.cost_per_day is None:
        return formatting.NOTHING
    return money(finding.cost_per_day, currency(finding, devices))


def price(finding: Finding, devices: Directory) -> Price | None:
    meter = devices.by_id.get(finding.device_id)
    if meter is None:
        return None
    return price_of(meter.price, meter.currency, devices.price)


def cost_of_gallons(finding: Finding, devices: Directory) -> str:
    """The cost of the gallons so far; empty without a price, or if no water is lost."""
    device_price = price(finding, devices)
    if device_price is None or finding.gallons is None or finding.cost_per_day is None:
        return ""
    return money(device_price.cost(finding.gallons), device_price.currency)


def gallons_a_day(finding: Finding, devices: Directory) -> float | None:
    """None if no water is lost."""
    device_price = price(finding, devices)
    if (
        finding.cost_per_day is not None
        and device_price is not None
        and device_price.per_gallon > 0
    ):
        return finding.cost_per_day / device_price.per_gallon
    draft = Draft(finding.start_ms, finding.opened_ms, finding.end_ms, finding.value)
    return kind_of(finding).per_day(draft)


def bounded(text: str, finding: Finding) -> str:
    """The text with the number's qualifier: ``so far, at least``."""
    bound = kind_of(finding).bound
    return f"{text}, {bound}" if bound else text


def at_stake(findings: Iterable[Finding], devices: Directory) -> str:
    """``at least $30.19 a day``: the sum of costs by currency; empty if no cost is known."""
    sums: dict[str, float] = {}
    kinds: list[Kind] = []
    for finding in findings:
        if finding.cost_per_day is not None:
            name = currency(finding, devices)
            sums[name] = sums.get(name, 0.0) + finding.cost_per_day
            kinds.append(kind_of(finding))
    if not sums:
        return ""
    amount = " + ".join(money(amount, name) for name, amount in sums.items())
    return f"{bound_of(kinds)} {amount} a day".strip()


# --- Times ---------------------------------------------------------------------------------------


def began(finding: Finding, at: Clock, now_ms: int) -> str:
    """``Today, 02:00``, ``Mon 16 Nov, 03:00``; with the year if it is another one."""
    return instant(finding.start_ms, at, now_ms)


def instant(instant_ms: int, at: Clock, now_ms: int) -> str:
    local, today = at.local(instant_ms), at.local(now_ms) // DAY_MS
    day = local // DAY_MS
    if day == today:
        return f"Today, {minute_text(local)}"
    year = local_date(day).year != local_date(today).year
    return f"{day_text(day, year=year)}, {minute_text(local)}"


def age(finding: Finding, now_ms: int) -> str:
    """``6 d 6 h ago``; for a closed finding its duration."""
    length = lasting(finding, now_ms)
    return f"{length} ago" if finding.end_ms is None else f"lasted {length}"


def headline(finding: Finding, now_ms: int) -> str:
    return kind_of(finding).headline.format(length=lasting(finding, now_ms))


def dates(finding: Finding, at: Clock) -> str:
    """``12–14 Aug 2026``, ``3 Mar 2026``: the local days of the finding."""
    first = formatting.date_of(finding.start_ms, at)
    last = formatting.date_of(finding.end_ms or finding.start_ms, at)
    if first == last:
        return first
    same = first.split(" ")[1:] == last.split(" ")[1:]
    return f"{first.split(' ')[0]}–{last}" if same else f"{first} – {last}"


def marks_of(findings: Sequence[Finding], view: View) -> list[Mark]:
    return [
        Mark(
            each.start_ms,
            each.end_ms,
            each.severity,
            kind_of(each).label,
            ", ".join(filter(None, (how_much(each, view.units), _mark_volume(each, view)))),
        )
        for each in findings
    ]


def _mark_volume(finding: Finding, view: View) -> str:
    if finding.gallons is None:
        return ""
    until = "so far" if finding.end_ms is None else "in all"
    return f"{so_far(finding, view.units)} {bounded(until, finding)}"


# --- Settings ------------------------------------------------------------------------------------

INSTANT_UNIT: Final = "ms"  # of a setting that is an instant: shown as a date, can only be reset


def origin(each: FindingSettingValue) -> str:
    """The source of the value."""
    if each.own:
        return f"Set here. Without it {_value(each, each.inherited)}"
    return {
        "organization": "From all devices",
        "group": f"From group {each.of}",
        "config": "From the device’s configuration",
    }.get(each.origin, "Default")


def _value(each: FindingSettingValue, value: float) -> str:
    if each.flag:
        return "On" if value else "Off"
    if each.unit == INSTANT_UNIT:
        if not value:
            return "none"
        return formatting.moment(int(value), Clock(zone("UTC"), int(value), int(value)))
    unit = usual_units().shown(each.unit)
    if unit.factor != 1:
        return f"{formatting.number(unit.shown(value))} {unit.name}"
    text = plain(value).replace("-", "−")
    return f"{text}{'' if each.unit in ('', '%') else ' '}{each.unit}"
