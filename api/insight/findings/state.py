"""The driver's state between two runs, and how it is stored: about 11 kB a device.

Every kind's memory and the driver's own are small. A copy of them (`Snapshot`) is stored at the
start of each local day, for REWIND_DAYS days. The days' volumes are stored once: a history is
rewound to a day by dropping the rows since. Late readings can thus be processed from the start of
their day.
"""

from __future__ import annotations

import json
import struct
import zlib
from dataclasses import dataclass, field, replace
from typing import Any, Final, cast

from api.insight.findings.model import Draft
from api.insight.findings.registry import KIND_BY_NAME
from api.metering.profile import REWIND_DAYS, History, Span

_HEADER: Final = struct.Struct("<BIH")  # version, length of the history, number of parts
_LENGTH: Final = struct.Struct("<I")
_INSTANT: Final = struct.Struct("<q")
_VERSION: Final = 2


@dataclass(frozen=True, slots=True)
class Carried:
    """Everything except the history. Hours before ``next_ms`` have been processed. ``day`` is the
    current local day; ``today`` holds (start, gallons) of its hours with enough coverage.
    ``masked``: spans of closed findings that aren't used for training; ``day_spans``: those in
    effect when the day began. ``night``: the last local day whose night was processed."""

    next_ms: int
    day: int
    night: int = 0
    today: tuple[tuple[int, float], ...] = ()
    masked: tuple[Span, ...] = ()
    day_spans: tuple[Span, ...] = ()
    memories: dict[str, Any] = field(default_factory=dict[str, Any])
    drafts: dict[str, Draft | None] = field(default_factory=dict[str, "Draft | None"])

    def dump(self) -> bytes:
        kinds = {
            name: [list(memory), self.drafts.get(name)] for name, memory in self.memories.items()
        }
        fields = (self.next_ms, self.day, self.night, self.today, self.masked, self.day_spans)
        return json.dumps([*fields, kinds], separators=(",", ":")).encode()

    @classmethod
    def load(cls, data: bytes) -> Carried:
        *fields, kinds = json.loads(data)
        registered = {name: both for name, both in kinds.items() if name in KIND_BY_NAME}
        memories = {
            name: KIND_BY_NAME[name].load(_tuples(memory))
            for name, (memory, _) in registered.items()
        }
        drafts = {
            name: None if draft is None else Draft(*draft)
            for name, (_, draft) in registered.items()
        }
        return cls(*_tuples(fields), memories=memories, drafts=drafts)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """`Carried` at the start of the local day; dumped once it is stored."""

    next_ms: int
    content: Carried | bytes

    def dump(self) -> bytes:
        data = self.content if isinstance(self.content, bytes) else self.content.dump()
        return _INSTANT.pack(self.next_ms) + data

    @classmethod
    def load(cls, data: bytes) -> Snapshot:
        return cls(_INSTANT.unpack_from(data)[0], data[_INSTANT.size :])

    def carried(self) -> Carried:
        return Carried.load(self.content) if isinstance(self.content, bytes) else self.content


@dataclass(frozen=True, slots=True)
class State:
    """The state of one device after all hours before ``carried.next_ms``."""

    carried: Carried
    history: History
    snapshots: tuple[Snapshot, ...] = ()

    def before(self, instant_ms: int) -> State | None:
        """Returns the latest stored state before any data from the instant on; None where the
        evaluation must begin from the first reading."""
        if instant_ms >= self.carried.next_ms:
            return self
        snapshots = tuple(each for each in self.snapshots if each.next_ms <= instant_ms)
        if not snapshots:
            return None
        carried = snapshots[-1].carried()
        return State(carried, self.history.rewound_to(carried.day), snapshots)

    def with_snapshot(self) -> State:
        new = Snapshot(self.carried.next_ms, self.carried)
        return replace(self, snapshots=(*self.snapshots[1 - REWIND_DAYS :], new))

    def dump(self) -> bytes:
        history = self.history.dump()
        parts = [self.carried.dump(), *(each.dump() for each in self.snapshots)]
        alike = b"".join(_LENGTH.pack(len(part)) + part for part in parts)
        header = _HEADER.pack(_VERSION, len(history), len(parts))
        return header + history + zlib.compress(alike, 3)  # together: the parts hardly differ

    @classmethod
    def load(cls, data: bytes) -> State:
        """Reads the bytes of `dump`. Raises ValueError for those of another version: the state must
        be rebuilt."""
        if len(data) < _HEADER.size or data[0] != _VERSION:
            raise ValueError("not a state of this version")
        _, length, count = _HEADER.unpack_from(data)
        history = History.load(data[_HEADER.size : _HEADER.size + length])
        alike = zlib.decompress(data[_HEADER.size + length :])
        place = 0
        parts: list[bytes] = []
        for _ in range(count):
            (size,) = _LENGTH.unpack_from(alike, place)
            place += _LENGTH.size
            parts.append(alike[place : place + size])
            place += size
        snapshots = tuple(Snapshot.load(part) for part in parts[1:])
        return cls(Carried.load(parts[0]), history, snapshots)


def _tuples(value: Any) -> Any:
    """Converts JSON's lists back to tuples."""
    if not isinstance(value, list):
        return value
    return tuple(_tuples(each) for each in cast("list[Any]", value))
