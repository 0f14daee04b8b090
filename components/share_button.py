"""The Share button of every view: its address to hand on. assets/share.js copies it."""

from __future__ import annotations

from typing import Final

from dash.development.base_component import Component

from components.menu import Entry, Section, menu

# What assets/share.js makes of an entry. A view that doesn't move has only the first.
LINK: Final = "share-link"
MOMENT: Final = "share-moment"


def share() -> Component:
    entries = (
        Entry("Rolling", "as it will be when opened", deed=LINK),
        Entry("This moment", "as it is now", deed=MOMENT),
    )
    return menu("Share", [Section("Copy a link to this view", entries)], name="Share", kind="share")
