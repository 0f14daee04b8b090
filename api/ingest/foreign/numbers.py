"""Numbers as people write them: decimal commas, thousands, and no value at all."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np

from api.ingest.batch import Bools, Floats

NO_VALUE: Final = frozenset(
    {"", "-", "–", "n/a", "na", "nan", "null", "none", "#n/a", "unavailable", "unknown", "missing"}
)
_GROUPS: Final = str.maketrans("", "", " '’\u00a0\u202f")  # between thousands
_PLAIN: Final = re.compile(r"[0-9.eE+\-\n]*", re.ASCII)
_UNIT_BEHIND: Final = re.compile(r"^\s*([+\-]?[0-9][0-9.,' \u00a0]*?)\s*[a-zA-Z°%][\w³/°%]*\s*$")

_COMMA: Final = re.compile(r"^[+\-]?(\d{1,3}(\.\d{3})+,\d+|\d+,(\d{1,2}|\d{4,})|0,\d+|\d{4,},\d+)$")
_DOT: Final = re.compile(
    r"^[+\-]?(\d{1,3}(,\d{3})+\.\d+|\d+\.(\d{1,2}|\d{4,})|0\.\d+|\d{4,}\.\d+)$"
)
_DOT_GROUPS: Final = re.compile(r"^[+\-]?\d{1,3}(\.\d{3}){2,}$")
_COMMA_GROUPS: Final = re.compile(r"^[+\-]?\d{1,3}(,\d{3}){2,}$")
_EITHER: Final = re.compile(r"^[+\-]?\d{1,3}[.,]\d{3}$")


def guess_decimal(texts: Iterable[str]) -> tuple[str, bool]:
    """(decimal sign, whether the texts prove it): "1.203" alone may be either."""
    comma = dot = either = 0
    for text in map(str.strip, texts):
        comma += bool(_COMMA.match(text) or _DOT_GROUPS.match(text))
        dot += bool(_DOT.match(text) or _COMMA_GROUPS.match(text))
        either += bool(_EITHER.match(text))
    return ("," if comma > dot else "."), bool(comma or dot or not either)


def parse_numbers(texts: Sequence[str], decimal: str) -> tuple[Floats, Bools]:
    """(numbers, whether each text is one or none at all); NaN where there is no value."""
    ok: Bools = np.ones(len(texts), np.bool_)
    joined = "\n".join(texts)
    if decimal == ",":
        joined = joined.replace(".", "").replace(",", ".")
    if _PLAIN.fullmatch(joined):
        try:
            floats = [float(text) if text else np.nan for text in joined.split("\n")]
            return np.array(floats[: len(texts)], np.float64), ok
        except ValueError:
            pass
    numbers = np.full(len(texts), np.nan)
    for index, text in enumerate(texts):
        number = _number(text, decimal)
        ok[index] = number is not None
        numbers[index] = np.nan if number is None else number
    return numbers, ok


def _number(text: str, decimal: str) -> float | None:
    """NaN for no value, None for what is no number."""
    text = text.strip()
    if text.lower() in NO_VALUE:
        return np.nan
    unit = _UNIT_BEHIND.match(text)
    bare = (unit[1] if unit else text).translate(_GROUPS)
    bare = bare.replace("." if decimal == "," else ",", "").replace(",", ".").replace("−", "-")
    if not _PLAIN.fullmatch(bare):
        return None
    try:
        number = float(bare)
    except ValueError:
        return None
    return number if np.isfinite(number) else None
