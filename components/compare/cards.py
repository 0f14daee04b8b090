"""The compare page's parts: charts, ranked bars, the compared items and the options. Pure.

assets/comparison.js draws the charts, so that their colours follow the theme.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final
from urllib.parse import quote, urlencode

from dash import html, no_update
from dash.development.base_component import Component

from api.client.expectations import ItemVolumes, Volumes
from api.errors import NotFound, NotOffered, WeirError
from components import formatting, session
from components.compare.queries import (
    Compared,
    Figure,
    Line,
    attribute_words,
    choices,
    compared,
    per_words,
    shared_attributes,
)
from components.concurrent_queries import ServiceAccess
from components.controls import FORMATS, Entry, Section, attributes, body, labelled, segments
from components.directory_queries import Meter
from components.html_json import as_nodes
from components.usage import table
from components.usage.url_state import (
    MOST_IN_ONE,
    MOST_ITEMS,
    OF_MEAN,
    CompareView,
    write_compare_view,
    write_item,
)

LINE = "\n"
WIDTH = 1000  # of the box; its height is 100
# The room for tick labels, in pixels: of a single chart, and of one among several.
WIDE_PX, NARROW_PX = (640, 190)
EMPTY = "No readings in this range."


# --- Charts --------------------------------------------------------------------------------------


def pictures(figure: Figure, view: CompareView) -> list[Component]:
    """One chart of all lines, or one for each; all on one scale."""
    title = f"{figure.title}, {figure.unit}"
    if figure.empty:
        return [html.H2(title), html.P(EMPTY, className="empty")]
    several = view.split(len(figure.lines))
    groups = [[line] for line in figure.lines] if several else [list(figure.lines)]
    width = NARROW_PX if several else WIDE_PX
    plots = [_picture(figure, lines, width, several=several) for lines in groups]
    note = "All on one scale." if several else ""
    kind = "compare-plots several" if several else "compare-plots"
    return [
        html.H2(title),
        html.Div(plots, className=kind),
        html.P(
            " ".join(part for part in (note, _lacking(figure, view)) if part), className="quiet"
        ),
    ]


def _lacking(figure: Figure, view: CompareView) -> str:
    if not figure.lacking:
        return ""
    return f"Without {attribute_words(view.by)}: {', '.join(figure.lacking)}."


def _picture(figure: Figure, lines: Sequence[Line], width_px: int, *, several: bool) -> Component:
    names = ", ".join(line.item.label for line in lines)
    plot = html.Div(
        className="compare-plot",
        tabIndex=0,
        role="img",
        **labelled(f"{figure.title}: {names}"),
        **attributes(
            data_lines="|".join(f"{line.place + 1} {_path(figure, line)}" for line in lines),
            data_rows="|".join(
                f"{round(100 - 100 * figure.y(mark), 2)} {formatting.number(mark)}"
                for mark in figure.scale[2]
            ),
            data_columns="|".join(
                f"{round(WIDTH * x, 1)} {text.replace('<br>', LINE)}"
                for x, text in figure.columns(width_px)
            ),
            data_places=",".join(str(line.place) for line in lines),
        ),
    )
    head = [_name(lines[0])] if several else []
    return html.Section([*head, plot], **labelled(names))


def _path(figure: Figure, line: Line) -> str:
    """SVG path data; a single bucket is a short stroke."""
    parts: list[str] = []
    for run in figure.runs(line):
        points = [f"{round(WIDTH * x, 1)} {round(100 - 100 * y, 2)}" for x, y in run]
        parts.append("M" + "L".join(points) + ("h0.1" if len(points) == 1 else ""))
    return "".join(parts)


def _swatch(place: int) -> Component:
    return html.Span(
        className="swatch",
        style={"background": f"var(--series-{place + 1})"},
        **attributes(aria_hidden="true"),
    )


def _name(line: Line) -> Component:
    return html.H3([_swatch(line.place), _link(line.item)])


def _link(item: ItemVolumes) -> Component:
    if item.device_id:
        path = f"/devices/{quote(item.device_id, safe='')}"
    else:
        path = f"/?group={quote(item.label, safe='')}"
    return html.A(item.label, href=session.site_path(path))


# --- Ranked bars ---------------------------------------------------------------------------------


def bars(figure: Figure) -> list[Component]:
    rows = [_bar(line, figure) for line in figure.ranked]
    return [
        html.H2(f"{figure.total_title}, {figure.total_unit}"),
        html.Ol(rows, className="compare-bars"),
    ]


def _bar(line: Line, figure: Figure) -> Component:
    long = 100 * max(0.0, line.total or 0.0) / figure.greatest if figure.greatest > 0 else 0.0
    notes = [html.Span(text, className=kind) for text, kind in _notes(line)]
    return html.Li(
        [
            html.Div([_swatch(line.place), _link(line.item)], className="compare-name"),
            html.B(formatting.number(line.total)),
            html.Div(
                html.Span(
                    style={
                        "width": f"{long:.1f}%",
                        "background": f"var(--series-{line.place + 1})",
                    }
                ),
                className="compare-bar",
                **attributes(aria_hidden="true"),
            ),
            html.Div(notes, className="compare-notes"),
        ]
    )


def _notes(line: Line) -> list[tuple[str, str]]:
    """(text, class): the number of devices, and whether readings are missing."""
    item = line.item
    made: list[tuple[str, str]] = []
    if not item.device_id:
        made.append((formatting.plural(item.devices, "device"), "quiet"))
    if item.sub_meters:
        count = formatting.plural(item.sub_meters, "sub-meter")
        made.append((f"{count} not counted twice", "quiet"))
    if line.doubtful:
        made.append((f"{int(100 * item.coverage)}% of readings", "low"))
    return made


# --- Compared items and options ------------------------------------------------------------------


def chips(volumes: Volumes | None, items: Sequence[str]) -> list[Component]:
    """The compared items, also those that weren't found, each with a button to remove it."""
    by_item = {each.item: each for each in volumes.items} if volumes else {}
    places = {each.item: place for place, each in enumerate(volumes.items)} if volumes else {}
    made: list[Component] = []
    for item in items:
        here = by_item.get(item)
        label = here.label if here else f"{item.partition(':')[2]}: not found"
        swatch = [_swatch(places[item])] if item in places else []
        made.append(
            html.Button(
                [*swatch, label, html.Span("✕", **attributes(aria_hidden="true"))],
                type="button",
                className="chip" if here else "chip missing",
                title=f"Remove {label}",
                **attributes(data_pick=write_item(item)),
                **labelled(f"Remove {label}"),
            )
        )
    return made


def how(volumes: Volumes, view: CompareView) -> list[Component]:
    """Buttons: what the volumes are divided by, and whether they share a chart."""
    by = [("", "Volume"), (OF_MEAN, "% of own mean")]
    by += [(name, per_words(name).strip().capitalize()) for name in shared_attributes(volumes)]
    count = len(volumes.items)
    usual = "each" if count > MOST_IN_ONE else "one"
    chosen = "each" if view.split(count) else "one"
    layouts = [("one", "One chart"), ("each", "One each")]
    return [
        segments("What is compared", "by", by, chosen=view.by, default=""),
        segments("Charts", "layout", layouts, chosen=chosen, default=usual),
    ]


def offered_choices(
    groups: Sequence[str], meters: Sequence[Meter], items: Sequence[str]
) -> list[Component]:
    """Groups and devices to choose from, as toggle buttons."""
    if not (groups or meters):
        return [html.P("No device or group matches.", className="quiet")]
    listed = [(f"group:{name}", name, "group") for name in groups]
    listed += [(f"device:{meter.id}", meter.label, meter.serial) for meter in meters]
    return [
        html.Button(
            [html.Span(label), html.Span(note, className="quiet")],
            type="button",
            className="menu-entry",
            disabled=len(items) >= MOST_ITEMS and item not in items,
            **attributes(
                data_pick=write_item(item), aria_pressed="true" if item in items else "false"
            ),
        )
        for item, label, note in listed
    ]


# --- What the callbacks return --------------------------------------------------------------------


NOTHING: Final = "Choose devices or groups to compare."
NOT_FOUND: Final = "None of these devices and groups is found, or you don’t have access."
NO_WEIR: Final = "This server has readings alone: comparing takes a Weir."
IMAGES: Final = (("png", "PNG"), ("svg", "SVG"), ("pdf", "PDF"))


def answer(access: ServiceAccess, view: CompareView, now_ms: int) -> dict[str, Any]:
    """The values of the page's outputs. Raises a WeirError if the whole service fails."""
    try:
        result = compared(access, view, now_ms)
    except NotOffered:
        return _nothing(view, NO_WEIR)
    except NotFound:
        return _nothing(view, NOT_FOUND)
    if result.figure is None or result.volumes is None:
        return _nothing(replace(view, items=result.items), "" if result.items else NOTHING, result)
    drawn = result.figure
    return _page_fields(view, result, "") | {
        "pictures": as_nodes(pictures(drawn, view)),
        "bars": as_nodes(bars(drawn)),
        "chips": as_nodes(chips(result.volumes, result.items)),
        "how": as_nodes(how(result.volumes, view)),
        "hover": _hover(drawn),
    }


def _nothing(view: CompareView, why: str, result: Compared | None = None) -> dict[str, Any]:
    empty = why or "The range has not begun."
    return _page_fields(view, result, empty) | {
        "pictures": [],
        "bars": [],
        "chips": as_nodes(chips(None, view.items)),
        "how": [],
        "hover": None,
    }


def _page_fields(view: CompareView, result: Compared | None, empty: str) -> dict[str, Any]:
    """The view's fields for assets/usage.js, which keeps the page in step with its address."""
    days = view.days
    items = result.items if result else view.items
    fields: dict[str, Any] = {
        "empty": empty,
        "progress": "",
        "complete": True,
        "range": "",
        "dates": ["", ""],
        "chosen": "",
        "groups": [],
        "moves": days.moves,
        "items": [write_item(item) for item in items],
    }
    if result is None:
        return fields
    in_zone = replace(days, zone=result.tz.key)
    fields["range"] = table.range_words(in_zone, result.dates.last)
    first, last = result.dates
    fields["dates"] = [table.iso(first), table.iso(max(first, last))]
    return fields


def _hover(figure: Figure) -> dict[str, Any]:
    """The values under the cursor, bucket by bucket."""
    if len(figure.edges_ms) < 2:
        return {"times": [], "edges": [], "lines": []}
    return {
        "times": figure.times(),
        "edges": [round(figure.x(at), 5) for at in figure.edges_ms],
        "unit": figure.unit,
        "lines": [
            {
                "place": line.place,
                "label": line.item.label,
                "values": list(line.values),
                "texts": [formatting.number(value) for value in line.values],
            }
            for line in figure.lines
        ],
    }


def offered(access: ServiceAccess, sought: str, view: CompareView, now_ms: int) -> Any:
    """The groups and devices that match a search; no update if they can't be listed."""
    try:
        groups, meters = choices(access, sought, now_ms)
    except WeirError:
        return no_update
    return as_nodes(offered_choices(groups, meters, view.items))


def files(view: CompareView) -> list[Any]:
    """The body of the menu."""
    query = urlencode({k: v for k, v in write_compare_view(view).items() if v})
    images = tuple(Entry(label, f".{kind}", deed=f"server-{kind}") for kind, label in IMAGES)
    tables = tuple(
        Entry(label, f".{kind}", f"/download/compare.{kind}?{query}") for kind, label in FORMATS
    )
    return body([Section("Image", images), Section("Volumes", tables)])
