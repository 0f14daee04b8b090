"""The findings of a view as a file: all that match, worst first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from api.client.findings import Finding
from api.timez import now_ms, stamp
from components.findings import texts
from components.findings.url_state import FindingsView, read_findings_view
from components.fleet.device_queries import Directory, directory
from components.fleet.queries import ServiceAccess
from components.queries import find_device
from web.downloads.names import file_stem
from web.downloads.table import Column, Kind, Part, Table

BATCH = 1_000
_COLUMNS = (
    Column("severity", Kind.TEXT),
    Column("kind", Kind.TEXT, width=18),
    Column("state", Kind.TEXT),
    Column("serial_number", Kind.TEXT, width=18),
    Column("label", Kind.TEXT, width=28),
    Column("group", Kind.TEXT, width=18),
    Column("start_utc", Kind.INSTANT, width=20),
    Column("end_utc", Kind.INSTANT, width=20),
    Column("known_since_utc", Kind.INSTANT, width=20),
    Column("value"),
    Column("unit", Kind.TEXT),
    Column("usual"),
    Column("volume_gal"),
    Column("cost_per_day"),
    Column("currency", Kind.TEXT),
    Column("words", Kind.TEXT, width=60),
    Column("id", Kind.TEXT, width=38),
)


def findings_file(access: ServiceAccess, query: Mapping[str, str]) -> Table:
    view, now = read_findings_view(query), now_ms()
    devices = directory(access, now)
    parts = (_part(some, devices) for some in _pages(access, view))
    name = file_stem("findings", view.state, stamp(now).replace(":", ""))
    return Table(name, "Findings", _COLUMNS, parts)


def device_findings_file(access: ServiceAccess, query: Mapping[str, str], device_id: str) -> Table:
    """All findings of one device, worst first. Raises NotFound."""
    now = now_ms()
    device = find_device(access.client, device_id, now).device
    active, inactive = (directory(access, now, which) for which in ("true", "false"))
    devices = active if device.id in active.by_id else inactive
    parts = (_part(some, devices) for some in _pages(access, None, device.id))
    return Table(file_stem(device.serial_number, "findings"), "Findings", _COLUMNS, parts)


def _pages(
    access: ServiceAccess, view: FindingsView | None, device_id: str | None = None
) -> Iterator[tuple[Finding, ...]]:
    """Those of a view, or all of a device."""
    view = view or FindingsView(state="")
    offset = 0
    while True:
        page = access.client.findings(
            device=device_id,
            group=view.group or None,
            kinds=view.kinds,
            severities=[view.severity] if view.severity else (),
            states=[view.state] if view.state else (),
            limit=BATCH,
            offset=offset,
        )
        if page.findings:
            yield page.findings
        offset += len(page.findings)
        if not page.findings or offset >= page.count:
            return


def _part(findings: Sequence[Finding], devices: Directory) -> Part:
    return [
        [each.severity for each in findings],
        [each.kind for each in findings],
        [each.state for each in findings],
        [each.serial_number for each in findings],
        [texts.label(each, devices) for each in findings],
        [texts.group(each, devices) or None for each in findings],
        [each.start_ms for each in findings],
        [each.end_ms for each in findings],
        [each.opened_ms for each in findings],
        [each.value for each in findings],
        [each.unit for each in findings],
        [each.usual for each in findings],
        [each.gallons for each in findings],
        [each.cost_per_day for each in findings],
        [
            texts.currency(each, devices) if each.cost_per_day is not None else None
            for each in findings
        ],
        [each.words for each in findings],
        [each.id for each in findings],
    ]
