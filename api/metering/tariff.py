"""Tariffs: rates by tier, season, weekday and hour, and fixed charges; computes the cost of a
volume.

Amounts are exact: volumes are whole millionths of a gallon and rates have 14 decimals, so that
whole cents per m³ are exact too. A cost is therefore the same however its span is divided.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal, InvalidOperation
from functools import cached_property
from typing import Any, Final, NamedTuple, cast
from zoneinfo import ZoneInfo

from api.catalog import DAY_MS, HOUR_MS, MINUTE_MS
from api.metering.cost import Price
from api.metering.month_end import month_of
from api.timez import EPOCH_DAY, offsets

WEEKDAYS: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
NAME_LENGTH: Final = 120
MOST_RATES: Final = 60
MOST_VERSIONS: Final = 50
FINEST_MS: Final = 5 * MINUTE_MS  # of volumes: no zone since 1972 has a finer offset
RATE_DIGITS: Final = 14
TIER_DIGITS: Final = 6
BUDGET_DIGITS: Final = 4
MOST_AMOUNT: Final = Decimal(1_000_000)
_MICRO: Final = 1_000_000
_UNITS: Final = 10 ** (6 + RATE_DIGITS)  # of a cost in one currency unit
_CURRENCY: Final = re.compile(r"[A-Z]{3}")
_SEASON_DAY: Final = re.compile(r"(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])")
_WHOLE_YEAR: Final = ("01-01", "12-31")
_WHOLE_DAY: Final = (0, 24)


class Band(NamedTuple):
    """When a rate holds: from the day ``season[0]`` to ``season[1]`` (month-day, both included, may
    cross the new year), on ``days`` (0 is Monday), from the local hour ``hours[0]`` until
    ``hours[1]`` (may cross midnight)."""

    season: tuple[str, str] = _WHOLE_YEAR
    days: frozenset[int] = frozenset(range(7))
    hours: tuple[int, int] = _WHOLE_DAY

    @property
    def always(self) -> bool:
        return self == Band()

    def has(self, month_day: str, weekday: int, hour: int) -> bool:
        return (
            weekday in self.days
            and _within(month_day, *self.season, last_included=True)
            and _within(hour, *self.hours, last_included=False)
        )


def _within(value: Any, first: Any, last: Any, *, last_included: bool) -> bool:
    before_end = value <= last if last_included else value < last
    return value >= first and before_end if first <= last else value >= first or before_end


class Rate(NamedTuple):
    """A row of a tariff: the price per gallon, in ``band``, of what flows beyond ``above`` gallons
    in a local month."""

    per_gallon: Decimal
    above: Decimal = Decimal(0)
    band: Band = Band()


@dataclass(frozen=True)
class Version:
    """The rates from a local day on. Where several bands hold, the first listed counts; the band of
    all other times comes last. ``fixed`` is a charge per month."""

    since: date
    rates: tuple[Rate, ...]
    fixed: Decimal = Decimal(0)

    @cached_property
    def _bands(self) -> tuple[tuple[Band, tuple[int, ...], tuple[int, ...]], ...]:
        """Returns (band, starts of its tiers in millionths of a gallon, their rates)."""
        made: list[tuple[Band, tuple[int, ...], tuple[int, ...]]] = []
        bands = dict.fromkeys(rate.band for rate in self.rates)
        for band in sorted(bands, key=lambda band: band.always):
            tiers = sorted((r.above, r.per_gallon) for r in self.rates if r.band == band)
            starts = tuple(int(above * _MICRO) for above, _ in tiers)
            made.append((band, starts, tuple(int(p.scaleb(RATE_DIGITS)) for _, p in tiers)))
        return tuple(made)

    def tiers(self, month_day: str, weekday: int, hour: int) -> tuple[Sequence[int], Sequence[int]]:
        return next(
            (starts, rates)
            for band, starts, rates in self._bands
            if band.has(month_day, weekday, hour)
        )


@dataclass(frozen=True)
class Tariff:
    """``versions`` are in order of their first day. There is no price before the first."""

    name: str
    currency: str
    versions: tuple[Version, ...]

    @cached_property
    def _since(self) -> list[int]:
        return [version.since.toordinal() for version in self.versions]

    def version(self, ordinal: int) -> Version | None:
        place = bisect_right(self._since, ordinal)
        return self.versions[place - 1] if place else None

    def charges(
        self,
        volumes: Iterable[tuple[int, float | None]],
        tz: ZoneInfo,
        key: Callable[[int], int] = lambda start_ms: 0,
    ) -> dict[int, Decimal]:
        """Returns the cost of (bucket start in ms, gallons), summed by ``key(bucket start)``.

        The volumes ascend from the start of a local month, so that tiers can be applied. A bucket
        must not cross midnight or a local hour at which a rate changes.
        """
        rows = [row for row in volumes if row[1] is not None]
        sums: dict[int, int] = {}
        if not rows:
            return {}
        shifts = offsets(tz, rows[0][0], rows[-1][0])
        begins = [instant for instant, _ in shifts]
        days: dict[int, _DayRates] = {}
        month, month_volume = -1, 0
        for start_ms, gallons in rows:
            local_ms = start_ms + shifts[max(0, bisect_right(begins, start_ms) - 1)][1]
            ordinal = local_ms // DAY_MS + EPOCH_DAY
            day = days.get(ordinal)
            if day is None:
                day = days[ordinal] = _DayRates(self.version(ordinal), ordinal)
            if day.month != month:
                month, month_volume = day.month, 0
            after = month_volume + round((gallons or 0.0) * _MICRO)
            if day.version is not None:
                starts, rates = day.tiers(local_ms % DAY_MS // HOUR_MS)
                cost = _cumulated(starts, rates, after) - _cumulated(starts, rates, month_volume)
                place = key(start_ms)
                sums[place] = sums.get(place, 0) + cost
            month_volume = after
        return {place: Decimal(units) / _UNITS for place, units in sums.items()}

    def fixed(self, ordinal: int) -> Decimal:
        """Returns the day's part of the fixed charge. The days of a month add up to the monthly
        charge."""
        version = self.version(ordinal)
        if version is None or not version.fixed:
            return Decimal(0)
        start, end = month_of(ordinal)
        cent = Decimal("0.0001")
        until, before = (
            (version.fixed * day / (end - start)).quantize(cent)
            for day in (ordinal - start + 1, ordinal - start)
        )
        return until - before

    def marginal(self, ordinal: int, month_volume: float) -> Decimal | None:
        """Returns the price of one more gallon after ``month_volume`` gallons: the mean over the
        hours of a week in that day's season. None where no version holds."""
        version = self.version(ordinal)
        if version is None:
            return None
        month_day, at = f"{date.fromordinal(ordinal):%m-%d}", round(month_volume * _MICRO)
        total = 0
        for weekday in range(7):
            for hour in range(24):
                starts, rates = version.tiers(month_day, weekday, hour)
                total += rates[max(0, bisect_right(starts, at) - 1)]
        return Decimal(total) / 168 / 10**RATE_DIGITS

    def price(self, ordinal: int, month_volume: float) -> Price | None:
        """The marginal rate as a price."""
        rate = self.marginal(ordinal, month_volume)
        return None if rate is None else Price(float(rate), self.currency, False, self.name)


class _DayRates:
    """The tiers of a local day's hours, looked up once per day."""

    def __init__(self, version: Version | None, ordinal: int) -> None:
        day = date.fromordinal(ordinal)
        self.version, self.month = version, month_of(ordinal)[0]
        self._month_day, self._weekday = f"{day:%m-%d}", day.weekday()
        self._hours: dict[int, tuple[Sequence[int], Sequence[int]]] = {}

    def tiers(self, hour: int) -> tuple[Sequence[int], Sequence[int]]:
        tiers = self._hours.get(hour)
        if tiers is None:
            assert self.version is not None  # the caller has checked this
            tiers = self._hours[hour] = self.version.tiers(self._month_day, self._weekday, hour)
        return tiers


def _cumulated(starts: Sequence[int], rates: Sequence[int], volume: int) -> int:
    """Returns the cost of a month's first ``volume`` in one band. The result is negative where the
    volume is."""
    cost = 0
    for index, rate in enumerate(rates):
        end = starts[index + 1] if index + 1 < len(starts) else volume
        part = min(volume, end) - starts[index]
        if index and part <= 0:
            break
        cost += rate * part
    return cost


# --- From and to JSON ----------------------------------------------------------------------------


class TariffProblems(ValueError):
    """``by_field`` holds each field's problem, in words that follow the field's name."""

    def __init__(self, by_field: Mapping[str, str]) -> None:
        super().__init__("; ".join(f"{name} {words}" for name, words in by_field.items()))
        self.by_field = dict(by_field)


def parse_tariff(body: Mapping[str, Any]) -> Tariff:
    """Raises TariffProblems with every bad field."""
    problems: dict[str, str] = {}
    name = body.get("name")
    text = " ".join(name.split()) if isinstance(name, str) else ""
    if not text or len(text) > NAME_LENGTH or not text.isprintable():
        problems["name"] = f"must be text of at most {NAME_LENGTH} characters"
    currency = body.get("currency", "USD")
    if not isinstance(currency, str) or not _CURRENCY.fullmatch(currency):
        problems["currency"] = "must be a code of three letters, such as USD"
    versions: list[Version] = []
    try:
        versions = [_version(each) for each in _objects(body.get("versions"), MOST_VERSIONS)]
        if len({each.since for each in versions}) < len(versions):
            raise ValueError("name a day twice")
    except ValueError as error:
        problems["versions"] = str(error)
    if problems:
        raise TariffProblems(problems)
    return Tariff(text, currency, tuple(sorted(versions, key=lambda each: each.since)))


def tariff_object(tariff: Tariff) -> dict[str, Any]:
    versions = [
        {
            "from": each.since.isoformat(),
            "fixed": _plain(each.fixed),
            "rates": [_rate_object(rate) for rate in each.rates],
        }
        for each in tariff.versions
    ]
    return {"name": tariff.name, "currency": tariff.currency, "versions": versions}


def _rate_object(rate: Rate) -> dict[str, Any]:
    season, days, hours = rate.band
    return {
        "perGallon": _plain(rate.per_gallon),
        "above": _plain(rate.above),
        "season": None if season == _WHOLE_YEAR else list(season),
        "days": None if len(days) == len(WEEKDAYS) else [WEEKDAYS[day] for day in sorted(days)],
        "hours": None if hours == _WHOLE_DAY else list(hours),
    }


def _plain(amount: Decimal) -> str:
    text = f"{amount:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _objects(value: Any, most: int) -> list[Mapping[str, Any]]:
    listed = cast(list[Any], value) if isinstance(value, list) else []
    if not listed or not all(isinstance(each, dict) for each in listed):
        raise ValueError("must be a list of at least one object")
    if len(listed) > most:
        raise ValueError(f"may have at most {most} entries")
    return listed


def _version(body: Mapping[str, Any]) -> Version:
    _only(body, ("from", "fixed", "rates"))
    try:
        since = date.fromisoformat(body.get("from") or "")
    except (TypeError, ValueError):
        raise ValueError("need from, a day such as 2026-01-01") from None
    rates = tuple(_rate(each) for each in _objects(body.get("rates"), MOST_RATES))
    tiers = {(rate.band, rate.above) for rate in rates}
    if len(tiers) < len(rates):
        raise ValueError("have two rates for the same time and tier")
    if any((rate.band, Decimal(0)) not in tiers for rate in rates):
        raise ValueError("need a rate above 0 gallons for each season and time")
    if not any(rate.band.always for rate in rates):
        raise ValueError("need a rate for all other times: without season, days and hours")
    return Version(since, rates, amount(body.get("fixed", "0"), "fixed", 4))


def _rate(body: Mapping[str, Any]) -> Rate:
    _only(body, ("perGallon", "above", "season", "days", "hours"))
    return Rate(
        amount(body.get("perGallon"), "perGallon", RATE_DIGITS),
        amount(body.get("above") or "0", "above", TIER_DIGITS, Decimal(10**12)),
        Band(_season(body.get("season")), _days(body.get("days")), _hours(body.get("hours"))),
    )


def _only(body: Mapping[str, Any], names: tuple[str, ...]) -> None:
    if unknown := [name for name in body if name not in names]:
        raise ValueError(f"have no field {unknown[0][:40]}; there are {', '.join(names)}")


def amount(value: Any, name: str, digits: int, most: Decimal = MOST_AMOUNT) -> Decimal:
    """Returns a decimal of 0 or more with at most ``digits`` decimals. Raises ValueError."""
    try:
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise ValueError
        number = Decimal(str(value))
        if not number.is_finite() or not 0 <= number <= most:
            raise ValueError
        if number != number.quantize(Decimal(1).scaleb(-digits)):
            raise ValueError
    except (ValueError, InvalidOperation):
        raise ValueError(
            f"need {name}, a number from 0 to {most:,} with at most {digits} decimals"
        ) from None
    return number


def _season(value: Any) -> tuple[str, str]:
    if value is None:
        return _WHOLE_YEAR
    match value:
        case [str() as first, str() as last] if all(map(_SEASON_DAY.fullmatch, (first, last))):
            return first, last
        case _:
            raise ValueError('have a season that isn\'t two days such as ["06-01", "09-30"]')


def _days(value: Any) -> frozenset[int]:
    if value is None:
        return frozenset(range(7))
    listed = cast(list[Any], value) if isinstance(value, list) else []
    if not listed or any(day not in WEEKDAYS for day in listed):
        raise ValueError(f"have days that aren't some of {', '.join(WEEKDAYS)}")
    return frozenset(WEEKDAYS.index(day) for day in listed)


def _hours(value: Any) -> tuple[int, int]:
    if value is None:
        return _WHOLE_DAY
    match value:
        case [int() as first, int() as last] if 0 <= first < 24 and 0 < last <= 24:
            if first != last and True not in (first is True, last is True):
                return first, last
        case _:
            pass
    raise ValueError("have hours that aren't two whole hours such as [17, 21]")
