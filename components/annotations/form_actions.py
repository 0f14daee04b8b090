"""What the form of a note, maintenance or correction asks for, and what comes of it.

Whatever comes from a browser is read with doubt; what can't be is the service's to say.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final, cast
from zoneinfo import ZoneInfo

from api.client import Client
from api.client.annotations import PATHS, Annotation
from api.errors import BadRequest, WeirError
from api.timez import from_datetime, stamp
from components.annotations.texts import KINDS, previewed
from components.controls import failure
from components.units import Units
from components.url_state import read_question, read_text

GROUP: Final = "Group "  # before its name, where a field takes a device or a group


def carry_out(client: Client, deed: Mapping[str, Any], tz: ZoneInfo, units: Units) -> Any:
    """{"words"} of what was done, {"preview"}, or {"error", "problems": {field: why}}."""
    kind = read_text(deed.get("kind"))
    if kind not in PATHS:
        return {"error": "Choose what to add."}
    try:
        return _carried_out(client, kind, deed, tz, units)
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
        return {"words": "Correction revoked: the readings count as they came."}
    body = body_of(kind, deed, tz)
    if what == "preview":
        body["reason"] = body["reason"] or "Preview"  # required only when it is made
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
    """The request of that deed."""
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
    """A field's local time as an instant; what can't be read stays as it is, to be named."""
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
