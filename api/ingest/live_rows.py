"""Decodes rows of JSON from live sources; a reading without a time gets its arrival time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final, cast

import orjson

from api.ingest.assigned_timestamps import AssignedTimestamps
from api.ingest.decode import COLUMN_OF, INSTANT, Decoded, Devices, Rejection, decode_json
from api.ingest.submission import Draft, Entry, Submission
from api.store.base import RegisterRow
from api.store.refusals import MAX_SAMPLE
from api.timez import stamp

_INSTANT_NAMES: Final = [name for name, column in COLUMN_OF.items() if column == INSTANT]


def dateless(payload: object) -> bool:
    """Whether an object has no time of measurement; null counts as none."""
    if not isinstance(payload, dict):
        return False
    fields = cast("Mapping[str, object]", payload)
    return all(fields.get(name) is None for name in _INSTANT_NAMES)


def decoded(payload: object, devices: Devices, received_ms: int) -> Entry:
    """Like `decode_json`, but a row without a time gets ``received_ms``."""
    if dateless(payload):
        fields = cast("Mapping[str, object]", payload)
        payload = {**fields, INSTANT: stamp(received_ms, fraction=True)}
    return decode_json(payload, devices, received_ms)


def submission(
    organization_id: str,
    source: str,
    payloads: Sequence[object],
    devices: Devices,
    received_ms: int,
    timestamps: AssignedTimestamps,
) -> Submission:
    """Returns a submission of one organization's payloads: JSON values that should be objects with
    a ``device``."""
    draft = Draft()
    for payload in payloads:
        entry, undated = decoded(payload, devices, received_ms), dateless(payload)
        if undated and not isinstance(entry, Rejection):
            entry = _at(entry, timestamps.take(entry[0], received_ms))
        draft.add(entry, partial(sample, payload), undated=undated)
    return draft.of(organization_id, source)


def _at(row: Decoded, instant_ms: int) -> Decoded:
    if isinstance(row, RegisterRow):
        return row._replace(ts=instant_ms)
    return (row[0], instant_ms, *row[2:])


def sample(payload: object) -> str:
    """Returns the start of a payload, as a sample for the refusals."""
    if isinstance(payload, str):
        return payload[:MAX_SAMPLE]
    try:
        text = orjson.dumps(payload).decode()
    except TypeError:  # an integer beyond 64 bits, or nested too deeply
        text = repr(payload)
    return text[:MAX_SAMPLE]
