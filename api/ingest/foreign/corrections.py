"""Corrects one setting of a guess, and guesses again what follows from it."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from api.errors import UserError
from api.ingest.foreign.first_rows import Given
from api.ingest.foreign.guess_mapping import Guess, guess
from api.ingest.foreign.mapping import Mapping
from api.ingest.foreign.preview import first_rows

_OF_THE_TABLE: Final = frozenset({"encoding", "delimiter", "sheet", "header_row"})


def corrected(guessed: Guess, path: Path, setting: str, value: str) -> Guess:
    """Returns the guess with one setting as typed. Where the file becomes another table, whose
    header isn't the mapping's, the columns and their meanings are guessed again. Raises ValueError
    naming the problem, UserError where the file has no such table."""
    mapping = guessed.mapping.changed(setting, value)
    mapping.check_table()
    if setting in _OF_THE_TABLE and not _has_its_columns(path, mapping):
        header = None if setting in ("delimiter", "sheet") else mapping.header_row
        return guess(path, Given(mapping.encoding, mapping.delimiter, mapping.sheet, header))
    unsure = {name: why for name, why in guessed.unsure.items() if name != setting}
    return Guess(mapping, unsure, guessed.rows)


def _has_its_columns(path: Path, mapping: Mapping) -> bool:
    try:
        rows = first_rows(path, mapping, 1)
    except UserError:
        return False
    return bool(rows) and mapping.header_row > 0
