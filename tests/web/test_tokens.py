"""Sizes of type, space and radius come from the tokens of assets/style.css, colours from the
theme."""

from __future__ import annotations

import re
from pathlib import Path

from tests.tables import cases
from web.embed import site
from web.static import ASSETS

SHEETS = [*ASSETS.rglob("*.css"), site.OWN / "embed.css"]
TOKENS = dict(
    re.findall(
        r"^  (--(?:text|space|radius)-\w+): (\d+px);$", (ASSETS / "style.css").read_text(), re.M
    )
)
# The token kind of each property's lengths.
PROPERTIES = {
    "space": r"(?:padding|margin)(?:-\w+)?|(?:row-|column-)?gap",
    "text": r"font-size",
    "radius": r"border(?:-\w+)*-radius",
}


def declarations(sheet: Path) -> list[tuple[str, str]]:
    plain = re.sub(r"/\*.*?\*/", "", sheet.read_text(), flags=re.S)
    return re.findall(r"(?<=[{;\s])([a-z-]+):\s*([^;{}]+);", plain)


def test_there_are_tokens_of_each_kind() -> None:
    assert {name.split("-")[2] for name in TOKENS} == set(PROPERTIES)


@cases("sheet", SHEETS)
def test_no_length_is_written_out_if_a_token_fits(sheet: Path) -> None:
    spelt = [
        f"{name}: {value}"
        for name, value in declarations(sheet)
        for kind, pattern in PROPERTIES.items()
        if re.fullmatch(pattern, name)
        and set(re.findall(r"(?<![-\w.])\d+px\b", value))
        & {size for token, size in TOKENS.items() if token.startswith(f"--{kind}-")}
    ]
    assert spelt == []


@cases("sheet", SHEETS)
def test_sizes_of_type_and_radii_are_always_tokens(sheet: Path) -> None:
    spelt = [
        f"{name}: {value}"
        for name, value in declarations(sheet)
        for kind in ("text", "radius")
        if re.fullmatch(PROPERTIES[kind], name)
        and re.search(r"[1-9]\d*(?:\.\d+)?(?:px|r?em)\b", value)
    ]
    assert spelt == []


@cases("sheet", SHEETS)
def test_every_token_that_is_used_exists(sheet: Path) -> None:
    used = set(re.findall(r"var\((--(?:text|space|radius)-\w+)\)", sheet.read_text()))
    assert used - TOKENS.keys() == set()
