"""The rules of a printed report's pages: head, foot and page numbers, as CSS. Pure."""

from __future__ import annotations

from typing import Final

from components import theme

_BOX: Final = f"font:10px {theme.FONT};color:{theme.LIGHT.ink_2}"


def page_rules(title: str, range: str, paper: str = "") -> str:
    """Head, foot and page numbers. Without a ``paper`` it is whoever prints who chooses one."""
    boxes = {
        "top-left": _css(title),
        "top-right": _css(range),
        "bottom-left": _css("Weir"),
        "bottom-right": 'counter(page) " / " counter(pages)',
    }
    rules = "".join(f"@{place}{{content:{content};{_BOX}}}" for place, content in boxes.items())
    return f"@page{{{f'size:{paper};' if paper else ''}margin:13mm 14mm 12mm;{rules}}}"


def _css(text: str) -> str:
    """As a string of CSS, whatever is in it."""
    return '"' + "".join(c if c.isalnum() or c == " " else f"\\{ord(c):x} " for c in text) + '"'
