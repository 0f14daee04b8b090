"""Files in the layouts of other systems: their numbers, times and true volumes."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from io import BytesIO
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from openpyxl import Workbook

LITRES_PER_GALLON = 3.785411784
LITRES = (0, 0, 12, 30, 7, 0, 0, 25, 3, 0, 18, 0)
CUBIC_FOOT = 7.480519480519481  # gallons
ROWS = 96
ALL, LATER = range(ROWS), range(1, ROWS)
BERLIN, MADRID, PARIS, ROME = map(
    ZoneInfo, ("Europe/Berlin", "Europe/Madrid", "Europe/Paris", "Europe/Rome")
)
CHICAGO, NEW_YORK = ZoneInfo("America/Chicago"), ZoneInfo("America/New_York")


@dataclass(frozen=True, slots=True)
class LayoutCase:
    """``correction`` is the one setting that the file itself doesn't give. ``gallons`` by
    device."""

    name: str
    make: Callable[[], bytes]
    gallons: dict[str, float]
    correction: str = ""
    first: str = "2025-10-01T00:00:00Z"
    refused: int = 0


def litres(row: int, device: int = 0) -> int:
    return LITRES[(row + 5 * device) % len(LITRES)]


def flowed(rows: range, device: int = 0, scale: float = 1.0) -> float:
    """Gallons of these rows of a device."""
    return sum(litres(row, device) for row in rows) * scale / LITRES_PER_GALLON


def times(step_s: int, zone: ZoneInfo | None = None, rows: int = ROWS) -> list[datetime]:
    start = datetime(2025, 10, 1, tzinfo=UTC)
    moments = [start + timedelta(seconds=step_s * row) for row in range(rows)]
    return [moment.astimezone(zone) if zone else moment for moment in moments]


def registers(device: int, start: int) -> list[int]:
    total, result = start, list[int]()
    for row in range(ROWS):
        total += litres(row, device)
        result.append(total)
    return result


def lines(*rows: str, encoding: str = "utf-8", end: str = "\n") -> bytes:
    return (end.join(rows) + end).encode(encoding)


def hourly(zone: ZoneInfo | None = None) -> Iterable[tuple[int, datetime]]:
    return enumerate(times(3600, zone))


def quarters() -> Iterable[tuple[datetime, int]]:
    return zip(times(900), registers(0, 55_000), strict=True)


def comma(register_l: int) -> str:
    """Litres as cubic metres, with a decimal comma."""
    return f"{register_l / 1000:.3f}".replace(".", ",")


def grouped(number: float, thousands: str, decimal: str, digits: int = 1) -> str:
    text = f"{number:,.{digits}f}"
    return text.replace(",", "_").replace(".", decimal).replace("_", thousands)


def workbook(*sheets: tuple[str, Sequence[Sequence[Any]]]) -> bytes:
    book = Workbook()
    for number, (name, rows) in enumerate(sheets):
        sheet = book.active if number == 0 else book.create_sheet()
        assert sheet is not None
        sheet.title = name
        for row in rows:
            sheet.append(list(row))
    file = BytesIO()
    book.save(file)
    return file.getvalue()


def zipped(name: str, content: bytes) -> bytes:
    file = BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr(name, content)
    return file.getvalue()


def written(case: LayoutCase, folder: Path) -> Path:
    path = folder / case.name
    path.write_bytes(case.make())
    return path
