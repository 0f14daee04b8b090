"""Notes, maintenance, corrections and the audit log as typed values, and the client's methods."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

from api.catalog import INSIGHT_PREFIX
from api.client.fields import (
    Json,
    a_list,
    an_object,
    instant,
    maybe_object,
    maybe_text,
    needed_instant,
    number,
    path_of,
    span_params,
    text,
    whole,
)
from api.client.status import StatusMethods

PATHS: Final = {
    "note": f"{INSIGHT_PREFIX}/notes",
    "maintenance": f"{INSIGHT_PREFIX}/maintenance",
    "correction": f"{INSIGHT_PREFIX}/corrections",
}
_AUDIT: Final = f"{INSIGHT_PREFIX}/audit"


@dataclass(frozen=True, slots=True)
class Annotation:
    """``kind`` is a key of PATHS. ``to_ms`` None: an instant. Exactly one of ``device_id`` and
    ``group`` is set. Maintenance has ``repeat``, ``until_ms`` and ``zone``; a correction has
    ``metrics``, ``factor`` (None excludes) and ``revoked_ms``."""

    kind: str
    id: str
    device_id: str | None
    serial_number: str | None
    group: str | None
    from_ms: int
    to_ms: int | None
    body: str
    created_ms: int
    created_by: str
    repeat: str | None = None
    until_ms: int | None = None
    zone: str = "UTC"
    metrics: tuple[str, ...] = ()
    factor: float | None = None
    revoked_ms: int | None = None


@dataclass(frozen=True, slots=True)
class AnnotationPage:
    count: int
    annotations: tuple[Annotation, ...]


@dataclass(frozen=True, slots=True)
class CorrectionPreview:
    """The number of readings in the span, of those with one of the metrics, and the gallons before
    and after (None where no volume is changed, or none is left)."""

    readings: int
    values: int
    gallons_before: float | None
    gallons_after: float | None


@dataclass(frozen=True, slots=True)
class AuditEntry:
    at_ms: int
    author: str
    kind: str
    action: str
    subject: str
    before: Json | None
    after: Json | None
    reason: str


@dataclass(frozen=True, slots=True)
class AuditPage:
    count: int
    entries: tuple[AuditEntry, ...]


class AnnotationMethods(StatusMethods, Protocol):
    """The part of `Client` for notes, maintenance, corrections and the audit log. Raises NotOffered
    where the server has none of it."""

    def annotations(
        self,
        kinds: Collection[str] = (),
        *,
        device: str = "",
        group: str = "",
        search: str = "",
        from_ms: int | None = None,
        to_ms: int | None = None,
        revoked: bool = True,
        limit: int = 100,
        offset: int = 0,
    ) -> AnnotationPage:
        """Returns annotations, latest first, of every kind or of some; for ``device`` its groups'
        too."""
        params = {"device": device, "group": group, "q": search, "limit": str(limit)}
        params |= {"kind": ",".join(kinds)}
        params |= {"offset": str(offset) if offset else "", "revoked": "" if revoked else "false"}
        params |= span_params(from_ms, to_ms)
        body = an_object(self._insight("/annotations", params), "answer")
        rows = a_list(body.get("data"), "data")
        return AnnotationPage(whole(body, "count"), tuple(map(_annotation, rows)))

    def annotation(self, kind: str, annotation_id: str) -> Annotation:
        return _annotation(self._fetch(_one(kind, annotation_id), {}))

    def create_annotation(self, kind: str, body: Mapping[str, Any]) -> Annotation:
        """Raises BadRequest naming each invalid field."""
        return _annotation(self._send("POST", PATHS[kind], body))

    def change_annotation(
        self, kind: str, annotation_id: str, body: Mapping[str, Any]
    ) -> Annotation:
        return _annotation(self._send("PATCH", _one(kind, annotation_id), body))

    def delete_annotation(self, kind: str, annotation_id: str) -> Annotation:
        return _annotation(self._send("DELETE", _one(kind, annotation_id), {}))

    def preview_correction(self, body: Mapping[str, Any]) -> CorrectionPreview:
        fields = an_object(self._send("POST", f"{PATHS['correction']}/preview", body), "answer")
        gallons = maybe_object(fields, "gallons")
        return CorrectionPreview(
            whole(fields, "readings"),
            whole(fields, "values"),
            number(gallons, "before"),
            number(gallons, "after"),
        )

    def revoke_correction(self, annotation_id: str, reason: str) -> Annotation:
        path = f"{_one('correction', annotation_id)}/revoke"
        return _annotation(self._send("POST", path, {"reason": reason}))

    def audit(
        self,
        *,
        kind: str = "",
        search: str = "",
        from_ms: int | None = None,
        to_ms: int | None = None,
        limit: int = 100,
        offset: int = 0,
    ) -> AuditPage:
        """Returns entries, latest first. Raises Forbidden without the administrator role for all
        devices."""
        params = {"kind": kind, "q": search, "limit": str(limit), "offset": str(offset or "")}
        params |= span_params(from_ms, to_ms)
        body = an_object(self._insight(_AUDIT.removeprefix(INSIGHT_PREFIX), params), "answer")
        rows = a_list(body.get("data"), "data")
        return AuditPage(whole(body, "count"), tuple(map(_entry, rows)))


def _one(kind: str, annotation_id: str) -> str:
    return path_of(PATHS[kind], annotation_id)


def _annotation(body: Any) -> Annotation:
    fields = an_object(body, "annotation")
    kind = text(fields, "kind")
    metrics = [each for each in fields.get("metrics") or () if isinstance(each, str)]
    return Annotation(
        kind=kind,
        id=text(fields, "id"),
        device_id=maybe_text(fields, "deviceId"),
        serial_number=maybe_text(fields, "serialNumber"),
        group=maybe_text(fields, "group"),
        from_ms=needed_instant(fields, "from"),
        to_ms=instant(fields, "to"),
        body=text(fields, "text" if kind == "note" else "reason"),
        created_ms=needed_instant(fields, "created"),
        created_by=text(fields, "createdBy"),
        repeat=maybe_text(fields, "repeat"),
        until_ms=instant(fields, "until"),
        zone=text(fields, "zone", "UTC"),
        metrics=tuple(metrics),
        factor=number(fields, "factor"),
        revoked_ms=instant(fields, "revoked"),
    )


def _entry(body: Any) -> AuditEntry:
    fields = an_object(body, "entry")
    return AuditEntry(
        at_ms=needed_instant(fields, "at"),
        author=text(fields, "author"),
        kind=text(fields, "kind"),
        action=text(fields, "action"),
        subject=text(fields, "subject"),
        before=maybe_object(fields, "before") or None,
        after=maybe_object(fields, "after") or None,
        reason=text(fields, "reason"),
    )
