"""Night flow step: in every hour of the night, the flow is higher than weeks ago."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from statistics import median
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

from api.catalog import DAY_MS
from api.insight.findings.model import NORMAL_FROM, Context, Draft, Kind, Night, Setting, is_open
from api.insight.findings.text import number, span
from api.metering.profile import MAD_TO_SIGMA

NIGHTS: Final = 3
BASE_NIGHTS: Final = 28
EARLIER_NIGHTS: Final = 28
LEAST_NIGHTS: Final = 14  # nights that make the base
SIGMAS: Final = 6.25
OFFER_MS: Final = 45 * DAY_MS  # nights after which "take as the new normal" is offered


class Memory(NamedTuple):
    """The flow of the latest nights in gal/min, and when each began. While a finding is open, the
    base (flow, threshold) doesn't change."""

    flows: tuple[float | None, ...] = ()
    starts: tuple[int, ...] = ()
    base: tuple[float, float] | None = None


def step(
    memory: Memory, draft: Draft | None, night: Night, context: Context
) -> tuple[Memory, Sequence[Draft]]:
    keep = 1 - BASE_NIGHTS - EARLIER_NIGHTS
    memory = Memory(
        (*memory.flows[keep:], night.flow), (*memory.starts[keep:], night.start_ms), memory.base
    )
    if draft is not None and draft.end_ms is None:
        return _while_open(memory, draft, night, context)
    drafts = () if draft is None else (draft,)
    base = _base(memory, night, context)
    latest = [flow for flow in memory.flows[-NIGHTS:] if flow is not None]
    if base is None or len(latest) < NIGHTS or is_open(context.drafts.get("burst")):
        return memory, drafts
    usual, threshold = base
    rise = median(latest) - usual
    if rise <= threshold or min(latest) - usual <= threshold / 2:
        return memory, drafts
    gallons = NIGHTS * rise * DAY_MS / 60_000
    new = Draft(
        memory.starts[-NIGHTS],
        night.end_ms,
        value=rise,
        usual=usual,
        gallons=gallons,
        hours=NIGHTS * 24,
    )
    return memory._replace(base=base), (*drafts, new)


def _base(memory: Memory, night: Night, context: Context) -> tuple[float, float] | None:
    """Returns (usual night flow, rise that opens a finding), in gal/min; None with too few
    nights."""
    if night.mean <= context.values["least_flow"]:
        return None
    normal_ms = context.normal_from_ms
    since = normal_ms if normal_ms <= night.end_ms else 0
    pairs = zip(memory.flows, memory.starts, strict=True)
    nights = [flow for flow, start in list(pairs)[:-EARLIER_NIGHTS] if start >= since]
    flows = [flow for flow in nights if flow is not None]
    if len(flows) < LEAST_NIGHTS:
        return None
    usual = median(flows)
    mad = median(abs(flow - usual) for flow in flows)
    share = context.values["least_share"] / 100 * night.mean / 60
    return usual, context.factor * max(SIGMAS * MAD_TO_SIGMA * mad / sqrt(NIGHTS), share)


def _while_open(
    memory: Memory, draft: Draft, night: Night, context: Context
) -> tuple[Memory, Sequence[Draft]]:
    normal_ms = context.normal_from_ms
    if draft.opened_ms <= normal_ms <= night.end_ms:
        return memory._replace(base=None), (draft._replace(end_ms=normal_ms, trains=True),)
    latest = [flow for flow in memory.flows[-NIGHTS:] if flow is not None]
    if night.flow is None or memory.base is None:
        return memory, (draft,)
    usual, threshold = memory.base
    rise = median(latest) - usual
    if rise < threshold / 2:
        return memory._replace(base=None), (draft._replace(end_ms=night.start_ms),)
    gallons = (draft.gallons or 0) + rise * DAY_MS / 60_000
    offered = 1.0 if night.end_ms - draft.opened_ms >= OFFER_MS else None
    return memory, (
        draft._replace(value=rise, gallons=gallons, hours=draft.hours + 24, extra=offered),
    )


def words(draft: Draft, tz: ZoneInfo) -> str:
    day = number(draft.value * 1440)
    return (
        f"Night flow is {number(draft.value)} gal/min above usual, up to {day} gal a day, "
        f"{span(draft.start_ms, draft.end_ms, tz)}"
    )


KIND: Final = Kind(
    name="night-flow-step",
    label="Night flow step",
    noun=True,
    headline="nights above usual for {length}",
    caption="above usual at night",
    difference=True,
    bound="up to",
    unit="gal/min",
    severity="warning",
    memory=Memory,
    step=step,
    sees=(Night,),
    words=words,
    settings=(
        Setting("least_flow", "Only above a mean flow of", "gal/h", 20, 0, 1e6),
        Setting("least_share", "Least rise, of the mean flow", "%", 10, 1, 1000),
        NORMAL_FROM,
    ),
    loss=True,
    per_day=lambda draft: draft.value * 1440,
    masks=True,
)
