"""The strip of sums over the whole scope, in words. Each says what it covers. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final

from api.metering.cost import costs, money, price_of
from api.metering.uptime import comparable
from api.metering.usage import change
from api.metering.windows import Span
from api.timez import HOUR_MS, MINUTE_MS
from components import formatting
from components.fleet.day_volumes import Volume
from components.fleet.selection import Row
from components.fleet.states import DEGRADED, NO_DATA, REPORTING, SILENT
from components.units import Units

MOST_MINUTES: Final = 1_000_000  # beyond, hours read better
DAY_NAMES: Final = (
    "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Total:
    """One number of the strip."""

    name: str
    label: str
    value: str
    note: str = ""


def totals(
    rows: Sequence[Row],
    volumes: Mapping[str, Volume],
    *,
    span: Span,
    units: Units,
    default_price: float | None,
) -> list[Total]:
    return [
        reporting(rows),
        uptime(rows, span),
        flow_now(rows, units),
        volume_today(rows, volumes, units),
        cost_today(rows, volumes, default_price),
        needs_attention(rows),
    ]


def percent(share: float | None) -> str:
    """99.6%, floored: 100% only where nothing is missing, 0% only where everything is."""
    if share is None:
        return formatting.NOTHING
    if 0 < share < 0.001:
        return "<0.1%"
    thousandths = int(share * 1000 + 1e-9)
    return f"{thousandths // 10}%" if thousandths % 1000 == 0 else f"{thousandths / 10:.1f}%"


def _of(part: int, whole: int) -> str:
    return f"{formatting.whole(part)} of {formatting.whole(whole)}"


# --- States --------------------------------------------------------------------------------------


def reporting(rows: Sequence[Row]) -> Total:
    """Of the devices whose state is known; the note says how many these are until it is all."""
    counts = Counter(row.state for row in rows)
    known = sum(row.known is not None for row in rows)
    if not known:
        return Total("reporting", REPORTING.word, formatting.NOTHING)
    value = f"{formatting.whole(counts[REPORTING])} / {formatting.whole(known)}"
    if known < len(rows):
        note = f"status of {_of(known, len(rows))} devices so far"
    else:
        note = _counted({s.word.lower(): counts[s] for s in (DEGRADED, SILENT, NO_DATA)})
    return Total("reporting", REPORTING.word, value, note or "every device")


def _counted(counts: Mapping[str, int]) -> str:
    return " · ".join(f"{formatting.whole(n)} {word}" for word, n in counts.items() if n)


def uptime(rows: Sequence[Row], span: Span) -> Total:
    """Observed over expected time: each bucket counts for as long as it is."""
    known = [row.known for row in rows if row.known is not None]
    observed = sum(k.actual * k.bucket_ms for k in known)
    expected = sum(k.expected * k.bucket_ms for k in known)
    label = f"Fleet uptime, {span.label}"
    if not expected:
        return Total(
            "uptime", label, formatting.NOTHING, "no readings expected yet" if known else ""
        )
    hours = expected > MOST_MINUTES * MINUTE_MS
    length, unit = (HOUR_MS, "hours") if hours else (MINUTE_MS, "minutes")
    note = f"{_of(observed // length, expected // length)} {unit}"
    return Total("uptime", label, percent(observed / expected), note)


def needs_attention(rows: Sequence[Row]) -> Total:
    """Devices whose state or quality is bad. Leaks aren't among what is looked for here."""
    label, whys = "Needs attention", [row.why for row in rows if row.why]
    known = sum(row.known is not None for row in rows)
    if not known:
        return Total("attention", label, formatting.NOTHING)
    note = _counted(dict(Counter(chain.from_iterable(whys)).most_common()))
    if not note:
        note = "by state and quality; leaks are not checked here"
    if known < len(rows):
        note = f"of {_of(known, len(rows))} devices so far"
    return Total("attention", label, formatting.whole(len(whys)), note)


# --- Water ---------------------------------------------------------------------------------------


def flow_now(rows: Sequence[Row], units: Units) -> Total:
    """The rates of the last readings that are of now. Flowing, quiet (a reading of zero) and
    without data are three things."""
    known = sum(row.known is not None for row in rows)
    flows = [row.flow for row in rows if row.flow is not None]
    if not flows:
        return Total("flow", "Flow now", formatting.NOTHING, "no recent reading" if known else "")
    flowing = sum(flow != 0 for flow in flows)
    note = _counted(
        {"flowing": flowing, "quiet": len(flows) - flowing, "no data": known - len(flows)}
    )
    return Total("flow", "Flow now", f"{units.flow(sum(flows))} {units.flow_unit}", note)


def volume_today(rows: Sequence[Row], volumes: Mapping[str, Volume], units: Units) -> Total:
    told = [volume for volume in volumes.values() if volume.gallons is not None]
    if not told:
        return Total("volume", "Volume today", formatting.NOTHING, "no reading today")
    value = units.volume(sum(v.gallons or 0.0 for v in told))
    part = _coverage(rows, volumes, len(told))
    if part:
        return Total("volume", "Volume today", formatting.NOTHING, f"{value} in {part}")
    return Total("volume", "Volume today", value, _usual(told))


def _coverage(rows: Sequence[Row], volumes: Mapping[str, Volume], told: int) -> str:
    """How many of the devices that may have reported today are in the sum; empty where all are. A
    part of a sum isn't written large, as if it were the total."""
    waiting = sum(row.meter.id not in volumes for row in rows)
    return f"{_of(told, told + waiting)} devices so far" if waiting else ""


def _usual(told: Sequence[Volume]) -> str:
    """``4% above a typical Friday so far``; the number of devices where too few have a history."""
    both = [v for v in told if v.usual is not None]
    now, usual = sum(v.gallons or 0.0 for v in both), sum(v.usual or 0.0 for v in both)
    difference = change(now, usual)
    if not comparable(len(both) / len(told)) or difference is None:
        return formatting.plural(len(told), "device")
    weekdays = {volume.day.weekday for volume in both}
    such = DAY_NAMES[weekdays.pop()] if len(weekdays) == 1 else "day"
    if difference == 0:
        return f"same as a typical {such} so far"
    side = "above" if difference > 0 else "below"
    return f"{abs(difference)}% {side} a typical {such} so far"


def cost_today(
    rows: Sequence[Row], volumes: Mapping[str, Volume], default_price: float | None
) -> Total:
    """Volume × the device's price, else the organization's. No price, no cost."""
    told = [
        (volume.gallons, price_of(meter.price, meter.currency, default_price))
        for meter, *_ in rows
        if (volume := volumes.get(meter.id)) is not None and volume.gallons is not None
    ]
    sums = costs(told)
    if len(sums) != 1:
        none = "no price set" if told else "no reading today"
        why = "prices in several currencies" if sums else none
        return Total("cost", "Cost today", formatting.NOTHING, why)
    ((currency, cost),) = sums.items()
    part = _coverage(rows, volumes, sum(v.gallons is not None for v in volumes.values()))
    if part:
        note = f"{money(cost, currency)} in {part}"
        return Total("cost", "Cost today", formatting.NOTHING, note)
    sources = {"each device’s" if price.own else "the organization’s" for _, price in told if price}
    note = f"at {' or '.join(sorted(sources))} rate"
    return Total("cost", "Cost today", money(cost, currency), note)
