"""Parses a column of ISO 8601 texts of one format at once, by arithmetic.

Handles the formats that machines write and leaves every other text to `timez.parse_instant`. Both
agree on the texts that this one handles.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from api.catalog import DAY_MS, HOUR_MS, MINUTE_MS

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
_Codes = npt.NDArray[np.uint8]

_YEARS: Final = range(1970, 2200)
_MONTHS = np.arange(f"{_YEARS.start}-01", f"{_YEARS.stop}-02", dtype="datetime64[M]")
_MONTH_START: Final[Ints] = _MONTHS.astype("datetime64[D]").astype(np.int64)  # in days
_MONTH_DAYS: Final[Ints] = np.diff(_MONTH_START)


class _Form(NamedTuple):
    """The positions of the parts in a text of this length; '0' in the pattern stands for any
    digit."""

    pattern: str
    fraction: bool = False
    offset_at: int | None = None


_FORMS: Final = {
    len(form.pattern): form
    for form in (
        _Form("0000-00-00T00:00:00"),
        _Form("0000-00-00T00:00:00Z"),
        _Form("0000-00-00T00:00:00.000", fraction=True),
        _Form("0000-00-00T00:00:00.000Z", fraction=True),
        _Form("0000-00-00T00:00:00+00:00", offset_at=19),
        _Form("0000-00-00T00:00:00.000+00:00", fraction=True, offset_at=23),
    )
}
_ALTERNATIVES: Final = {"T": b"T ", "Z": b"Z", "+": b"+-"}


def parse_column(texts: Sequence[str]) -> tuple[Ints, Bools]:
    """Returns (epoch ms, whether it was parsed) for each text; the number is undefined where it
    wasn't.

    The most common length decides the format of the whole column.
    """
    instants = np.zeros(len(texts), np.int64)
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    parsed: Bools = np.zeros(len(texts), np.bool_)
    if not len(texts):
        return instants, parsed
    length = int(np.bincount(np.minimum(lengths, 100)).argmax())
    form = _FORMS.get(length)
    if form is None:
        return instants, parsed
    chosen = lengths == length
    written = "".join(texts if chosen.all() else compress(texts, chosen.tolist()))
    codes = np.frombuffer(written.encode("latin-1", "replace"), np.uint8).reshape(-1, length)
    instants[chosen], parsed[chosen] = _parse(codes, form)
    return instants, parsed


def _parse(codes: _Codes, form: _Form) -> tuple[Ints, Bools]:
    ok: Bools = np.ones(len(codes), np.bool_)
    for position, sign in enumerate(form.pattern):
        column = codes[:, position]
        if sign == "0":
            ok &= (column >= ord("0")) & (column <= ord("9"))
        else:
            ok &= np.isin(column, np.frombuffer(_ALTERNATIVES.get(sign, sign.encode()), np.uint8))

    def number(start: int, end: int) -> Ints:
        value = np.zeros(len(codes), np.int64)
        for position in range(start, end):
            value = value * 10 + codes[:, position] - ord("0")
        return value

    year, month, day = number(0, 4), number(5, 7), number(8, 10)
    hour, minute, second = number(11, 13), number(14, 16), number(17, 19)
    ok &= (year >= _YEARS.start) & (year < _YEARS.stop) & (month >= 1) & (month <= 12)
    index = np.where(ok, (year - _YEARS.start) * 12 + month - 1, 0)
    ok &= (day >= 1) & (day <= _MONTH_DAYS[index])
    ok &= (hour < 24) & (minute < 60) & (second < 60)
    instants = (_MONTH_START[index] + day - 1) * DAY_MS + hour * HOUR_MS + minute * MINUTE_MS
    instants += second * 1000
    if form.fraction:
        instants += number(20, 23)
    if form.offset_at is not None:
        at = form.offset_at
        hours, minutes = number(at + 1, at + 3), number(at + 4, at + 6)
        ok &= (hours < 24) & (minutes < 60)
        offset = hours * HOUR_MS + minutes * MINUTE_MS
        instants -= np.where(codes[:, at] == ord("-"), -offset, offset)
    return instants, ok
