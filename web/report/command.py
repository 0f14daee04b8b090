"""A report for whoever has no browser open: from identifiers and what an address would say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from api.client import Client
from api.timez import now_ms
from components.fleet.queries import Desk
from components.fleet.shared_cache import Memory
from components.queries import find_device
from components.report.url_state import checked_report_view
from web.rendering import Renderer
from web.report.pdf import Paper, paper


def written(
    client: Client, folder: Path, identifiers: Sequence[str], said: Mapping[str, str]
) -> Paper:
    """``folder`` is where this machine's processes share the one browser. Raises BadRequest for
    what is no report, NotFound, what the client raises, and RenderingError."""
    now = now_ms()
    pairs = list(said.items())
    if identifiers:
        found = (find_device(client, identifier, now).device.id for identifier in identifiers)
        pairs.append(("devices", ",".join(found)))
    view = checked_report_view(pairs)
    renderer = Renderer(folder)
    try:
        return paper(Desk(client, Memory()), renderer, view, now)
    finally:
        renderer.close()
