"""Dash's requests, as its renderer sends them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from werkzeug.test import TestResponse

from tests.web.auth.conftest import Site

UPDATE = "/_dash-update-component"


def page(site: Site, path: str, search: str = "", **more: Any) -> TestResponse:
    """The content of the page at that path."""
    return callback(
        site,
        ["_pages_content.children", "_pages_store.data"],
        {"_pages_location.pathname": path, "_pages_location.search": search},
        **more,
    )


def callback(
    site: Site,
    outputs: list[str],
    inputs: Mapping[str, Any],
    state: Mapping[str, Any] | None = None,
    **more: Any,
) -> TestResponse:
    """The reply of a callback, by (``id.property``) of its outputs, inputs and states."""
    body = {
        "output": f"..{'...'.join(outputs)}.." if len(outputs) > 1 else outputs[0],
        "outputs": [_part(n) for n in outputs] if len(outputs) > 1 else _part(outputs[0]),
        "inputs": [_part(name) | {"value": value} for name, value in inputs.items()],
        "changedPropIds": list(inputs),
        "parsedChangedPropsIds": list(inputs),
        "state": [_part(name) | {"value": value} for name, value in (state or {}).items()],
    }
    return site.open(UPDATE, "POST", json=body, **more)


def _part(name: str) -> dict[str, Any]:
    id_, _, property_ = name.rpartition(".")
    return {"id": id_, "property": property_}


def chart(site: Site, device_id: str, start: str, end: str, **more: Any) -> TestResponse:
    """A device's chart. The question and the stored device come from the browser, so a test may
    forge them."""
    outputs = [
        "chart-graph.figure",
        "chart-badge.children",
        "chart-zone-note.children",
        "chart-summary.children",
        "chart-failed.data",
        "chart-empty.children",
        "chart-jump.hidden",
        "chart-reset.disabled",
        "chart-gaps-nodes.data",
        "chart-compared.children",
        "chart-since.children",
        "chart-response.data",
        "chart-parts.data",
    ]
    question = {"device": device_id, "from": start, "to": end, "width_px": 800, "theme": "light"}
    subject = {"device_id": device_id, "time_zone": "UTC", "interval_s": 60}
    return callback(
        site, outputs, {"chart-question.data": question}, {"chart-subject.data": subject}
    )


def wall(site: Site, question: Mapping[str, Any] | None = None, **more: Any) -> TestResponse:
    """The tiles of the fleet page."""
    fields = {"fleet-question.data": dict(question or {"window": "24h"})}
    return callback(site, ["fleet-board.data"], fields, **more)


def rows(site: Site, given: Mapping[str, Any] | None = None, **more: Any) -> TestResponse:
    """The first rows of the device list; ``said`` is its status filter and search."""
    fields = {"startRow": 0, "endRow": 100, "sortModel": [], "context": dict(given or {})}
    outputs = ["devices-grid.getRowsResponse", "devices-answer.data"]
    return callback(site, outputs, {"devices-grid.getRowsRequest": fields}, **more)
