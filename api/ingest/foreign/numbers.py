"""Reads numbers as people write them: decimal commas, thousands separators, and missing values."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np

from api.ingest.batch import Bools, Floats

_EMPTY: Final = (
    "n/a na n.a. nan null none nil unavailable unknown missing nodata err error bad k.a. s/d n.d."
    " nd ? * #n/a #value! #ref! #div/0! #num! #name? #null!"
)
_STATES: Final = (  # of a historian's points
    "bad data", "bad input", "calc failed", "comm fail", "i/o timeout", "not connect",
    "out of serv", "pt created", "scan off", "shutdown", "offline", "\\n",
)  # fmt: skip
NO_VALUE: Final = frozenset(
    [
        "",
        "no data",
        "no read",
        *_STATES,
        *_EMPTY.split(),
        *(sign * n for sign in "-–—" for n in range(1, 6)),
    ]
)
_GROUPS: Final = str.maketrans("", "", " '’\u00a0\u202f\u2009")  # between thousands
_PLAIN: Final = re.compile(r"[0-9.eE+\-\n]*", re.ASCII)
_UNIT_BEHIND: Final = re.compile(r"^\s*([+\-]?[0-9][0-9.,' \u00a0]*?)\s*[a-zA-Z°%][\w³/°%]*\s*$")

_NINES: Final = (-9_999.0, -99_999.0, -999_999.0)  # with which loggers mark what is missing
_UNMEASURED: Final = re.compile(r"[<>≤≥]\s*[\d.,]+")  # outside what the meter can measure

_COMMA: Final = re.compile(r"^[+\-]?(\d{1,3}(\.\d{3})+,\d+|\d+,(\d{1,2}|\d{4,})|0,\d+|\d{4,},\d+)$")
_DOT: Final = re.compile(
    r"^[+\-]?(\d{1,3}(,\d{3})+\.\d+|\d+\.(\d{1,2}|\d{4,})|0\.\d+|\d{4,}\.\d+)$"
)
_DOT_GROUPS: Final = re.compile(r"^[+\-]?\d{1,3}(\.\d{3}){2,}$")
_COMMA_GROUPS: Final = re.compile(r"^[+\-]?\d{1,3}(,\d{3}){2,}$")
_EITHER: Final = re.compile(r"^[+\-]?\d{1,3}[.,]\d{3}$")


def guess_decimal(texts: Iterable[str]) -> tuple[str, bool]:
    """Returns (decimal sign, whether the texts prove it): "1.203" alone may be either."""
    comma = dot = either = 0
    for text in (_bare(text) for text in texts):
        comma += bool(_COMMA.match(text) or _DOT_GROUPS.match(text))
        dot += bool(_DOT.match(text) or _COMMA_GROUPS.match(text))
        either += bool(_EITHER.match(text))
    return ("," if comma > dot else "."), bool(comma or dot or not either)


def _bare(text: str) -> str:
    """The text without the unit behind its number and without spaces between thousands."""
    text = text.strip()
    unit = _UNIT_BEHIND.match(text)
    return (unit[1] if unit else text).translate(_GROUPS)


def parse_numbers(texts: Sequence[str], decimal: str) -> tuple[Floats, Bools]:
    """Returns (numbers, whether each text is a number or empty); NaN where there is no value."""
    ok: Bools = np.ones(len(texts), np.bool_)
    joined = "\n".join(texts)
    if decimal == ",":
        joined = joined.replace(".", "").replace(",", ".")
    if _PLAIN.fullmatch(joined):
        try:
            floats = [float(text) if text else np.nan for text in joined.split("\n")]
            numbers = np.array(floats[: len(texts)], np.float64)
            numbers[np.isin(numbers, _NINES)] = np.nan
            return numbers, ok
        except ValueError:
            pass
    numbers = np.full(len(texts), np.nan)
    for index, text in enumerate(texts):
        number = _number(text, decimal)
        ok[index] = number is not None
        numbers[index] = np.nan if number is None else number
    return numbers, ok


def _number(text: str, decimal: str) -> float | None:
    """Returns NaN for no value, None for anything that isn't a number."""
    text = text.strip()
    if text.lower() in NO_VALUE or _UNMEASURED.fullmatch(text):
        return np.nan
    bare = _bare(text).replace("." if decimal == "," else ",", "")
    bare = bare.replace(",", ".").replace("−", "-")
    if not _PLAIN.fullmatch(bare):
        return None
    try:
        number = float(bare)
    except ValueError:
        return None
    if number in _NINES:
        return np.nan
    return number if np.isfinite(number) else None
