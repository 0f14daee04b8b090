"""What a live source hands over, and what became of each of its rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from enum import StrEnum

from api.ingest.batch import Refusals
from api.ingest.decode import Rejection
from api.store.base import Instant, Progress, ReadingRow, Refusal

Entry = ReadingRow | Rejection
"""A row that a source sent: a reading, or why it is none."""


class Fate(StrEnum):
    """What became of a row. A repeat was stored before: to its sender that is success as well."""

    STORED = "stored"
    REPEATED = "repeated"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Submission:
    """Rows of one organization from one ``source``, which names it in the table of refusals.
    ``samples`` hold the text of refused rows by their place, as far as there is one; ``undated``
    are the places of readings that said no instant and are of when they came. The refusals at
    ``counted`` places are in the store already; ``progress`` is kept with these rows."""

    organization_id: str
    source: str
    entries: Sequence[Entry]
    samples: Mapping[int, str] = field(default_factory=dict[int, str])
    undated: Set[int] = frozenset()
    counted: Set[int] = frozenset()
    progress: Progress | None = None

    @property
    def readings(self) -> list[ReadingRow]:
        return [entry for entry in self.entries if not isinstance(entry, Rejection)]

    def refusals(self, at_ms: int) -> Iterator[Refusal]:
        """Counted by reason and device, for the store to keep."""
        found = Refusals()
        for place, entry in enumerate(self.entries):
            if isinstance(entry, Rejection) and place not in self.counted:
                found.add(entry, self.samples.get(place, ""))
        for r in found.all():
            yield Refusal(
                self.organization_id, self.source, r.reason, r.device, r.sample, at_ms, r.count
            )

    def fates(self, fresh: set[ReadingRow]) -> list[Fate]:
        """Each row's fate, in order. ``fresh`` are the rows that the store found new and nobody
        has claimed yet; this takes its own out of it, so that a row's second copy is a repeat."""
        fates: list[Fate] = []
        for entry in self.entries:
            if isinstance(entry, Rejection):
                fates.append(Fate.REFUSED)
            elif entry in fresh:
                fresh.remove(entry)
                fates.append(Fate.STORED)
            else:
                fates.append(Fate.REPEATED)
        return fates


@dataclass(slots=True)
class Draft:
    """A submission in the making: rows are added in their order."""

    entries: list[Entry] = field(default_factory=list[Entry])
    samples: dict[int, str] = field(default_factory=dict[int, str])
    undated: set[int] = field(default_factory=set[int])
    counted: set[int] = field(default_factory=set[int])

    def add(
        self, entry: Entry, sample: Callable[[], str], *, undated: bool, counted: bool = False
    ) -> None:
        """``sample``: its text, asked for where that is kept. ``undated``: it said no instant.
        ``counted``: if it is refused, it was before."""
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
    """The fate of each row of a submission, in its order, given once all are committed."""

    fates: Sequence[Fate]

    def count(self) -> Mapping[Fate, int]:
        return Counter(self.fates)


def readings_of(submissions: Iterable[Submission]) -> list[ReadingRow]:
    return [row for submission in submissions for row in submission.readings]


def progress_of(submissions: Iterable[Submission]) -> list[Progress]:
    """The last one of each source."""
    found = {s.progress.digest: s.progress for s in submissions if s.progress is not None}
    return list(found.values())


def undated_of(submissions: Iterable[Submission]) -> set[Instant]:
    """The instants that we gave."""
    return {
        (row[0], row[1])
        for submission in submissions
        for place in submission.undated
        if not isinstance(row := submission.entries[place], Rejection)
    }
