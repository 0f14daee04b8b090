"""Imports that replace: readings in the span of a file are deleted before its rows are imported."""

from __future__ import annotations

from pathlib import Path

from api.catalog import RAW
from api.commands.arguments import audited
from api.commands.command import when
from api.errors import UserError
from api.ingest import files
from api.ingest.decode import Devices
from api.ingest.source import inspect
from api.store.base import Device, Span, Store
from api.timez import now_ms


def spans_of(store: Store, organization_id: str, path: Path) -> list[dict[str, object]]:
    """Returns each device of the file, its first and last instant there, and the number of its
    stored readings between them."""
    return [
        {
            "file": path.name,
            "device": device.serial_number,
            "from": when(span.from_ms),
            "to": when(span.to_ms),
            "readings": store.count(device, RAW, span),
        }
        for device, span in _spans(store, organization_id, path)
    ]


def clear(store: Store, organization_id: str, path: Path) -> None:
    """Deletes them, with one transaction per device. May be interrupted and called again. Raises
    UserError for a file that ends early: its span would be incomplete."""
    for device, span in _spans(store, organization_id, path):
        from_ms, to_ms = span.from_ms or 0, span.to_ms or 0
        audit = audited(
            organization_id, "readings", "replace", device.id,
            before={
                "device": device.serial_number,
                "from": when(from_ms),
                "to": when(to_ms),
                "readings": store.count(device, RAW, span),
            },
            reason=f"import of {path.name}",
        )  # fmt: skip
        store.delete_readings(device, from_ms, to_ms + 1, audit)


def _spans(store: Store, organization_id: str, path: Path) -> list[tuple[Device, Span]]:
    source = inspect(path)
    devices = Devices(store.ingest_keys(organization_id))
    bounds: dict[int, tuple[int, int]] = {}
    try:
        for batch in files.batches(source, devices, now_ms()):
            for key, low, high in batch.bounds():
                first, last = bounds.get(key, (low, high))
                bounds[key] = (min(first, low), max(last, high))
    except files.Damaged as error:
        raise UserError(f"{error}; nothing was replaced") from None
    by_key = {device.key: device for device in store.devices_by_key(sorted(bounds))}
    return [(by_key[key], Span(*bounds[key])) for key in sorted(bounds)]
