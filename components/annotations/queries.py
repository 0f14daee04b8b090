"""Queries of notes, maintenance and corrections: the list, the marks of a chart, uptime without
maintenance; and the form's changes. Input from a browser is checked here for its form only; the
service validates the rest."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any, Final, NamedTuple, cast
from zoneinfo import ZoneInfo

from api.catalog import Resolution
from api.client import Client
from api.client.annotations import PATHS, Annotation
from api.errors import BadRequest, WeirError
from api.metering.maintenance import Plan, Repeat, Span, bucket_count, excused, merged, occurrences
from api.metering.windows import Window
from api.timez import from_datetime, stamp, zone_or_utc
from components import session
from components.annotations.panel import KINDS, effect, previewed
from components.charts.marks import AnnotationMark, shortened
from components.controls import failure
from components.units import Units
from components.url_state import read_question, read_text

GROUP: Final = "Group "  # before a group's name, in a field for a device or a group
MOST: Final = 100
PAGE: Final = 1_000


def matching(
    *, kind: str = "", device: str = "", group: str = "", search: str = ""
) -> tuple[list[Annotation], int]:
    """(annotations, latest first; how many there are in all), of one kind or of all three."""
    page = session.current_client().annotations(
        [kind] if kind in PATHS else (), device=device, group=group, search=search, limit=MOST
    )
    return list(page.annotations), page.count


def within(
    client: Client, device_id: str, window: Window, kinds: Collection[str] = ()
) -> list[Annotation]:
    """The annotations in force that overlap the window, latest first; of every kind or of some.
    Raises what the client raises."""
    matches: list[Annotation] = []
    while True:
        page = client.annotations(
            kinds, device=device_id, from_ms=window.from_ms, to_ms=window.to_ms, revoked=False,
            limit=PAGE, offset=len(matches),
        )  # fmt: skip
        matches += page.annotations
        if len(page.annotations) < PAGE:
            return matches


class Uptime(NamedTuple):
    """Buckets observed and expected outside maintenance, and the length of the maintenance."""

    actual: int
    expected: int
    left_out_ms: int = 0


def without_maintenance(
    client: Client, device_id: str, due: Window, resolution: Resolution, counted: Uptime
) -> Uptime:
    """``counted`` without the buckets that overlap maintenance, on both sides."""
    length_ms = resolution.fixed_ms
    spans = excused(_maintenance(client, device_id, due), *due, length_ms)
    if not spans:
        return counted
    observed = sum(
        client.count(device_id, resolution, from_ms=start, to_ms=end - 1) for start, end in spans
    )
    expected = max(0, counted.expected - bucket_count(spans, length_ms))
    left_out_ms = sum(end - start for start, end in spans)
    return Uptime(min(expected, max(0, counted.actual - observed)), expected, left_out_ms)


def _maintenance(client: Client, device_id: str, due: Window) -> list[Span]:
    """The maintenance of a span; none from a server without maintenance."""
    try:
        planned = within(client, device_id, due, ["maintenance"])
    except WeirError:
        return []
    return merged(
        span for each in planned for span in occurrences(plan_of(each), due.from_ms, due.to_ms + 1)
    )


MOST_MARKS: Final = 500  # of one chart


def annotation_marks(client: Client, device_id: str, reach: Window) -> list[AnnotationMark]:
    """The marks on a chart of that range; none in an embed, or from a server without
    annotations."""
    try:
        page = client.annotations(
            device=device_id, from_ms=reach.from_ms, to_ms=reach.to_ms, revoked=False,
            limit=MOST_MARKS,
        )  # fmt: skip
    except WeirError:
        return []
    return [mark for each in page.annotations for mark in _marks(each, reach)]


def _marks(annotation: Annotation, reach: Window) -> list[AnnotationMark]:
    body = shortened(annotation.body)
    if annotation.kind == "maintenance":
        return [
            AnnotationMark("maintenance", start, end, f"Maintenance: {body}")
            for start, end in occurrences(plan_of(annotation), reach.from_ms, reach.to_ms + 1)[
                :MOST_MARKS
            ]
        ]
    if annotation.kind == "correction":
        words = f"Correction ({effect(annotation)}): {body}"
        return [AnnotationMark("correction", annotation.from_ms, annotation.to_ms, words)]
    return [AnnotationMark("note", annotation.from_ms, annotation.to_ms, f"Note: {body}")]


def plan_of(annotation: Annotation) -> Plan:
    words = tuple(repeat.value for repeat in Repeat)
    return Plan(
        annotation.from_ms,
        annotation.to_ms or annotation.from_ms,
        Repeat(annotation.repeat) if annotation.repeat in words else Repeat.ONCE,
        annotation.until_ms,
        zone_or_utc(annotation.zone),
    )


# --- The form ------------------------------------------------------------------------------------


def carried_out(deed: Mapping[str, Any], tz: ZoneInfo, units: Units) -> Any:
    """Carries out a change of the form. Returns {"words": its result}, {"preview"}, or {"error",
    "problems": {field: reason}}."""
    kind = read_text(deed.get("kind"))
    if kind not in PATHS:
        return {"error": "Choose what to add."}
    try:
        return _carried_out(session.current_client(), kind, deed, tz, units)
    except BadRequest as error:
        problems = {_FIELDS.get(e.parameter, e.parameter): e.detail for e in error.errors}
        return {"error": "" if problems else failure(error), "problems": problems}
    except WeirError as error:
        return {"error": failure(error)}


_FIELDS: Final = {"reason": "text", "group": "subject", "device": "subject"}


def _carried_out(
    client: Client, kind: str, deed: Mapping[str, Any], tz: ZoneInfo, units: Units
) -> Any:
    name, what, id = KINDS[kind], read_text(deed.get("do")), read_text(deed.get("id"))
    if what == "delete":
        gone = client.delete_annotation(kind, id)
        return {"words": f"{name} deleted.", "kind": kind, "undo": body_again(gone)}
    if what == "restore":
        client.create_annotation(kind, read_question(deed.get("body")))
        return {"words": f"{name} restored."}
    if what == "revoke":
        client.revoke_correction(id, read_text(deed.get("text")))
        return {"words": "Correction revoked: the original readings count again."}
    body = body_of(kind, deed, tz)
    if what == "preview":
        body["reason"] = body["reason"] or "Preview"  # required for a new one only
        return {"preview": previewed(client.preview_correction(body), units)}
    if id:
        changes = {k: v for k, v in body.items() if k not in ("device", "group", "zone")}
        client.change_annotation(kind, id, changes)
        return {"words": f"{name} changed."}
    client.create_annotation(kind, body)
    return {"words": f"{name} saved."}


def body_again(gone: Annotation) -> dict[str, Any]:
    """The request that creates a deleted note or maintenance again."""
    whose = {"group": gone.group} if gone.group is not None else {"device": gone.device_id}
    times = {"from": gone.from_ms, "to": gone.to_ms}
    body: dict[str, Any] = {
        **whose,
        **{name: None if at is None else stamp(at, fraction=True) for name, at in times.items()},
        "text" if gone.kind == "note" else "reason": gone.body,
    }
    if gone.kind == "maintenance" and gone.repeat:
        body |= {"repeat": gone.repeat, "zone": gone.zone}
        body["until"] = None if gone.until_ms is None else stamp(gone.until_ms, fraction=True)
    return body


def body_of(kind: str, deed: Mapping[str, Any], tz: ZoneInfo) -> dict[str, Any]:
    """The request body of that change."""
    text_field = "text" if kind == "note" else "reason"
    body: dict[str, Any] = {
        **_subject(read_text(deed.get("subject"))),
        "from": _instant(deed.get("from"), tz),
        "to": _instant(deed.get("to"), tz),
        text_field: read_text(deed.get("text")),
    }
    if kind == "maintenance":
        repeat = read_text(deed.get("repeat")) or None
        body |= {"repeat": repeat, "zone": tz.key, "until": None}
        if repeat is not None:
            body["until"] = _instant(deed.get("until"), tz)
    if kind == "correction":
        body["effect"] = read_text(deed.get("effect"))
        if body["effect"] == "scale":
            body["factor"] = _number(deed.get("factor"))
        metrics = deed.get("metrics")
        if isinstance(metrics, list) and metrics:
            body["metrics"] = [read_text(each) for each in cast(list[Any], metrics)]
        if body["to"] is None:
            body["to"] = ""
    return body


def _subject(text: str) -> dict[str, str]:
    if text.startswith(GROUP):
        return {"group": text.removeprefix(GROUP)}
    return {"device": text} if text else {}


def _instant(value: Any, tz: ZoneInfo) -> str | None:
    """A field's local time as an instant; an invalid one unchanged, so that the service names
    it."""
    text = read_text(value)
    if not text:
        return None
    try:
        local = datetime.fromisoformat(text)
        return stamp(from_datetime(local.replace(tzinfo=tz)))
    except (ValueError, OverflowError):
        return text


def _number(value: Any) -> float | None:
    if type(value) in (int, float):
        return float(value)
    try:
        return float(read_text(value))
    except ValueError:
        return None
