"""Asking the service for what the list of notes, maintenance and corrections shows."""

from __future__ import annotations

from typing import Final

from api.client import Client
from api.client.annotations import PATHS, Annotation

MOST: Final = 100


def matching(
    client: Client, *, kind: str = "", device: str = "", group: str = "", search: str = ""
) -> tuple[list[Annotation], int]:
    """(latest first, how many there are in all); of one kind, or of all three."""
    kinds = [kind] if kind in PATHS else list(PATHS)
    pages = [
        client.annotations(each, device=device, group=group, search=search, limit=MOST)
        for each in kinds
    ]
    found = [each for page in pages for each in page.annotations]
    found.sort(key=lambda each: -each.from_ms)
    return found[:MOST], sum(page.count for page in pages)
