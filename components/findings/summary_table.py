"""Findings in a line each, for reports and summaries. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final
from zoneinfo import ZoneInfo

from dash import html
from dash.development.base_component import Component

from api.client.findings import Finding
from components.clock import Clock
from components.controls import labelled
from components.findings import texts
from components.findings.rows import diamond
from components.fleet.device_queries import Directory, Meter
from components.units import Units

HEADS: Final = ("Began", "Ended", "How much", "Volume", "Cost a day")


def directory_of(meters: Iterable[Meter], price: float | None) -> Directory:
    """``price``: per gallon, of devices without one of their own."""
    listed = tuple(meters)
    return Directory(0, listed, {meter.id: meter for meter in listed}, price, ())


def row(
    finding: Finding,
    devices: Directory,
    units: Units,
    tz: ZoneInfo,
    until_ms: int,
    who: Component | None = None,
) -> Component:
    """``until_ms``: the end of the range, whose year goes without saying; ``who``: the device,
    where the table has several."""
    at = Clock(tz, finding.start_ms, max(finding.start_ms, finding.end_ms or 0, until_ms))
    ended = finding.end_ms is not None and texts.instant(finding.end_ms, at, until_ms)
    cells = (
        texts.instant(finding.start_ms, at, until_ms),
        ended or f"still {finding.state}",
        texts.how_much(finding, units),
        texts.so_far(finding, units),
        texts.cost(finding, devices),
    )
    name = html.Th(
        [diamond(finding.severity), f" {texts.kind_of(finding).label}"],
        scope="row",
        title=finding.words,
    )
    device = [html.Td(who)] if who is not None else []
    return html.Tr([name, *device, *(html.Td(cell, className="number") for cell in cells)])


def table(rows: list[Component], name: str, *, several: bool, kind: str) -> Component:
    """``kind``: the table's class; with ``several`` devices each row names its own."""
    heads = [
        html.Th("Finding", scope="col"),
        *([html.Th("Device", scope="col")] if several else []),
    ]
    heads += [html.Th(head, scope="col", className="number") for head in HEADS]
    return html.Table(
        [html.Thead(html.Tr(heads)), html.Tbody(rows)], className=kind, **labelled(name)
    )
