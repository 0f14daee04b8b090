"""The shown rows as a table, latest first, in pages. Also the accessible form of the chart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from zoneinfo import ZoneInfo

from dash import html
from dash.development.base_component import Component

from api.catalog import FLOW_AMOUNT, FLOW_DURATION, METRICS, RAW, Metric, Resolution
from api.client import Series
from components import formatting
from components.charts.frames import bucket_ends
from components.comparison_queries import comparison_name
from components.controls import attributes, labelled
from components.formatting import Clock
from components.units import Scale, Units

PAGE: Final = 20
UNDATED: Final = "*"
ABOUT_UNDATED: Final = "* The device sent no time: this is when the reading was received."
SPREAD: Final = "†"
ABOUT_SPREAD: Final = (
    "† Between two registers that lie far apart: the volume is spread evenly over the gap."
)


@dataclass(frozen=True, slots=True)
class Page:
    """Rows in order of time: the page ``number``, counted from the latest; ``total``: in the
    window."""

    rows: Series
    number: int
    total: int

    @property
    def last(self) -> int:
        return max(1, -(-self.total // PAGE))


def table(
    page: Page,
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
    times, given = titles(page.rows, tz), page.rows.undated
    estimated = _within(page.rows, spread, tz)
    marks = [
        (UNDATED if at in given else "") + (SPREAD if is_spread else "")
        for at, is_spread in zip(page.rows.times_ms, estimated, strict=True)
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
        *(
            [html.P(ABOUT_UNDATED, className="rows-about")]
            if any(at in given for at in page.rows.times_ms)
            else []
        ),
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


def _pager(page: Page) -> Component:
    # Counted from the latest: the first page begins with 1.
    first = (page.number - 1) * PAGE + 1
    last = min(page.total, page.number * PAGE)
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
