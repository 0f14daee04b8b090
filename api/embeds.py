"""What an embed shows: as it is asked for, as it is kept, as the page that shows it reads it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from api.catalog import DEVICE_ZONE, EMBED_THEMES, EMBED_WINDOW_S, UNIT_SYSTEMS


@dataclass(frozen=True, slots=True)
class Rolling:
    """The last so many seconds, up to now."""

    last_s: int


@dataclass(frozen=True, slots=True)
class Fixed:
    """Inclusive bounds, epoch milliseconds."""

    from_ms: int
    to_ms: int


USUAL_WINDOW: Final = Rolling(EMBED_WINDOW_S.default or 0)


@dataclass(frozen=True, slots=True)
class EmbedDefinition:
    """What an embed shows and to whom.

    ``view`` is a name of `catalog.EMBED_VIEWS`; ``devices`` are UUIDs (any identifier while it is
    created); ``metric``, a name of `catalog.CHARTS`, is a chart's alone. ``origins`` may frame it
    beside this site's own, which always may. ``zone`` is an IANA name or "device"; ``controls``
    are what a viewer may change.
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
