"""Where the month of chosen devices will end, as a number of a strip. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from api.client import MonthEnd
from api.metering.cost import money
from components import formatting
from components.fleet.totals import Total
from components.units import Units


def month_total(found: Sequence[MonthEnd], units: Units) -> Total | None:
    """None where nothing was asked. Of one device with its interval; of several the sum, whose
    interval isn't the sum of theirs."""
    if not found:
        return None
    expected = [each.volume.expected for each in found if each.volume.expected is not None]
    if len(expected) < len(found):
        return Total("month-end", "Month end", formatting.NOTHING, "too early to say")
    costs: defaultdict[str, float] = defaultdict(float)
    for each in found:
        if each.cost is not None and each.cost.expected is not None:
            costs[each.currency] += each.cost.expected
    price = " + ".join(money(amount, currency) for currency, amount in costs.items())
    parts = [_interval(found[0], units)] if len(found) == 1 else []
    note = " · ".join(part for part in (*parts, price) if part)
    return Total("month-end", "Month end", units.volume(sum(expected)), note or "expected")


def _interval(found: MonthEnd, units: Units) -> str:
    """``85,200 gal – 93,100 gal``, of 80 %; empty where none is known."""
    bounds = found.volume.interval
    return "" if bounds is None else f"{units.volume(bounds.low80)} – {units.volume(bounds.high80)}"
