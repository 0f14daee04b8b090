"""What menus of other pages offer of devices' use. Pure."""

from __future__ import annotations

from typing import Final

from components.menu import Entry, Section

WHAT_THEY_USED: Final = Section(
    "What they used",
    (
        Entry("Usage summary", href="/usage", here=True),
        Entry("Report …", "to print", href="/report", here=True),
    ),
)
