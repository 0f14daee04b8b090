"""Shows progress on standard error; nothing where it isn't a terminal."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager
from typing import Protocol


class Bar(Protocol):
    n: int
    total: int

    def update(self, n: int) -> object: ...


def bar(name: str, *, total: int, unit: str) -> AbstractContextManager[Bar]:
    from tqdm import tqdm

    return tqdm(  # pyright: ignore[reportUnknownVariableType] - it comes without types
        desc=name,
        total=total,
        unit=unit,
        unit_scale=True,
        disable=not sys.stderr.isatty(),
        file=sys.stderr,
    )
