"""Sums, means and quotients of doubles where readings may be any finite number.

A sum that doesn't fit a double is stored as null beside a count above 0. SQLite returns infinity on
overflow, which becomes null here. Postgres raises an error, also on underflow: its statement is
then repeated with `GUARDED` arithmetic, which is many times slower and can't fail.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

GREATEST: Final = "1.7976931348623157e308"
TINY: Final = "1e-300"
BEYOND: Final = "1e400"  # more than any sum of doubles could bring back into range

TOLERANCE: Final = 1e-9
"""The relative error of a sum, as a share of the sum of the magnitudes: the order of addition
changes the rounding, by about 1e-16 a step."""


@dataclass(frozen=True, slots=True, eq=False)
class Arithmetic:
    """``exact`` makes a term addable; ``double`` turns a sum back into a double, or null;
    ``mean_of`` is the mean of exact terms; ``quotient`` divides a double by a count."""

    exact: Callable[[str], str]
    double: Callable[[str], str]
    mean_of: Callable[[str], str]
    quotient: Callable[[str, str], str]

    def total(self, term: str, count: str | None = None) -> str:
        """Returns the sum of a term. With ``count``, a null beside a count is a sum that didn't fit
        a double, so that the total doesn't fit either."""
        return self.double(f"SUM({self._addable(term, count)})")

    def mean(self, term: str, count: str | None = None) -> str:
        return self.mean_of(self._addable(term, count))

    def magnitude(self, term: str) -> str:
        """Returns the sum of the magnitudes, for `differs`."""
        return f"SUM(ABS({self.exact(term)}))"

    def differs(self, stored: str, fresh: str, magnitude: str) -> str:
        """Whether two sums differ by more than rounding. Where their magnitudes don't fit a double,
        the order of addition decides what the sum is, or whether it is null."""
        apart = f"ABS({self.exact(stored)} - {self.exact(fresh)}) > {TOLERANCE} * {magnitude}"
        return (
            f"(COALESCE({magnitude}, 0) <= {GREATEST}"
            f" AND (({stored} IS NULL) <> ({fresh} IS NULL) OR {apart}))"
        )

    def _addable(self, term: str, count: str | None) -> str:
        exact = self.exact(term)
        return exact if count is None else f"COALESCE({exact}, NULLIF({count}, 0) * {BEYOND})"


def _finite(result: str) -> str:
    return f"CASE WHEN ABS({result}) <= {GREATEST} THEN {result} END"


def _decimal(term: str) -> str:
    # Through text, which represents a double exactly; the direct cast keeps 15 digits.
    return f"CAST(CAST({term} AS TEXT) AS NUMERIC)"


def _nearest(result: str) -> str:
    # A sum of doubles is a multiple of the smallest one: it can't underflow.
    return f"CASE WHEN ABS({result}) <= {GREATEST} THEN CAST({result} AS DOUBLE PRECISION) END"


def _guarded_mean(term: str) -> str:
    mean = f"SUM({term}) / COUNT({term})"
    return f"CASE WHEN ABS({mean}) < {TINY} THEN 0.0 ELSE {_nearest(mean)} END"


def _guarded_quotient(dividend: str, count: str) -> str:
    small = f"{count} > 1 AND ABS({dividend}) < {TINY}"
    return f"CASE WHEN {small} THEN 0.0 ELSE {dividend} / {count} END"


PLAIN: Final = Arithmetic(
    exact=lambda term: term,
    double=_finite,
    mean_of=lambda term: _finite(f"AVG({term})"),
    quotient=lambda dividend, count: f"{dividend} / {count}",
)
GUARDED: Final = Arithmetic(
    exact=_decimal,
    double=_nearest,
    mean_of=_guarded_mean,
    quotient=_guarded_quotient,
)
