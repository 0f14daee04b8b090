"""What a page's menu offers as images by the server. assets/server-image.js does the deeds, for the
view in the page's address. Pure."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from components.menu import Entry, Section

DAYS: Final = {1: "1 day", 30: "30 days", 365: "1 year"}  # how long a signed address may be good

PDF: Final = Entry("PDF", ".pdf", deed="server-pdf")
WALL: Final = Section(
    "Image of this wall",
    (
        Entry("PNG", ".png", deed="server-png"),
        Entry("SVG", ".svg", deed="server-svg"),
        PDF,
    ),
)
LINKS: Final = Section(
    "Copy image link",
    tuple(Entry(f"Good for {words}", deed=f"signed-{days}") for days, words in DAYS.items()),
)


def of_card(heading: str, card: str) -> Section:
    """A card's own image: ``card`` is its name in the image's address."""
    entries = (replace(entry, deed=f"{entry.deed}-{card}") for entry in WALL.entries)
    return Section(heading, tuple(entries))
