"""The dashboard's own scripts and styles, each kind as one file: one request where there were a
dozen, under an address that changes with the content and may so be kept for ever."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from api.timez import zone_names
from web.modules import joined_modules

ASSETS: Final = Path(__file__).resolve().parent.parent / "assets"
# What others build on, in this order; every other sheet follows by name.
FOUNDATION: Final = ("style.css", "bar.css", "controls.css")
PLOTLY: Final = "vendor/plotly-cartesian.min.js"
SIGN_IN_STYLES: Final = (*FOUNDATION, "head/sign-in.css")

_KINDS: Final = {"css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8"}


@dataclass(frozen=True, slots=True)
class Bundle:
    """Files under one name of the assets' folder, so that what a sheet names stays beside it."""

    name: str
    body: bytes

    @property
    def path(self) -> str:
        return f"/assets/{self.name}"

    @property
    def address(self) -> str:
        return f"{self.path}?v={hashlib.sha256(self.body).hexdigest()[:16]}"

    def answer(self) -> tuple[bytes, dict[str, str]]:
        """Body and headers, for the server that gives it out."""
        return self.body, {"Content-Type": _KINDS[self.name.rpartition(".")[2]]}


def no_such_script(_: Exception) -> tuple[str, int]:
    """For a library that Dash doesn't know, which it takes for a fault of its own."""
    return "Not found\n", 404


def versioned(asset: str) -> str:
    """An asset's address, which changes with its content's time."""
    return f"/assets/{asset}?m={(ASSETS / asset).stat().st_mtime_ns // 1_000_000}"


def styles() -> Bundle:
    others = sorted(file.name for file in ASSETS.glob("*.css") if file.name not in FOUNDATION)
    return Bundle("weir.css", _joined((*FOUNDATION, *others)))


def sign_in_styles() -> Bundle:
    """What a page without the rest of the dashboard needs."""
    return Bundle("weir-sign-in.css", _joined(SIGN_IN_STYLES))


def scripts() -> Bundle:
    """With the names of all time zones, which `assets/zones.js` offers: in a page's layout they
    would be most of it, each time."""
    names = f'window.weir.zoneNames = "{" ".join(sorted(zone_names()))}".split(" ");\n'
    return Bundle("weir.js", names.encode() + joined_modules(ASSETS / "main.js"))


def _joined(names: Iterable[str]) -> bytes:
    return joined(ASSETS / name for name in names)


def joined(files: Iterable[Path]) -> bytes:
    """One after the other, each under its name."""
    return b"".join(part for file in files for part in _parts(file))


def _parts(file: Path) -> Iterator[bytes]:
    yield f"/* {file.name} */\n".encode()
    yield file.read_bytes()
    yield b"\n"
