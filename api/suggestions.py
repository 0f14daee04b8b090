"""Suggests the intended word for a mistyped one."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Final

LIKENESS: Final = 0.7  # difflib's ratio: "WEIR_PRT" matches WEIR_PORT, "colour" matches nothing


def nearest(word: str, words: Iterable[str]) -> str | None:
    """Returns the most similar word, ignoring case; None where none is similar."""
    by_lower = {each.lower(): each for each in words}
    matches = get_close_matches(word.lower(), by_lower, n=1, cutoff=LIKENESS)
    return by_lower[matches[0]] if matches else None


def did_you_mean(word: str, words: Iterable[str]) -> str:
    """Returns ``flow_rte: did you mean flow_rate?``, or only the word where none is similar."""
    meant = nearest(word, words)
    return f"{word}: did you mean {meant}?" if meant else word
