"""What the page says of a list: how many devices, or why none. Pure."""

from __future__ import annotations

from typing import Any

from components import formatting
from components.devices.listing import Listing


def told(listing: Listing, total: int) -> dict[str, Any]:
    """``found`` is read out when it changes; ``empty`` is the reason where there is no row, and
    ``filtered`` whether the reader's own choice is part of it."""
    return {
        "found": _found(listing, total),
        "empty": "" if total else _empty(listing),
        "filtered": bool(listing.search) or listing.status == "inactive",
    }


def _found(listing: Listing, total: int) -> str:
    which = "" if listing.status == "all" else f"{listing.status} "
    noun = "device" if total == 1 else "devices"
    verb = ("matches" if total == 1 else "match") if listing.search else ""
    return f"{formatting.whole(total)} {which}{noun} {verb}".strip()


def _empty(listing: Listing) -> str:
    which = "" if listing.status == "all" else f"{listing.status} "
    if listing.search:
        return f"No {which}device matches “{listing.search}”."
    return f"This key sees no {which}device."
