"""What a mistyped word was probably meant to be."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Final

LIKENESS: Final = 0.7  # of difflib's ratio: "WEIR_PRT" is WEIR_PORT, "colour" is nothing of ours


def nearest(word: str, words: Iterable[str]) -> str | None:
    """The known word that looks most like ``word``, in any case; None where none does."""
    by_lower = {each.lower(): each for each in words}
    matches = get_close_matches(word.lower(), by_lower, n=1, cutoff=LIKENESS)
    return by_lower[matches[0]] if matches else None


def did_you_mean(word: str, words: Iterable[str]) -> str:
    """``flow_rte: did you mean flow_rate?``, or the word alone where nothing looks like it."""
    meant = nearest(word, words)
    return f"{word}: did you mean {meant}?" if meant else word
