"""One device as a tile of the wall: texts, numbers and paths. Pure.

Numbers of a column have the same unit and decimals, so that they compare across tiles.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote, urlencode

from api.catalog import FLOW_AMOUNT, NETWORK_RSSI, SIGNAL_STRENGTH
from api.client import DeviceStatus, Strip, WindowStatus
from api.client.findings import Finding
from api.metering import status, uptime
from api.metering.cost import device_price, finite, money
from api.metering.status import DEFAULT_QUALITY_LIMIT
from api.metering.uptime import UPTIME_LIMIT
from api.metering.windows import DEFAULT_SPAN, Span
from api.timez import DAY_MS, HOUR_MS, MINUTE_MS, zone_or_utc
from components import formatting, session
from components.charts.marks import DIAMONDS, shortened
from components.finding_text import SEVERITY_WORDS, how_much, kind_of
from components.fleet.queries import FleetView
from components.fleet.sparklines import HEIGHT, Spark, window_of
from components.formatting import Clock, measures_water, percent
from components.ranges import Window
from components.status_queries import INACTIVE, LOADING, shown
from components.units import Scale, Units, write_units

PLACE: Final = "/devices"
CELL: Final = 10  # a cell's width in the strip's own units, with the space after it
CELL_GAP: Final = 3
CELL_HEIGHT: Final = 100
NOT_DUE: Final = -1


@dataclass(frozen=True, slots=True)
class Column:
    """The unit and decimals of a column's numbers."""

    scale: Scale
    places: int

    @classmethod
    def of(cls, scale: Scale, values: Iterable[float | None]) -> Column:
        return cls(scale, formatting.decimals(None if v is None else scale.of(v) for v in values))

    def text(self, value: float | None) -> str:
        """The number; zero is "0" with any decimals."""
        if value is None:
            return formatting.NOTHING
        return formatting.exact(self.scale.of(value), self.places) if value else "0"


@dataclass(frozen=True, slots=True)
class Columns:
    flow: Column
    today: Column
    month: Column

    @classmethod
    def of(cls, rows: Sequence[DeviceStatus], units: Units) -> Columns:
        flows = [row.flow for row in rows]
        volumes = ([row.volume_today for row in rows], [row.volume_month for row in rows])
        today, month = (
            Column.of(
                units.scale(FLOW_AMOUNT, max((v for v in some if v is not None), default=0.0)), some
            )
            for some in volumes
        )
        return cls(Column.of(Scale(units.flow_unit, units.flow_factor), flows), today, month)


def tiles_of(
    rows: Sequence[DeviceStatus], lines: Mapping[str, Spark], view: FleetView, now_ms: int
) -> list[dict[str, Any]]:
    """Tiles of a view, in the order of the rows."""
    columns = Columns.of(rows, view.units)
    return [tile(row, lines.get(row.device.id), columns, view, now_ms) for row in rows]


def tile(
    row: DeviceStatus, line: Spark | None, columns: Columns, view: FleetView, now_ms: int
) -> dict[str, Any]:
    """A line that the browser has drawn already (`FleetView.drawn`) isn't sent again."""
    device, state, span = row.device, shown(row), view.span
    seen, seen_at = _seen(row, zone_or_utc(view.zone, device.time_zone).key, now_ms)
    made: dict[str, Any] = {
        "id": device.id,
        "href": _href(device.id, span, view.zone, view.units),
        "label": device.label,
        "serial": device.serial_number,
        "state": state.name,
        "shape": state.shape,
        "word": state.word,
        "seen": seen,
        "seen_at": seen_at,
        "finding": _finding(row),
        "numbers": _numbers(row, columns, view.units, now_ms),
        "health": _health(row, span),
        "strip": strip(percents(row.strip)) if row.strip is not None else None,
        "span": _finding_span(row, line, span, now_ms),
        "noted": _notes_path(row, line, span, now_ms),
        "notes": _notes_words(row),
        **_line(line, row, span, view.drawn.get(device.id, "")),
    }
    return made | {"summary": _summary(row, made, line, view)}


def _href(device_id: str, span: Span, zone: str | None, units: Units) -> str:
    """The address of the device in the same window, zone and units; defaults are left out."""
    values = {
        "range": span.name if span is not DEFAULT_SPAN else None,
        "zone": zone,
        "units": write_units(units),
    }
    query = urlencode({name: value for name, value in values.items() if value})
    return session.site_path(f"{PLACE}/{quote(device_id)}") + (f"?{query}" if query else "")


def _seen(row: DeviceStatus, zone: str, now_ms: int) -> tuple[str, str]:
    if shown(row) is LOADING:
        return "…", ""
    if row.last_seen_ms is None:
        return "never reported", ""
    clock = Clock(zone_or_utc(zone), row.last_seen_ms, row.last_seen_ms)
    at = formatting.moment(row.last_seen_ms, clock, seconds=True)
    return formatting.ago(row.last_seen_ms, now_ms), at


# --- Numbers -------------------------------------------------------------------------------------


def _finding(row: DeviceStatus) -> dict[str, str] | None:
    """The worst finding's shape and text, and how many others are open."""
    finding = row.finding
    if finding is None:
        return None
    others = len(row.findings) - 1
    more = f" +{others}" if others > 0 else ""
    word = f"{kind_of(finding).label}{more}"
    return {"severity": finding.severity, "shape": DIAMONDS[finding.severity], "word": word}


def _numbers(
    row: DeviceStatus, columns: Columns, units: Units, now_ms: int
) -> list[tuple[str, str, str]]:
    """(value, meaning, emphasis): the flow now; then the worst finding and its cost, or else the
    volumes of the day and the month. For a gateway, its radio signal."""
    if not measures_water(row.device.category):
        return _radio(row)
    flow = (columns.flow.text(row.flow), f"{units.flow_unit} now", "" if row.flow else "quiet")
    today = (columns.today.text(row.volume_today), f"{columns.today.scale.unit} today", "")
    finding = row.finding
    if finding is None:
        unit = columns.month.scale.unit
        return [flow, today, (columns.month.text(row.volume_month), f"{unit} this month", "")]
    amount = (how_much(finding, units, now_ms), _amount_name(finding, now_ms), "finding")
    if finding.cost_per_day is None:
        return [flow, amount, today]
    _, currency = device_price(row.device.cost_per_gallon)
    return [flow, amount, (money(finding.cost_per_day, currency), "a day", "finding")]


def _radio(row: DeviceStatus) -> list[tuple[str, str, str]]:
    strengths = ((row.network_rssi, NETWORK_RSSI), (row.signal_strength, SIGNAL_STRENGTH))
    texts = [
        (formatting.exact(value, 0), f"{metric.unit} {name}", "")
        for (value, metric), name in zip(strengths, ("RSSI", "signal"), strict=True)
    ]
    return [*texts, ("", "", "")]


def _amount_name(finding: Finding, now_ms: int) -> str:
    """``at least, 6 d``: the number's qualifier, and the finding's duration unless that is the
    number itself."""
    kind = kind_of(finding)
    bound = kind.bound or ("over usual" if kind.difference else "")
    if bound:
        return f"{bound}, {_roughly(now_ms - finding.start_ms)}"
    return kind.label.lower() if kind.unit in ("h", "days") else kind.caption


def _roughly(length_ms: int) -> str:
    """In one unit: a tile has no room for two."""
    days, hours = length_ms // DAY_MS, length_ms // HOUR_MS
    return f"{days} d" if days else f"{hours} h" if hours else f"{length_ms // MINUTE_MS} min"


def _health(row: DeviceStatus, span: Span) -> list[tuple[str, str, str]]:
    """(value, meaning, emphasis) of uptime and quality."""
    if shown(row) in (INACTIVE, LOADING):
        return [(formatting.NOTHING, name, "") for name in ("uptime", "quality")]
    window = row.windows.get(span.name) or WindowStatus(0, 0, None, None)
    share = uptime.share(window.actual, window.expected)
    ends = (window.quality_min, window.quality_max)
    quality = formatting.span(*(None if v is None else round(v) for v in ends))
    limit = finite(row.device.config.get("qualityLimit"))
    poor = status.low_quality(window.quality_min, DEFAULT_QUALITY_LIMIT if limit is None else limit)
    low = uptime.is_low(window.actual, window.expected)
    return [
        (percent(share), "uptime", "low" if low else ""),
        (quality, "quality", "low" if poor else ""),
    ]


# --- The line ------------------------------------------------------------------------------------


def _line(line: Spark | None, row: DeviceStatus, span: Span, drawn: str) -> dict[str, Any]:
    """The paths with their mark, or the reason why there are none."""
    if shown(row) is INACTIVE:
        return {"spark": None, "note": "Inactive"}
    if row.last_seen_ms is None and shown(row) is not LOADING:
        return {"spark": None, "note": "Never reported"}
    if line is None:
        return {"spark": None, "note": ""}
    note = "" if line.line else f"No flow readings in {span.label}"
    if note and not measures_water(row.device.category):
        note = "Measures no water"
    mark = line.mark
    paths = None if mark == drawn else [line.width, line.gaps, line.band, line.usual, line.line]
    return {"spark": paths, "mark": mark, "note": note}


def _finding_span(row: DeviceStatus, line: Spark | None, span: Span, now_ms: int) -> str:
    """The span of the worst finding, as a path in the line's box; "" if it isn't in the window."""
    finding = row.finding
    if finding is None or line is None or not line.line:
        return ""
    window = window_of(row, span, now_ms)
    end_ms = now_ms if finding.end_ms is None else finding.end_ms
    left, right = (_x(at, window, line) for at in (finding.start_ms, end_ms))
    return f"M{left} 0H{right}V{HEIGHT}H{left}Z" if right > left else ""


def _x(instant_ms: int, window: Window, line: Spark) -> int:
    share = (instant_ms - window.from_ms) / window.length_ms
    return round(max(0.0, min(1.0, share)) * line.width)


def _notes_path(row: DeviceStatus, line: Spark | None, span: Span, now_ms: int) -> str:
    """The notes as a path in the line's box: a line at the start of each, and a bar above its
    span."""
    if line is None or not row.notes:
        return ""
    window, path = window_of(row, span, now_ms), ""
    for note in row.notes:
        left = _x(note.from_ms, window, line)
        path += f"M{left} {HEIGHT}V0"
        if note.to_ms is not None:
            path += f"H{_x(note.to_ms, window, line)}"
    return path


def _notes_words(row: DeviceStatus) -> str:
    """The latest note, and how many others are in the window."""
    if not row.notes:
        return ""
    others = len(row.notes) - 1
    more = f" (and {formatting.plural(others, 'other note')})" if others else ""
    return f"Note: {shortened(row.notes[-1].text)}{more}"


# --- The strip -----------------------------------------------------------------------------------


def percents(cells: Strip) -> tuple[int, ...]:
    """Each cell's share in percent: 100 only if nothing is missing, 0 only if everything is;
    `NOT_DUE` if nothing was expected."""
    return tuple(map(_percent, cells.observed, cells.expected))


def _percent(observed: int, expected: int) -> int:
    share = uptime.share(observed, expected)
    if share is None:
        return NOT_DUE
    return round(share * 100) if share in (0, 1) else max(1, min(99, round(share * 100)))


def strip(shares: tuple[int, ...]) -> tuple[int, str, str, str]:
    """(width, track, full, part): the strip's cells as three paths. Each cell is filled from below
    by its share of expected buckets; a cell without expected buckets is empty."""
    track = full = part = ""
    for index, share in enumerate(shares):
        if share == NOT_DUE:
            continue
        x = index * CELL
        if share < CELL_HEIGHT:
            track += _bar(x, CELL_HEIGHT)
        if share >= UPTIME_LIMIT * 100:
            full += _bar(x, share)
        elif share > 0:
            part += _bar(x, share)
    return len(shares) * CELL - CELL_GAP, track, full, part


def _bar(x: int, height: int) -> str:
    return f"M{x} {CELL_HEIGHT}v-{height}h{CELL - CELL_GAP}v{height}z"


# --- As a sentence -------------------------------------------------------------------------------


def _summary(
    row: DeviceStatus, made: Mapping[str, Any], line: Spark | None, view: FleetView
) -> str:
    """The tile's text for screen readers."""
    state = shown(row)
    name = f"{row.device.label}, {row.device.serial_number}. {state.word}"
    if state in (INACTIVE, LOADING):
        return name
    if row.last_seen_ms is None:
        return f"{name}, {made['seen']}"
    (up, *_), (quality, *_) = made["health"]
    flow = made["numbers"][0][0] if measures_water(row.device.category) else ""
    parts = [f"{name}, last seen {made['seen']}"]
    if row.finding is not None:
        (much, about, _), finding = made["numbers"][1], row.finding
        parts.append(
            f"{SEVERITY_WORDS[finding.severity]}: {made['finding']['word']}, {much} {about}"
        )
    has_uptime = up != formatting.NOTHING
    parts.append(f"Uptime {up} in {view.span.label}" if has_uptime else "No readings expected yet")
    parts += [made["notes"]] if made["notes"] else []
    details = [f"quality {quality}"] if quality != formatting.NOTHING else []
    if flow:
        details.append(_flow_words(flow, view.units))
    if line is not None and line.peak is not None:
        details.append(f"peak {view.units.flow(line.peak)} {view.units.flow_unit}")
    return ". ".join(parts) + "; " + "; ".join(details)


def _flow_words(flow: str, units: Units) -> str:
    if flow == formatting.NOTHING:
        return "no current flow reading"
    return "quiet" if flow == "0" else f"flow {flow} {units.flow_unit}"
