"""The definition of an embed, shared by requests, the store and the embed's page."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Final

from api.catalog import (
    DEVICE_ZONE,
    EMBED_COLUMNS,
    EMBED_CONTROLS_PX,
    EMBED_PAGE_PREFIX,
    EMBED_THEMES,
    EMBED_VIEW_BY_NAME,
    EMBED_WINDOW_S,
    UNIT_SYSTEMS,
)


@dataclass(frozen=True, slots=True)
class Rolling:
    """The last ``last_s`` seconds, up to now."""

    last_s: int


@dataclass(frozen=True, slots=True)
class Fixed:
    """Inclusive bounds, epoch milliseconds."""

    from_ms: int
    to_ms: int


LONGEST_WINDOW_MS: Final = (EMBED_WINDOW_S.maximum or 0) * 1000  # of a fixed window
USUAL_WINDOW: Final = Rolling(EMBED_WINDOW_S.default or 0)


@dataclass(frozen=True, slots=True)
class EmbedDefinition:
    """What an embed shows, and to whom.

    ``view`` is a name of `catalog.EMBED_VIEWS`. ``devices`` are UUIDs (any identifier while the
    embed is created). ``metric`` is a name of `catalog.CHARTS`, for charts only. ``origins`` may
    frame the embed in addition to this site. ``zone`` is an IANA name or "device". ``controls`` are
    those that a viewer gets. ``notes``: notes, maintenance and corrections are shown too.
    ``compare`` is a name of `catalog.EMBED_COMPARISONS`; "" for no comparison.
    """

    view: str
    devices: tuple[str, ...]
    metric: str | None = None
    origins: tuple[str, ...] = ()
    window: Rolling | Fixed = USUAL_WINDOW
    zone: str = DEVICE_ZONE
    units: str = UNIT_SYSTEMS[0]
    theme: str = EMBED_THEMES[0]
    controls: tuple[str, ...] = ()
    title: str = ""
    expires_ms: int | None = None
    notes: bool = False
    compare: str = ""


def page_path(embed_id: str) -> str:
    """Returns the path of an embed's page on this site."""
    return f"{EMBED_PAGE_PREFIX}/{embed_id}"


def address(site: str, embed_id: str, token: str) -> str:
    """Returns the URL that a frame opens. The token follows the ``#``: browsers don't send that
    part, so that the token is in no log and no Referer. ``site`` is an origin, with a path if there
    is one."""
    return f"{site.rstrip('/')}{page_path(embed_id)}#t={token}"


def height_px(definition: EmbedDefinition) -> int:
    """Returns the height of a frame for its content."""
    view = EMBED_VIEW_BY_NAME[definition.view]
    rows = -(-len(definition.devices) // EMBED_COLUMNS)
    return view.height_px + rows * view.row_px + (EMBED_CONTROLS_PX if definition.controls else 0)


def snippet(site: str, embed_id: str, token: str, definition: EmbedDefinition) -> str:
    """Returns the HTML to paste into another site's page."""
    view = EMBED_VIEW_BY_NAME[definition.view]
    title = definition.title or f"Weir: {view.label.lower()}"
    return (
        f'<iframe src="{escape(address(site, embed_id, token))}" title="{escape(title)}"'
        f' width="100%" height="{height_px(definition)}" style="border:0" loading="lazy"'
        ' referrerpolicy="no-referrer"></iframe>'
    )
