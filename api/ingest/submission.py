"""Rows submitted by a live source, and the result of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from enum import StrEnum

from api.ingest.batch import Refusals
from api.ingest.decode import Decoded, Rejection
from api.store.base import Instant, Progress, ReadingRow, Refusal, RegisterRow

Entry = Decoded | Rejection
"""A submitted row: a reading, a register, or the reason for its refusal."""


class RowResult(StrEnum):
    """The result of a row. REPEATED: it was stored before, which is success for its sender."""

    STORED = "stored"
    REPEATED = "repeated"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Submission:
    """Rows of one organization from one ``source``, which names it in the table of refusals.
    ``samples``: texts of refused rows by position. ``undated``: positions of readings without a
    timestamp, which got their arrival time. ``counted``: positions of refusals that the store has
    counted before. ``progress``: saved with these rows."""

    organization_id: str
    source: str
    entries: Sequence[Entry]
    samples: Mapping[int, str] = field(default_factory=dict[int, str])
    undated: Set[int] = frozenset()
    counted: Set[int] = frozenset()
    progress: Progress | None = None

    @property
    def readings(self) -> list[ReadingRow]:
        return [each for each in self.entries if not isinstance(each, Rejection | RegisterRow)]

    @property
    def registers(self) -> list[RegisterRow]:
        return [entry for entry in self.entries if isinstance(entry, RegisterRow)]

    def refusals(self, at_ms: int) -> Iterator[Refusal]:
        """Yields the refusals to save, counted by reason and device."""
        counts = Refusals()
        for place, entry in enumerate(self.entries):
            if isinstance(entry, Rejection) and place not in self.counted:
                counts.add(entry, self.samples.get(place, ""))
        for r in counts.all():
            yield Refusal(
                self.organization_id, self.source, r.reason, r.device, r.sample, at_ms, r.count
            )

    def row_results(self, fresh: set[Decoded]) -> list[RowResult]:
        """Returns each row's result, in order. ``fresh``: new rows not yet attributed to a
        submission. This removes its own, so that a second copy of a row is a repeat."""
        row_results: list[RowResult] = []
        for entry in self.entries:
            if isinstance(entry, Rejection):
                row_results.append(RowResult.REFUSED)
            elif entry in fresh:
                fresh.remove(entry)
                row_results.append(RowResult.STORED)
            else:
                row_results.append(RowResult.REPEATED)
        return row_results


@dataclass(slots=True)
class Draft:
    """A submission under construction, to which rows are added in order."""

    entries: list[Entry] = field(default_factory=list[Entry])
    samples: dict[int, str] = field(default_factory=dict[int, str])
    undated: set[int] = field(default_factory=set[int])
    counted: set[int] = field(default_factory=set[int])

    def add(
        self, entry: Entry, sample: Callable[[], str], *, undated: bool, counted: bool = False
    ) -> None:
        """``sample`` returns the row's text, and is called for a refused row. ``undated``: the row
        has no timestamp. ``counted``: if it is refused, the store has counted it before."""
        place = len(self.entries)
        if isinstance(entry, Rejection):
            if counted:
                self.counted.add(place)
            self.samples[place] = sample()
        elif undated:
            self.undated.add(place)
        self.entries.append(entry)

    @property
    def has_uncounted(self) -> bool:
        return len(self.samples) > len(self.counted)

    def of(self, organization_id: str, source: str, progress: Progress | None = None) -> Submission:
        return Submission(
            organization_id,
            source,
            self.entries,
            self.samples,
            self.undated,
            self.counted,
            progress,
        )


@dataclass(frozen=True, slots=True)
class Receipt:
    """The results of a submission's rows, in order, available once all are committed."""

    row_results: Sequence[RowResult]

    def count(self) -> Mapping[RowResult, int]:
        return Counter(self.row_results)


def readings_of(submissions: Iterable[Submission]) -> list[ReadingRow]:
    return [row for submission in submissions for row in submission.readings]


def registers_of(submissions: Iterable[Submission]) -> list[RegisterRow]:
    return [row for submission in submissions for row in submission.registers]


def progress_of(submissions: Iterable[Submission]) -> list[Progress]:
    """Returns the last progress of each source."""
    last = {s.progress.digest: s.progress for s in submissions if s.progress is not None}
    return list(last.values())


def undated_of(submissions: Iterable[Submission]) -> set[Instant]:
    """Returns the instants of readings without a timestamp of their own."""
    return {
        (row[0], row[1])
        for submission in submissions
        for place in submission.undated
        if not isinstance(row := submission.entries[place], Rejection)
    }
