"""Submissions, receipts and errors as JSON between two processes of one program."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, cast

import orjson

from api.errors import Busy, Internal, ServiceError, Unavailable
from api.ingest.decode import Rejection
from api.ingest.submission import Entry, Receipt, RowResult, Submission
from api.store.base import RegisterRow

_ERRORS: Final = {error.code: error for error in (Busy, Unavailable, Internal)}
_LETTER: Final = {RowResult.STORED: "s", RowResult.REPEATED: "r", RowResult.REFUSED: "x"}
_FATE: Final = {letter: fate for fate, letter in _LETTER.items()}


def _reading(*values: Any) -> Any:
    return values


_BY_LENGTH: Final[dict[int, Callable[..., Entry]]] = {
    len(kind._fields): kind for kind in (Rejection, RegisterRow)
}


def of_submission(submission: Submission) -> bytes:
    return orjson.dumps(
        {
            "organization": submission.organization_id,
            "source": submission.source,
            "entries": [_plain(entry) for entry in submission.entries],
            "samples": [[place, _sound(text)] for place, text in submission.samples.items()],
            "undated": list(submission.undated),
        }
    )


def _plain(entry: Entry) -> Sequence[object]:
    if isinstance(entry, Rejection):
        return [_sound(part) for part in entry]
    return tuple(entry)  # orjson refuses a NamedTuple


def _sound(text: str) -> str:
    """Replaces halves of surrogate pairs, which a sender's JSON may contain."""
    return text.encode("utf-8", "replace").decode("utf-8")


def to_submission(message: bytes) -> Submission:
    fields: dict[str, Any] = orjson.loads(message)
    entries: list[Entry] = [
        _BY_LENGTH.get(len(entry), _reading)(*entry) for entry in fields["entries"]
    ]
    samples = cast("list[tuple[int, str]]", fields["samples"])
    undated = cast("list[int]", fields["undated"])
    return Submission(
        fields["organization"], fields["source"], entries, dict(samples), frozenset(undated)
    )


def of_receipt(receipt: Receipt) -> bytes:
    return orjson.dumps({"fates": "".join(_LETTER[fate] for fate in receipt.row_results)})


def of_error(error: ServiceError) -> bytes:
    code = next((c for c, kind in _ERRORS.items() if isinstance(error, kind)), "")
    return orjson.dumps({"error": code, "detail": error.detail, "retryAfter": error.retry_after_s})


def to_receipt(message: bytes) -> Receipt:
    """Raises the error in the message."""
    fields: dict[str, Any] = orjson.loads(message)
    if "error" in fields:
        kind = _ERRORS.get(fields["error"], Unavailable)
        raise kind(fields["detail"], retry_after_s=fields["retryAfter"])
    return Receipt([_FATE[letter] for letter in fields["fates"]])
