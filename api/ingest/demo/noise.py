"""Random numbers as a pure function of a stream and an index."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

_GOLDEN: Final = 0x9E3779B97F4A7C15
_WORD: Final = (1 << 64) - 1
_U = np.uint64


def _bits(stream: int, index: Ints) -> npt.NDArray[np.uint64]:
    """Returns 64 well-mixed bits per index (the finaliser of splitmix64)."""
    z = index.astype(_U) * _U(_GOLDEN) + _U(stream & _WORD)
    z = (z ^ (z >> _U(30))) * _U(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> _U(27))) * _U(0x94D049BB133111EB)
    return z ^ (z >> _U(31))


def sub(stream: int, name: int) -> int:
    """Returns another stream, practically independent of this one."""
    return (stream + (name + 1) * 0xD1B54A32D192ED03) & _WORD


def uniform(stream: int, index: Ints) -> Floats:
    """Returns numbers in [0, 1)."""
    return (_bits(stream, index) >> _U(11)).astype(np.float64) * 2.0**-53


def normal(stream: int, index: Ints) -> Floats:
    """Returns approximately standard normal numbers, within ±3.5: the sum of the word's four
    quarters."""
    quarters = _bits(stream, index).view(np.uint16).reshape(-1, 4)
    return (quarters.sum(axis=1, dtype=np.int64) / 65536.0 - 2.0) * 3.0**0.5


def wave(stream: int, instants: Ints, period_ms: int) -> Floats:
    """Returns numbers in [0, 1) that change smoothly, with a new direction every ``period_ms``."""
    step, rest = np.divmod(instants, period_ms)
    first = int(step[0]) if len(step) else 0
    last = int(step[-1]) if len(step) else 0
    knots = uniform(stream, np.arange(first, last + 2, dtype=np.int64))
    at = step - first
    share = rest / period_ms
    share = share * share * (3 - 2 * share)
    return knots[at] * (1 - share) + knots[at + 1] * share
