"""Times as they are written in files: guesses a column's format and reads whole columns by it.

A format is ``iso`` (with or without an offset), ``epoch_s``, ``_ms``, ``_us`` or ``_ns``, ``excel``
(days since the end of 1899), ``excel_1904``, or a format of strptime, such as ``%d.%m.%Y %H:%M``.
Such a format also reads names in other languages than English, and 24:00.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from functools import cache
from typing import Final, NamedTuple

import numpy as np

from api.catalog import DAY_MS
from api.ingest.batch import Bools, Floats, Ints
from api.ingest.foreign.date_words import plain_date
from api.ingest.foreign.numbers import parse_numbers
from api.ingest.timestamp_columns import parse_column
from api.timez import from_datetime

ISO: Final = "iso"
EPOCH_S, EPOCH_MS, EPOCH_US, EPOCH_NS = "epoch_s", "epoch_ms", "epoch_us", "epoch_ns"
EXCEL, EXCEL_1904 = "excel", "excel_1904"
NUMERIC: Final = {
    EPOCH_S: (1000.0, 0),
    EPOCH_MS: (1.0, 0),
    EPOCH_US: (1e-3, 0),
    EPOCH_NS: (1e-6, 0),
    EXCEL: (float(DAY_MS), -25_569 * DAY_MS),
    EXCEL_1904: (float(DAY_MS), -24_107 * DAY_MS),
}
"""Format → (ms per unit, epoch ms of zero)."""
_EPOCHS: Final = (EPOCH_S, EPOCH_MS, EPOCH_US, EPOCH_NS)
_BOUNDS: Final = {
    **{form: (6e8 * 1000**step, 2e9 * 1000**step) for step, form in enumerate(_EPOCHS)},
    EXCEL: (2e4, 8e4),
}
_ISO: Final = re.compile(
    r"(\d{4}-\d\d-\d\d|\d{4}-W\d\d(-\d)?)([T ]\d\d:\d\d(:\d\d([.,]\d+)?)?"
    r"\s?(?P<offset>Z|z|UTC|[+-]\d\d(:?\d\d)?)?)?"
    r"|\d{8}T\d{4}(\d\d)?(?P<basic>Z|[+-]\d{4})?"
)
_MIDNIGHT: Final = re.compile(r"(?:^|(?<=[ T]))24(?=([:.h]?00){0,2}(?:$|[Z +-]))")
_BEFORE_OFFSET: Final = re.compile(r"\s+(?=[+-]\d\d:?\d\d$)")
_OFFSET: Final = re.compile(r"(\s?)([+-]\d\d:?\d\d|Z)$")
_DAY_FIRST: Final = ("%d.%m.%Y", "%d/%m/%Y", "%d-%m-%Y", "%d.%m.%y", "%d/%m/%y", "%d-%m-%y")
_MONTH_FIRST: Final = ("%m/%d/%Y", "%m-%d-%Y", "%m/%d/%y", "%m-%d-%y")
_OTHER: Final = (
    "%Y-%m-%d", "%Y/%m/%d", "%Y.%m.%d", "%Y%m%d", "%d-%b-%Y", "%d %b %Y", "%d-%b-%y", "%b %d %Y",
    "%b %d, %Y", "%d %B %Y", "%B %d, %Y", "%d %b %y", "%d%b%Y", "%y-%m-%d", "%y/%m/%d", "%y.%m.%d",
    "%Y-%m", "%Y/%m", "%m/%Y", "%m.%Y", "%b %Y",
)  # fmt: skip
CLOCKS: Final = (
    "%H:%M:%S", "%H:%M", "%H:%M:%S.%f", "%I:%M:%S %p", "%I:%M %p", "%H.%M.%S", "%H.%M", "%H%M%S",
    "%H%M", "%Hh%M", "%I:%M%p", "%I:%M:%S%p", "%I:%M:%S.%f %p", "%I %p", "%H",
)  # fmt: skip
_NUMBER_CLOCKS: Final = {"%H%M%S": 6, "%H%M": 4}
FAULTY_SHARE: Final = 0.05  # of a column's dates, which may be impossible ones
_JOINTS: Final = (" ", "T", ", ", "", "  ", ":", " - ", "-", "_")


class DateGuess(NamedTuple):
    """``sure``: no other order of day and month fits these texts as well."""

    form: str
    sure: bool = True


def guess_form(texts: Sequence[str], *, day_first: bool, timely: bool = True) -> DateGuess | None:
    """Returns the format that reads the texts, None if none does. ``day_first``: what to assume
    where the texts leave open which number is the day. ``timely``: by the heading, numbers may be
    times."""
    filled = _dated(texts)
    if not filled:
        return None
    if all(_ISO.fullmatch(text) for text in filled):
        return DateGuess(ISO)
    numeric = _numeric_form(filled) if timely else None
    if numeric:
        return DateGuess(numeric)
    first = filled[0]
    forms = [form for form in _forms(first) if _all_read(filled, form)]
    if not forms:  # a date such as 31 November, among many that exist
        forms = [form for form in _forms(first) if _most_read(filled, form)]
    if not forms and (plain := plain_date(first)) != first:
        iso = _ISO.fullmatch(plain) and all(_ISO.fullmatch(plain_date(text)) for text in filled)
        forms = [ISO] if iso else [form for form in _forms(plain) if _all_read(filled, form)]
    jumps = {form: _disorder(filled, form) for form in forms}
    if not jumps:
        return None
    best = min(jumps, key=lambda form: (jumps[form], _month_first(form) == day_first))
    monthly = next((form for form in jumps if is_date_only(form) and _all_first(filled, form)), "")
    if monthly and _month_first(monthly) != _month_first(best):
        return DateGuess(monthly, sure=False)  # rather than the first days of one January
    rivals = [form for form, jump in jumps.items() if jump == jumps[best]]
    return DateGuess(best, len({_month_first(form) for form in rivals}) == 1)


def _dated(texts: Sequence[str]) -> list[str]:
    """Returns the texts that may be dates: a total or a repeated heading has no digit."""
    return [text.strip() for text in texts if any(map(str.isdigit, text))]


def is_date_only(form: str) -> bool:
    return "%" in form and not any(sign in form for sign in ("%H", "%I"))


def number_clock_form(texts: Sequence[str]) -> str | None:
    """Returns the format of clock times written as numbers, whose leading zeros may be missing:
    90000 is 09:00:00, 930 is 09:30."""
    filled = _dated(texts)
    if not filled or not all(
        text.isascii() and text.isdigit() and len(text) < 7 for text in filled
    ):
        return None
    latest = max(map(int, filled))
    form = "%H%M%S" if latest > 2400 else "%H%M"
    short = form == "%H%M" and max(map(len, filled)) < 3  # hours
    return form if not short and _all_read(_with_whole_clocks(filled, form), form) else None


def _with_whole_clocks(texts: Sequence[str], form: str) -> Sequence[str]:
    """Adds the leading zeros of clock times that are numbers."""
    width = next((n for clock, n in _NUMBER_CLOCKS.items() if _ends_in(form, clock)), 0)
    if not width:
        return texts
    parts = (text.strip().rpartition(" ") for text in texts)
    return [f"{date}{space}{clock.zfill(width)}" if clock else "" for date, space, clock in parts]


def _ends_in(form: str, clock: str) -> bool:
    return form == clock or form.endswith(f" {clock}")


def clock_form(texts: Sequence[str]) -> str | None:
    """Returns the format of a column of clock times without dates."""
    filled = _dated(texts)
    first = plain_date(filled[0]) if filled else ""
    if not re.search(r"\d[:.h]\d|\d\s*[AaPp]\.?\s?[Mm]", first):
        return None
    fitting = (form for form in CLOCKS if _shape(form).fullmatch(first))
    return next((form for form in fitting if _all_read(filled, form)), None)


def has_offset(texts: Sequence[str], form: str) -> bool:
    """Whether the texts contain an offset, and so name an instant."""
    if form in _EPOCHS or form.endswith("%z"):
        return True
    matches = [_ISO.fullmatch(plain_date(text)) for text in _dated(texts)]
    exact = [match and (match["offset"] or match["basic"]) for match in matches]
    return form == ISO and bool(exact) and all(exact)


def _numbers(texts: Sequence[str]) -> tuple[Floats, Bools]:
    """Times that are numbers; spreadsheets may write their decimal sign as a comma."""
    return parse_numbers(texts, "," if any("," in text for text in texts) else ".")


def parse_times(texts: Sequence[str], form: str) -> tuple[Ints, Bools, Bools]:
    """Returns (epoch ms, whether it could be read, whether the text names an instant) for each
    text. Without an offset, the number is the wall-clock time, counted as if it were UTC."""
    if form in NUMERIC:
        numbers, ok = _numbers(texts)
        ok &= ~np.isnan(numbers)
        scale, zero = NUMERIC[form]
        ms = np.where(ok, np.rint(np.nan_to_num(numbers) * scale), 0).astype(np.int64) + zero
        return ms, ok, np.full(len(texts), form in _EPOCHS)
    if form == ISO:
        return _parse_iso(texts)
    texts = _with_whole_clocks(texts, form)
    ms, ok = parse_column(_as_iso(texts, form))
    _read_rest(texts, ms, ok, form)
    return np.where(ok, ms, 0), ok, np.full(len(texts), form.endswith("%z"))


def _as_iso(texts: Sequence[str], form: str) -> Sequence[str]:
    """Rearranges the texts to ISO 8601, which is read 10 times faster, where all have the fixed
    length of a format of digits; otherwise returns them unchanged."""
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
    """Returns (the format with 0 for each digit, [(position in the text, position in ISO 8601)]);
    '' where some part isn't digits of one width."""
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
    ms, ok = parse_column(texts)
    _read_rest(texts, ms, ok, ISO)
    return ms, ok, np.fromiter((_names_offset(text) for text in texts), np.bool_, len(texts))


def _names_offset(text: str) -> bool:
    if len(text) <= 10 or text[4:6] == "-W":
        return False
    return text[-1] in "Zz" or "+" in text[-7:] or "-" in text[-6:] or text[-1].isalpha()


def _read_rest(texts: Sequence[str], ms: Ints, ok: Bools, form: str) -> None:
    """Reads the texts that haven't been read yet, one by one; repeated texts once."""
    seen: dict[str, int | None] = {}
    for index in np.flatnonzero(~ok).tolist():
        text = texts[index].strip()
        if text not in seen:
            seen[text] = _instant(text, form)
        instant = seen[text]
        if instant is not None:
            ms[index], ok[index] = instant, True


def _instant(text: str, form: str) -> int | None:
    """Returns epoch ms, of the wall clock if the text has no offset; None if it can't be read."""
    instant = _moment(text, form)
    if instant is not None or not text:
        return instant
    plain = plain_date(text)
    form = form.replace("%B", "%b")
    instant = _moment(plain, form)
    if instant is None and (midnight := _MIDNIGHT.sub("00", plain)) != plain:
        instant = _moment(midnight, form)
        return None if instant is None else instant + DAY_MS
    return instant


def _moment(text: str, form: str) -> int | None:
    try:
        if form == ISO:
            moment = datetime.fromisoformat(_BEFORE_OFFSET.sub("", text))
        else:
            moment = datetime.strptime(text, form)  # noqa: DTZ007 - a wall clock
    except ValueError:
        return None
    return from_datetime(moment if moment.tzinfo else moment.replace(tzinfo=UTC))


def _numeric_form(texts: Sequence[str]) -> str | None:
    numbers, ok = _numbers(texts)
    if not ok.all() or np.isnan(numbers).any():
        return None
    for form, (low, high) in _BOUNDS.items():
        if (numbers >= low).all() and (numbers <= high).all():
            return form
    return None


def _forms(text: str) -> Iterator[str]:
    """Yields the formats that a text of this shape may have."""
    for date in (*_DAY_FIRST, *_MONTH_FIRST, *_OTHER):
        start = _shape(date).match(text)
        rest = text[start.end() :] if start else ""
        if start and not rest:
            yield date
        offset = _OFFSET.search(rest)
        zone = f"{offset[1]}%z" if offset else ""
        for joint in _JOINTS if rest else ():
            clock = rest[: offset.start() if offset else None].removeprefix(joint)
            if rest.startswith(joint):
                clocks = (each for each in CLOCKS if _shape(each).fullmatch(clock))
                yield from (f"{date}{joint}{each}{zone}" for each in clocks)


@cache
def _shape(form: str) -> re.Pattern[str]:
    pattern = re.sub(r"%.", lambda sign: _SHAPES[sign[0]], re.escape(form).replace(r"\%", "%"))
    return re.compile(pattern.replace(r"\d{4}\d{1,2}\d{1,2}", r"\d{8}"))


_SHAPES: Final = {
    "%d": r"\d{1,2}", "%m": r"\d{1,2}", "%Y": r"\d{4}", "%y": r"\d{2}", "%b": r"[A-Za-z]{3}",
    "%B": r"[A-Za-z]{3,9}", "%H": r"\d{1,2}", "%I": r"\d{1,2}", "%M": r"\d{2}", "%S": r"\d{2}",
    "%f": r"\d{1,6}", "%p": r"[AaPp][Mm]",
}  # fmt: skip


def _all_read(texts: Sequence[str], form: str) -> bool:
    return all(_instant(text, form) is not None for text in texts[:200])


def _most_read(texts: Sequence[str], form: str) -> bool:
    looked_at = texts[:200]
    unread = sum(_instant(text, form) is None for text in looked_at)
    return unread <= FAULTY_SHARE * len(looked_at)


def _disorder(texts: Sequence[str], form: str) -> float:
    """Returns the sum of the jumps between the times: a wrong order of day and month turns days
    into months."""
    ms, ok, _ = parse_times(texts, form)
    return float(np.abs(np.diff(ms[ok])).sum())


def _all_first(texts: Sequence[str], form: str) -> bool:
    """Whether the dates are first days of several months."""
    ms, ok, _ = parse_times(texts, form)
    months = ms[ok].astype("datetime64[ms]").astype("datetime64[M]")
    firsts = months.astype("datetime64[ms]").astype(np.int64) == ms[ok]
    return bool(firsts.all()) and len(set(months.tolist())) > 1


def _month_first(form: str) -> bool:
    return form.startswith("%m")
