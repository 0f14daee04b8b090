"""A corrected setting of a guess, and what is guessed again because of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from openpyxl import Workbook

from api.errors import UserError
from api.ingest.foreign.corrections import corrected
from api.ingest.foreign.guess_mapping import guess
from tests.tables import cases

HOURS = "".join(f"W-1;2026-03-08 {hour:02}:00;{hour * 7 % 11},5\n" for hour in range(24))
PLAIN = "Zähler;Zeit;Menge (l)\n" + HOURS
MEANINGS = [("Zähler", "device"), ("Zeit", "time"), ("Menge (l)", "water")]


@cases(
    ("encoding", "text", "wrong", "right"),
    [
        ("utf-8", PLAIN, "encoding=cp1252", "encoding=utf-8"),
        ("cp1252", PLAIN, "encoding=utf-8", "encoding=cp1252"),
        ("utf-8", PLAIN, "delimiter=,", "delimiter=;"),
        ("utf-8", PLAIN, "header_row=0", "header_row=1"),
        ("utf-8", PLAIN, "header_row=4", "header_row=1"),
        ("utf-8", "Zaehler;Zeit;Menge\n" + PLAIN, "header_row=1", "header_row=2"),
    ],
)
def test_what_makes_another_table_has_its_columns_guessed_again(
    tmp_path: Path, encoding: str, text: str, wrong: str, right: str
) -> None:
    file = tmp_path / "readings.csv"
    file.write_bytes(text.encode(encoding))
    guessed = guess(file)
    for correction in (wrong, right):
        guessed = corrected(guessed, file, *correction.split("="))
    assert [(column.name, column.is_) for column in guessed.mapping.columns] == MEANINGS
    assert guessed.mapping.columns[2].unit == "l"
    assert "column.Menge (l).unit" not in guessed.unsure


def _workbook(path: Path) -> Path:
    """Two sheets with the same columns, and a longer one with others."""
    book = Workbook()
    for title, heads in (("North", MENGE), ("South", MENGE), ("Weather", ["Day", "Rain (mm)"])):
        sheet = book.create_sheet(title)
        sheet.append(heads)
        for hour in range(48 if title == "Weather" else 24):
            day = f"2026-03-{8 + hour // 24:02} {hour % 24:02}:00"
            sheet.append([title, day, hour][-len(heads) :])
    book.remove(book.worksheets[0])
    book.save(path)
    return path


MENGE = ["Zähler", "Zeit", "Menge (l)"]


@cases(
    ("sheet", "columns"),
    [
        ("South", MENGE),
        ("Weather", ["Day", "Rain (mm)"]),
        ("*", ["sheet", *MENGE]),
    ],
)
def test_a_chosen_sheet_has_its_columns_guessed(
    tmp_path: Path, sheet: str, columns: list[str]
) -> None:
    file = _workbook(tmp_path / "readings.xlsx")
    after = corrected(guess(file), file, "sheet", sheet)
    assert (after.mapping.sheet, [each.name for each in after.mapping.columns]) == (sheet, columns)
    assert corrected(after, file, "header_row", "1").mapping.sheet == sheet
    with pytest.raises(UserError, match="no sheet East"):
        corrected(after, file, "sheet", "East")


def test_any_other_correction_leaves_the_columns_as_they_are(tmp_path: Path) -> None:
    file = tmp_path / "readings.csv"
    file.write_text(PLAIN)
    guessed = corrected(guess(file), file, "column.Menge (l).unit", "m3")
    after = corrected(guessed, file, "zone", "Europe/Rome")
    assert (after.mapping.zone, after.mapping.columns) == ("Europe/Rome", guessed.mapping.columns)
    assert "zone" in guessed.unsure
    assert "zone" not in after.unsure
    with pytest.raises(ValueError, match="unknown"):
        corrected(after, file, "encoding", "utf-99")
