"""The cards of readings: the shown rows as a table, latest first, in pages, also the accessible
form of the chart; and the register of the device's meter, its latest value and steps, hidden for a
device without registers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from zoneinfo import ZoneInfo

from dash import html
from dash.development.base_component import Component

from api.catalog import FLOW_AMOUNT, FLOW_DURATION, METRICS, RAW, Metric, Resolution
from api.client import Series
from api.client.registers import Register
from api.metering.register import Exchange, Flag
from api.timez import DAY_MS
from components import formatting
from components.charts.frames import bucket_ends
from components.comparison_queries import comparison_name
from components.controls import attributes, labelled
from components.formatting import Clock, day_text, minute_text
from components.units import Scale, Units

# --- The rows ------------------------------------------------------------------------------------


PAGE_ROWS: Final = 20
UNDATED: Final = "*"
ABOUT_UNDATED: Final = "* The device sent no time: this is when the reading was received."
SPREAD: Final = "†"
ABOUT_SPREAD: Final = (
    "† Between two registers that lie far apart: the volume is spread evenly over the gap."
)


@dataclass(frozen=True, slots=True)
class RowPage:
    """Rows in order of time: the page ``number``, counted from the latest; ``total``: in the
    window."""

    rows: Series
    number: int
    total: int

    @property
    def last(self) -> int:
        return max(1, -(-self.total // PAGE_ROWS))


def row_table(
    page: RowPage,
    tz: ZoneInfo,
    units: Units,
    others: Mapping[int, float] | None = None,
    compare: str = "",
    spread: Sequence[tuple[int, int]] = (),
) -> list[Component]:
    """``others``: start of a row → the gallons it is compared with. ``spread``: spans (after, up
    to) over which a register's volume is spread."""
    if not len(page.rows):
        return [html.P("No rows in this range.", className="empty")]
    columns = _columns(page.rows.resolution, units)
    added = _compared(page.rows, others, compare, units) if others else []
    titles_ = ("Time", *(c.title for c in columns), *(title for title, _ in added))
    head = html.Tr([html.Th(name, scope="col") for name in titles_])
    times = titles(page.rows, tz)
    undated = [at in page.rows.undated for at in page.rows.times_ms]
    estimated = _within(page.rows, spread, tz)
    marks = [
        (UNDATED if is_undated else "") + (SPREAD if is_spread else "")
        for is_undated, is_spread in zip(undated, estimated, strict=True)
    ]
    values = [column.texts(page.rows) for column in columns] + [texts for _, texts in added]
    body = [
        html.Tr(
            [html.Th(times[i] + marks[i], scope="row"), *(html.Td(column[i]) for column in values)]
        )
        for i in reversed(range(len(times)))
    ]
    return [
        html.Div(
            html.Table([html.Thead(head), html.Tbody(body)], className="rows"),
            className="rows-scroll",
            role="region",
            tabIndex=0,
            **labelled("Rows, scrollable"),
        ),
        *([html.P(ABOUT_UNDATED, className="rows-about")] if any(undated) else []),
        *([html.P(ABOUT_SPREAD, className="rows-about")] if any(estimated) else []),
        _pager(page),
    ]


def _within(rows: Series, spans: Sequence[tuple[int, int]], tz: ZoneInfo) -> list[bool]:
    """Which rows overlap one of the spans. A raw reading stands for the time before it."""
    if rows.resolution is RAW:
        return [any(after < at <= to for after, to in spans) for at in rows.times_ms]
    buckets = zip(rows.times_ms, bucket_ends(rows.times_ms, rows.resolution, tz), strict=True)
    return [any(start <= to and end > after for after, to in spans) for start, end in buckets]


def _compared(
    rows: Series, others: Mapping[int, float], compare: str, units: Units
) -> list[tuple[str, list[str]]]:
    """(title, texts) of the other volume and of the difference."""
    scale = units.scale(FLOW_AMOUNT, 1.0)
    own = rows.values(f"total_{FLOW_AMOUNT.name}")
    other = [others.get(at) for at in rows.times_ms]
    both = [
        None if a is None or b is None else scale.of(a) - scale.of(b)
        for a, b in zip(own, other, strict=True)
    ]
    theirs = [None if v is None else scale.of(v) for v in other]
    places = formatting.decimals([*theirs, *both])
    name = comparison_name(compare)
    return [
        (f"{name}, {scale.unit}", [formatting.exact(v, places) for v in theirs]),
        (f"Difference, {scale.unit}", [formatting.exact(v, places) for v in both]),
    ]


def titles(rows: Series, tz: ZoneInfo) -> list[str]:
    ends = bucket_ends(rows.times_ms, rows.resolution, tz)
    clock = Clock(tz, rows.times_ms[0], ends[-1])
    spans = zip(rows.times_ms, ends, strict=True)
    return [formatting.bucket(start, end, rows.resolution, clock) for start, end in spans]


@dataclass(frozen=True, slots=True)
class _Column:
    """One column: a metric's average and, if it has them, extremes; or a total."""

    metric: Metric
    title: str
    names: Sequence[str]
    scale: Scale

    def texts(self, rows: Series) -> list[str]:
        """The values as texts with an equal number of decimals, so that they can be compared."""
        parts = [self._scaled(rows.values(name)) for name in self.names]
        places = formatting.decimals(value for part in parts for value in part)
        return [_text(each, places) for each in zip(*parts, strict=True)]

    def _scaled(self, values: Sequence[float | None]) -> list[float | None]:
        return [None if v is None else self.scale.of(v) for v in values]


def _text(values: Sequence[float | None], places: int) -> str:
    first, *ends = (formatting.exact(value, places) for value in values)
    if not ends or ends[0] == ends[1]:
        return first
    between = " to " if "−" in "".join(ends) else "–"
    return f"{first} ({between.join(ends)})"


def _columns(resolution: Resolution, units: Units) -> list[_Column]:
    made: list[_Column] = []
    for metric in METRICS:
        if resolution is not RAW and metric is FLOW_DURATION:
            continue
        scale = units.scale(metric, 1.0)
        names = [metric.name]
        if resolution is not RAW:
            averages = [f"{function}_{metric.name}" for function in ("avg", "min", "max")]
            names = [f"total_{metric.name}"] if metric is FLOW_AMOUNT else averages
        made.append(_Column(metric, f"{metric.label}, {scale.unit}", names, scale))
    return made


def _pager(page: RowPage) -> Component:
    # Counted from the latest: the first page begins with 1.
    first = (page.number - 1) * PAGE_ROWS + 1
    last = min(page.total, page.number * PAGE_ROWS)
    span = f"{formatting.whole(first)}–{formatting.whole(last)}"
    turns = (("‹ Later", page.number - 1), ("Earlier ›", page.number + 1))
    buttons = [
        html.Button(
            label,
            type="button",
            className="button",
            disabled=not 1 <= number <= page.last,
            **attributes(data_rows_page=str(number)),
        )
        for label, number in turns
    ]
    count = html.Span(f"{span} of {formatting.plural(page.total, 'row')}")
    return html.Nav([buttons[0], count, buttons[1]], className="pager", **labelled("Pages of rows"))


# --- The register --------------------------------------------------------------------------------


REGISTER_CARD: Final = "device-register"
REGISTER_TITLE: Final = "Register"
REGISTER_STEPS: Final = 10  # rows shown
_MOST_DECIMALS: Final = 3
_SIGNS: Final = {"l": "L", "ml": "mL", "hl": "hL", "m3": "m³", "ft3": "ft³"}
_CAUSES: Final = {
    Flag.SPREAD: ("warn", "a gap: spread evenly over it"),
    Flag.EXCHANGE: ("off", "the meter was exchanged"),
    Flag.ROLLOVER: ("off", "the register rolled over"),
    Flag.BACK: ("bad", "the register went back: unknown"),
}
"""A remark on a step: its severity and text."""


def register_note(
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


def register_card(registers: Sequence[Register], units: Units, tz: ZoneInfo) -> list[Component]:
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
