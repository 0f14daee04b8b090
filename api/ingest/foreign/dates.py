"""Times as files write them: guesses the form of a column and reads whole columns by it.

A form is ``iso`` (with or without an offset), ``epoch_s``, ``epoch_ms``, ``excel`` (days since the
end of 1899) or a format of strptime, such as ``%d.%m.%Y %H:%M``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from functools import cache
from typing import Final, NamedTuple

import numpy as np

from api.catalog import DAY_MS
from api.ingest.batch import Bools, Ints
from api.ingest.foreign.numbers import parse_numbers
from api.ingest.timestamp_columns import parse_column
from api.timez import from_datetime

ISO: Final = "iso"
EPOCH_S, EPOCH_MS, EXCEL = "epoch_s", "epoch_ms", "excel"
NUMERIC: Final = {
    EPOCH_S: (1000.0, 0),
    EPOCH_MS: (1.0, 0),
    EXCEL: (float(DAY_MS), -25_569 * DAY_MS),
}
"""Form → (ms a unit, epoch ms of zero)."""
_BOUNDS: Final = {EPOCH_S: (6e8, 5e9), EPOCH_MS: (6e11, 5e12), EXCEL: (2e4, 8e4)}
_ISO: Final = re.compile(
    r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d([.,]\d+)?)?\s?(?P<offset>Z|z|[+-]\d\d:?\d\d)?)?"
)
_DAY_FIRST: Final = ("%d.%m.%Y", "%d/%m/%Y", "%d-%m-%Y", "%d.%m.%y", "%d/%m/%y", "%d-%m-%y")
_MONTH_FIRST: Final = ("%m/%d/%Y", "%m-%d-%Y", "%m/%d/%y", "%m-%d-%y")
_OTHER: Final = (
    "%Y-%m-%d", "%Y/%m/%d", "%Y.%m.%d", "%Y%m%d", "%d-%b-%Y", "%d %b %Y", "%d-%b-%y", "%b %d %Y",
    "%b %d, %Y", "%d %B %Y", "%B %d, %Y",
)  # fmt: skip
CLOCKS: Final = (
    "%H:%M:%S", "%H:%M", "%H:%M:%S.%f", "%I:%M:%S %p", "%I:%M %p", "%H.%M.%S", "%H.%M", "%H%M%S",
    "%H%M", "%Hh%M",
)  # fmt: skip
_JOINTS: Final = (" ", "T", ", ", "", "  ")


class DateGuess(NamedTuple):
    """``sure``: no other order of day and month reads these texts as well."""

    form: str
    sure: bool = True


def guess_form(texts: Sequence[str], *, day_first: bool, timely: bool = True) -> DateGuess | None:
    """The form that reads the texts, None if none does. ``day_first``: what to assume where the
    texts leave open which number is the day. ``timely``: numbers may be times, by the heading.
    """
    filled = [text.strip() for text in texts if text.strip()]
    if not filled:
        return None
    if all(_ISO.fullmatch(text) for text in filled):
        return DateGuess(ISO)
    numeric = _numeric_form(filled) if timely else None
    if numeric:
        return DateGuess(numeric)
    jumps = {form: _disorder(filled, form) for form in _forms(filled[0]) if _all_read(filled, form)}
    if not jumps:
        return None
    best = min(jumps, key=lambda form: (jumps[form], _month_first(form) == day_first))
    rivals = [form for form, jump in jumps.items() if jump == jumps[best]]
    return DateGuess(best, len({_month_first(form) for form in rivals}) == 1)


def is_date_only(form: str) -> bool:
    return "%" in form and not any(sign in form for sign in ("%H", "%I"))


def clock_form(texts: Sequence[str]) -> str | None:
    """The form of a column of clock times without dates."""
    filled = [text.strip() for text in texts if text.strip()]
    if not filled or not re.search(r"\d[:.h]\d", filled[0]):
        return None
    fitting = (form for form in CLOCKS if _shape(form).fullmatch(filled[0]))
    return next((form for form in fitting if _all_read(filled, form)), None)


def has_offset(texts: Sequence[str], form: str) -> bool:
    """Whether the texts say themselves which instant they are."""
    if form in (EPOCH_S, EPOCH_MS):
        return True
    matches = [_ISO.fullmatch(text.strip()) for text in texts if text.strip()]
    return form == ISO and bool(matches) and all(match and match["offset"] for match in matches)


def parse_times(texts: Sequence[str], form: str) -> tuple[Ints, Bools, Bools]:
    """(epoch ms, whether it was read, whether the text names an instant) for each text. Where it
    names none, the number is what a wall clock shows, counted as if it stood in UTC."""
    if form in NUMERIC:
        numbers, ok = parse_numbers(texts, ".")
        ok &= ~np.isnan(numbers)
        scale, zero = NUMERIC[form]
        ms = np.where(ok, np.rint(np.nan_to_num(numbers) * scale), 0).astype(np.int64) + zero
        return ms, ok, np.full(len(texts), form != EXCEL)
    if form == ISO:
        return _parse_iso(texts)
    ms, ok = parse_column(_as_iso(texts, form))
    _read_rest(texts, ms, ok, lambda text: datetime.strptime(text, form))  # noqa: DTZ007 - wall clock
    return ms, ok, np.zeros(len(texts), np.bool_)


def _as_iso(texts: Sequence[str], form: str) -> Sequence[str]:
    """The texts rearranged to ISO 8601, which is read 10 times faster, where all have as many
    characters as a form of digits has; else as they are."""
    pattern, places = _fixed(form)
    if not pattern or set(map(len, texts)) != {len(pattern)}:
        return texts
    written = "".join(texts)
    if not written.isascii():
        return texts
    codes = np.frombuffer(written.encode("ascii"), np.uint8).reshape(-1, len(pattern))
    signs = [place for place, sign in enumerate(pattern) if sign != "0"]
    wanted = np.frombuffer("".join(pattern[place] for place in signs).encode(), np.uint8)
    if not (codes[:, signs] == wanted).all():
        return texts
    iso = np.tile(np.frombuffer(b"0000-00-00T00:00:00", np.uint8), (len(texts), 1))
    for start, at in places:
        width = 4 if at == 0 else 2
        iso[:, at : at + width] = codes[:, start : start + width]
    joined = iso.tobytes().decode("ascii")
    return [joined[at : at + 19] for at in range(0, len(joined), 19)]


@cache
def _fixed(form: str) -> tuple[str, list[tuple[int, int]]]:
    """(the form with 0 for each digit, [(place in the text, place in ISO 8601)]); '' where not all
    its parts are digits of one width."""
    iso_places = {"%Y": 0, "%m": 5, "%d": 8, "%H": 11, "%M": 14, "%S": 17}
    pattern, places = "", list[tuple[int, int]]()
    for part in re.findall(r"%.|[^%]", form):
        if part in iso_places:
            places.append((len(pattern), iso_places[part]))
            pattern += "0000" if part == "%Y" else "00"
        elif part.startswith("%"):
            return "", []
        else:
            pattern += part
    return pattern, places


def _parse_iso(texts: Sequence[str]) -> tuple[Ints, Bools, Bools]:
    offsets = np.fromiter((_names_offset(text) for text in texts), np.bool_, len(texts))
    ms, ok = parse_column(texts)
    _read_rest(texts, ms, ok, datetime.fromisoformat)
    return ms, ok, offsets


def _names_offset(text: str) -> bool:
    return len(text) > 10 and (text[-1] in "Zz" or "+" in text[-7:] or "-" in text[-6:])


def _read_rest(texts: Sequence[str], ms: Ints, ok: Bools, read: Callable[[str], datetime]) -> None:
    """Read what isn't read yet, one by one; each text that comes again once."""
    seen: dict[str, int | None] = {}
    for index in np.flatnonzero(~ok).tolist():
        text = texts[index].strip()
        if text not in seen:
            seen[text] = _moment(text, read)
        instant = seen[text]
        if instant is not None:
            ms[index], ok[index] = instant, True


def _moment(text: str, read: Callable[[str], datetime]) -> int | None:
    try:
        moment = read(text)
    except ValueError:
        return None
    return from_datetime(moment if moment.tzinfo else moment.replace(tzinfo=UTC))


def _numeric_form(texts: Sequence[str]) -> str | None:
    numbers, ok = parse_numbers(texts, ".")
    if not ok.all() or np.isnan(numbers).any():
        return None
    for form, (low, high) in _BOUNDS.items():
        if (numbers >= low).all() and (numbers <= high).all():
            return form
    return None


def _forms(text: str) -> Iterator[str]:
    """The forms that the text may have by its shape."""
    for date in (*_DAY_FIRST, *_MONTH_FIRST, *_OTHER):
        start = _shape(date).match(text)
        rest = text[start.end() :] if start else ""
        if start and not rest:
            yield date
        for joint in _JOINTS if rest else ():
            clock = rest.removeprefix(joint)
            if rest.startswith(joint):
                yield from (date + joint + each for each in CLOCKS if _shape(each).fullmatch(clock))


@cache
def _shape(form: str) -> re.Pattern[str]:
    return re.compile(
        re.sub(r"%.", lambda sign: _SHAPES[sign[0]], re.escape(form).replace(r"\%", "%"))
    )


_SHAPES: Final = {
    "%d": r"\d{1,2}", "%m": r"\d{1,2}", "%Y": r"\d{4}", "%y": r"\d{2}", "%b": r"[A-Za-z]{3}",
    "%B": r"[A-Za-z]{3,9}", "%H": r"\d{1,2}", "%I": r"\d{1,2}", "%M": r"\d{2}", "%S": r"\d{2}",
    "%f": r"\d{1,6}", "%p": r"[AaPp][Mm]",
}  # fmt: skip


def _all_read(texts: Sequence[str], form: str) -> bool:
    try:
        for text in texts[:200]:
            datetime.strptime(text, form)  # noqa: DTZ007 - only whether it can be read
    except ValueError:
        return False
    return True


def _disorder(texts: Sequence[str], form: str) -> float:
    """How far the times jump in all: the wrong order of day and month makes a day a month."""
    ms, ok, _ = parse_times(texts, form)
    return float(np.abs(np.diff(ms[ok])).sum())


def _month_first(form: str) -> bool:
    return form.startswith("%m")


def label(form: str) -> str:
    """What a reader calls the form: ``day.month.year``."""
    named = {
        ISO: "ISO 8601",
        EPOCH_S: "Unix seconds",
        EPOCH_MS: "Unix milliseconds",
        EXCEL: "Excel days",
    }
    date = re.split(r"(?<=%[yYdmbB])[ T,]*(?=%[HI])", form)[0]
    parts = {
        "%d": "day",
        "%m": "month",
        "%Y": "year",
        "%y": "yy",
        "%b": "month name",
        "%B": "month name",
    }
    return named.get(form) or re.sub(r"%.", lambda sign: parts.get(sign[0], ""), date)
