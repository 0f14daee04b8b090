"""Why a part of a chart is empty or has poor readings. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from api.catalog import QUALITY, RAW
from api.metering.install_date import install_date
from components.charts.frames import Frame, clipped
from components.ranges import Window


@dataclass(frozen=True, slots=True)
class Cause:
    """``word`` is what a reader sees; ``mark`` the pattern it is drawn in, so that it doesn't
    depend on colour."""

    name: str
    word: str
    mark: str = ""
    silent: bool = True


NO_DATA: Final = Cause("no data", "no data")
LOW_QUALITY: Final = Cause("low quality", "below the quality limit", "/", silent=False)
NOT_INSTALLED: Final = Cause("not installed", "not installed yet", ".")
INACTIVE: Final = Cause("inactive", "inactive", "x")
CAUSES: Final = (NO_DATA, LOW_QUALITY, NOT_INSTALLED, INACTIVE)


@dataclass(frozen=True, slots=True)
class Stretch:
    """A span [from, to) and its cause."""

    window: Window
    cause: Cause


@dataclass(frozen=True, slots=True)
class Life:
    """What explains a device's silence, and from which quality on its readings count as good."""

    quality_limit: float
    installed_on_ms: int | None = None
    active: bool = True


def stretches(frame: Frame, life: Life) -> list[Stretch]:
    """All gaps and poor readings in the frame's window, in order of time."""
    silent = (each for gap in frame.gaps for each in _silent(gap, frame, life))
    return sorted((*silent, *_poor(frame, life.quality_limit)), key=lambda s: s.window)


def _silent(gap: Window, frame: Frame, life: Life) -> Iterator[Stretch]:
    """A gap, cut where the device was installed (if no reading is from before). An inactive
    device's silence after its last reading is no surprise."""
    first = frame.starts_ms[0] if frame.starts_ms else None
    installed = install_date(life.installed_on_ms, first)
    before = clipped(gap, Window(gap.from_ms, installed)) if installed is not None else None
    if before is not None:
        yield Stretch(before, NOT_INSTALLED)
        gap = Window(before.to_ms, gap.to_ms)
    if gap.to_ms > gap.from_ms:
        last = not frame.starts_ms or gap.from_ms >= frame.starts_ms[-1]
        yield Stretch(gap, INACTIVE if last and not life.active else NO_DATA)


def _poor(frame: Frame, limit: float) -> Iterator[Stretch]:
    """Rows in a row whose worst quality is below the limit. A reading stands for the time up to
    the next one of its run."""
    raw = frame.resolution is RAW
    worst = frame.series.values(QUALITY.name if raw else f"min_{QUALITY.name}")
    first: int | None = None
    end = 0
    for start, stop, value in zip(frame.starts_ms, _held_to(frame), worst, strict=True):
        low = value is not None and value < limit
        if first is not None and (not low or start > end):
            yield Stretch(Window(first, end), LOW_QUALITY)
            first = None
        if low:
            first, end = start if first is None else first, stop
    if first is not None:
        yield Stretch(Window(first, max(end, first + 1)), LOW_QUALITY)


def _held_to(frame: Frame) -> list[int]:
    if frame.resolution is not RAW:
        return frame.ends_ms
    following = [*frame.starts_ms[1:], *frame.starts_ms[-1:]]
    breaks = {run[-1] for run in frame.runs}
    return [
        start if index in breaks else following[index]
        for index, start in enumerate(frame.starts_ms)
    ]


def total_ms(stretches: Iterable[Stretch], *, silent: bool) -> int:
    return sum(s.window.to_ms - s.window.from_ms for s in stretches if s.cause.silent is silent)
