"""Registers: what flowed between two readings of a meter that counts up.

A register that falls has started again at 0 if it has so few digits that it must, and otherwise
was set back or exchanged: what flowed is unknown then, never negative.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

ROLLED_OVER_BELOW: Final = 0.1  # of a register's range: what may have flowed past its end
FEWEST_VALUES: Final = 24
FEWEST_RISES: Final = 5
MOST_FALLS: Final = 0.01  # of the steps: exchanges, counters set back


def volumes(registers: Floats, full_scale: float = 0.0) -> Floats:
    """What flowed before each register of one meter in order of time, in the registers' unit.

    NaN for the first one, and where a fall isn't explained by ``full_scale``, the volume at which
    the register starts again (0: never).
    """
    steps = np.full(len(registers), np.nan)
    if len(registers) < 2:
        return steps
    steps[1:] = np.diff(registers)
    fallen = steps < 0
    if full_scale:
        past = steps + full_scale
        rolled_over = fallen & (past >= 0) & (past < ROLLED_OVER_BELOW * full_scale)
        steps = np.where(rolled_over, past, steps)
        fallen &= ~rolled_over
    steps[fallen] = np.nan
    return steps


def looks_like_register(values: Floats) -> bool:
    """Whether one meter's values in order of time count up as a register does."""
    steps = np.diff(values[~np.isnan(values)])
    if len(steps) + 1 < FEWEST_VALUES:
        return False
    falls, rises = int((steps < 0).sum()), int((steps > 0).sum())
    return falls <= MOST_FALLS * len(steps) and rises >= FEWEST_RISES
