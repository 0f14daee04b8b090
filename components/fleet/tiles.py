"""Devices' tiles: every word and shape that the browser draws. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final
from urllib.parse import quote, urlencode

from api.errors import WeirError
from api.metering.uptime import UPTIME_LIMIT
from api.metering.windows import DEFAULT_SPAN, Span
from components import formatting, session
from components.clock import Clock, known_zone
from components.fleet.device_status import Known
from components.fleet.selection import Row
from components.fleet.sparkline_rows import Line
from components.fleet.sparklines import Spark
from components.fleet.states import low_quality, low_uptime
from components.fleet.totals import percent
from components.fleet.uptime_strip import NOT_DUE, Beat
from components.fleet.url_state import FleetView
from components.units import US, Units

PLACE: Final = "/devices"
CELL: Final = 10  # a cell's width in the strip's own units, with the space behind it
CELL_GAP: Final = 3
CELL_HEIGHT: Final = 100


def tile(
    row: Row,
    line: Line | None,
    beat: Beat | None,
    *,
    span: Span,
    zone: str | None,
    units: Units,
    now_ms: int,
    drawn: str = "",
) -> dict[str, Any]:
    """``drawn`` is the mark of the line that the browser has drawn already, "" for none: the same
    line isn't told again."""
    meter, known, state, *_ = row
    seen, seen_at = _seen(known, known_zone(zone, meter.time_zone).key, now_ms)
    made: dict[str, Any] = {
        "id": meter.id,
        "href": _href(meter.id, span, zone, units),
        "label": meter.label,
        "serial": meter.serial,
        "state": state.name,
        "shape": state.shape,
        "word": state.word,
        "seen": seen,
        "seen_at": seen_at,
        "numbers": _numbers(row, units),
        "strip": strip(beat.percents()) if beat is not None else None,
        **_line(line, known, span, drawn),
    }
    return made | {"summary": _summary(row, made, line, span, units)}


def tiles_of(
    rows: Iterable[Row],
    drawn: Mapping[str, Line],
    pulses: Mapping[str, Beat],
    view: FleetView,
    now_ms: int,
) -> list[dict[str, Any]]:
    """Tiles of a view, with lines and heartbeats as far as they are known."""
    return [
        tile(
            row,
            drawn.get(row.meter.id),
            pulses.get(row.meter.id),
            span=view.span,
            zone=view.zone,
            units=view.units,
            now_ms=now_ms,
            drawn=view.drawn.get(row.meter.id, ""),
        )
        for row in rows
    ]


def filled(rows: Iterable[Row], drawn: Mapping[str, Line], pulses: Mapping[str, Beat]) -> bool:
    """Whether all that is worth asking is known of these devices' lines and heartbeats."""
    ids = [row.meter.id for row in rows if row.answered]
    return all(id in drawn and id in pulses and pulses[id].complete for id in ids)


def _href(device_id: str, span: Span, zone: str | None, units: Units) -> str:
    """The device in the same window, zone and units; what is usual isn't said."""
    said = {
        "range": span.name if span is not DEFAULT_SPAN else None,
        "zone": zone,
        "units": units.name if units is not US else None,
    }
    query = urlencode({name: value for name, value in said.items() if value})
    return session.site_path(f"{PLACE}/{quote(device_id)}") + (f"?{query}" if query else "")


def _seen(known: Known | None, zone: str, now_ms: int) -> tuple[str, str]:
    if known is None:
        return "…", ""
    if known.failure:
        return "unavailable", known.failure
    if known.seen_ms is None:
        return "never reported", ""
    clock = Clock(known_zone(zone), known.seen_ms, known.seen_ms)
    return formatting.ago(known.seen_ms, now_ms), formatting.moment(
        known.seen_ms, clock, seconds=True
    )


def _numbers(row: Row, units: Units) -> list[list[str]]:
    """(value, unit or meaning, emphasis) of uptime, quality and flow now."""
    meter, known, _, flow, _ = row
    if known is None or known.failure:
        return [[formatting.NOTHING, name, ""] for name in ("uptime", "quality", units.flow_unit)]
    return [
        [percent(known.uptime), "uptime", "low" if low_uptime(known) else ""],
        [_range(known), "quality", "low" if low_quality(meter, known) else ""],
        [units.flow(flow), units.flow_unit, "quiet" if not flow else ""],
    ]


def _range(known: Known) -> str:
    return formatting.span(*(None if v is None else round(v) for v in (
        known.quality_min, known.quality_max)))  # fmt: skip


def _line(line: Line | None, known: Known | None, span: Span, drawn: str) -> dict[str, Any]:
    """The paths under their mark; or in words why there is none."""
    if known is not None and known.failure:
        return {"spark": None, "note": known.failure}
    if isinstance(line, WeirError):
        return {"spark": None, "note": f"The line can’t be loaded. {line}"}
    if known is not None and known.seen_ms is None:
        return {"spark": None, "note": "Never reported"}
    if line is None:
        return {"spark": None, "note": ""}
    note = "" if line.line else f"No flow readings in {span.label}"
    mark = line.mark
    paths = None if mark == drawn else [line.width, line.gaps, line.band, line.line]
    return {"spark": paths, "mark": mark, "note": note}


# --- The strip -----------------------------------------------------------------------------------


def strip(percents: tuple[int, ...]) -> tuple[int, str, str, str]:
    """(width, track, full, part): the strip's cells as three paths. Each cell is filled from below
    by its share of the expected buckets; what isn't due leaves a hole, what isn't known a track."""
    track = full = part = ""
    for index, share in enumerate(percents):
        if share == NOT_DUE:
            continue
        x = index * CELL
        if share < CELL_HEIGHT:
            track += _bar(x, CELL_HEIGHT)
        if share >= UPTIME_LIMIT * 100:
            full += _bar(x, share)
        elif share > 0:
            part += _bar(x, share)
    return len(percents) * CELL - CELL_GAP, track, full, part


def _bar(x: int, height: int) -> str:
    return f"M{x} {CELL_HEIGHT}v-{height}h{CELL - CELL_GAP}v{height}z"


# --- In a sentence -------------------------------------------------------------------------------


def _summary(row: Row, made: dict[str, Any], line: Line | None, span: Span, units: Units) -> str:
    """What a screen reader says for the whole tile."""
    meter, known, state, *_ = row
    parts = [f"{meter.label}, {meter.serial}. {state.word}"]
    if known is None or known.failure:
        return parts[0]
    parts[0] += f", {made['seen']}" if known.seen_ms is None else f", last seen {made['seen']}"
    if known.seen_ms is None:
        return parts[0]
    up, quality, flow = (value for value, *_ in made["numbers"])
    parts.append(
        f"Uptime {up} in {span.label}" if known.uptime is not None else "No readings expected yet"
    )
    if known.quality_min is not None:
        parts.append(f"quality {quality}")
    parts.append(_flow_words(flow, units))
    if isinstance(line, Spark) and line.peak is not None:
        parts.append(f"peak {units.flow(line.peak)} {units.flow_unit}")
    return "; ".join(parts).replace("; ", ". ", 1)


def _flow_words(flow: str, units: Units) -> str:
    if flow == formatting.NOTHING:
        return "no current flow reading"
    return "quiet" if flow == "0" else f"flow {flow} {units.flow_unit}"
