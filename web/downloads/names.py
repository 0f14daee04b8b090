"""Names of downloads; the same rows always get the same name. Pure."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import quote

from api.timez import stamp
from components.ranges import Window

_PLAIN: Final = re.compile(r"[^A-Za-z0-9._-]+")
_FORBIDDEN: Final = re.compile(r'[\x00-\x1f\x7f<>:"/\\|?*\s]+')  # on some file system
LONGEST: Final = 150


def file_stem(*parts: str) -> str:
    """``weir_FM-10523_2026-11-13T234100Z_2026-11-20T234059Z_10min``."""
    plain = (_FORBIDDEN.sub("-", part).strip("-. ") for part in parts)
    return "_".join(("weir", *(part[:LONGEST] for part in plain if part)))


def of_window(window: Window) -> tuple[str, str]:
    first, last = (stamp(at).replace(":", "") for at in window)
    return first, last


def disposition(name: str, how: str = "attachment") -> str:
    """The Content-Disposition header: the name in ASCII, and in full (RFC 5987) if that differs.
    ``how``: "inline" for files to view rather than save."""
    stem, dot, ending = name.rpartition(".")
    plain = _PLAIN.sub("-", stem).strip("-.") + dot + ending
    if plain == name:
        return f'{how}; filename="{plain}"'
    return f"{how}; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}"
