"""The page's answer to a question: everything it shows of a view, decided here."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final
from urllib.parse import urlencode

from dash import no_update

from api.errors import NotFound, NotOffered, WeirError
from components import formatting
from components.compare import cards
from components.compare.figure import Figure
from components.compare.queries import Compared, choices, compared
from components.compare.url_state import CompareView, write_compare_view, write_item
from components.fleet.queries import ServiceAccess
from components.html_json import sheet
from components.menu import Entry, Section, body
from components.usage import table

NOTHING: Final = "Choose devices or groups to compare."
NOT_FOUND: Final = "None of these devices and groups is found, or you don’t have access."
NO_WEIR: Final = "This server has readings alone: comparing takes a Weir."
FORMATS: Final = (("csv", "CSV"), ("xlsx", "Excel workbook"))
IMAGES: Final = (("png", "PNG"), ("svg", "SVG"), ("pdf", "PDF"))


def answer(access: ServiceAccess, view: CompareView, now_ms: int) -> dict[str, Any]:
    """Raises a WeirError where the service as a whole can't answer."""
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
        "pictures": sheet(cards.pictures(drawn, view)),
        "bars": sheet(cards.bars(drawn)),
        "chips": sheet(cards.chips(result.volumes, result.items)),
        "how": sheet(cards.how(result.volumes, view)),
        "hover": _hover(drawn),
    }


def _nothing(view: CompareView, why: str, result: Compared | None = None) -> dict[str, Any]:
    empty = why or "The range has not begun."
    return _page_fields(view, result, empty) | {
        "pictures": [],
        "bars": [],
        "chips": sheet(cards.chips(None, view.items)),
        "how": [],
        "hover": None,
    }


def _page_fields(view: CompareView, result: Compared | None, empty: str) -> dict[str, Any]:
    """What assets/usage.js knows of each page that it keeps."""
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
    """What is under the cursor, bucket by bucket."""
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
    """Groups and devices that a search finds; no change where they can't be listed."""
    try:
        groups, meters = choices(access, sought, now_ms)
    except WeirError:
        return no_update
    return sheet(cards.choices(groups, meters, view.items))


def files(view: CompareView) -> list[Any]:
    """The body of the menu."""
    query = urlencode({k: v for k, v in write_compare_view(view).items() if v})
    images = tuple(Entry(label, f".{kind}", deed=f"server-{kind}") for kind, label in IMAGES)
    tables = tuple(
        Entry(label, f".{kind}", f"/download/compare.{kind}?{query}") for kind, label in FORMATS
    )
    return body([Section("Image", images), Section("Volumes", tables)])
