"""Findings marked on a chart: a tint over their span, a line at its ends, a flag above. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from api.timez import stamps
from components.ranges import Window
from components.theme import Palette

DIAMONDS: Final = {"critical": "◆", "warning": "⬖", "notice": "◇"}
FLAG_PX: Final = 112  # the room of a flag
MOST_FLAGS: Final = 8
MOST_MARKS: Final = 100
TINT: Final = "1c"  # the opacity of a span
_FOREVER_MS: Final = 7_258_118_400_000


@dataclass(frozen=True, slots=True)
class Mark:
    """``to_ms`` None: still open. ``words`` say what was found, on hovering."""

    from_ms: int
    to_ms: int | None
    severity: str
    label: str
    words: str

    def span(self, until_ms: int) -> Window:
        return Window(self.from_ms, max(self.from_ms, self.to_ms or until_ms))


def colour(severity: str, palette: Palette) -> str:
    return {"critical": palette.bad, "warning": palette.warn}.get(severity, palette.off)


def mark_traces(marks: Sequence[Mark], until_ms: int, palette: Palette) -> list[dict[str, Any]]:
    """For each severity the spans' tint and their ends. The first carries what assets/hover.js
    says of them."""
    made: list[dict[str, Any]] = []
    for severity in DIAMONDS:
        some = [mark for mark in marks if mark.severity == severity]
        if not some:
            continue
        ink = colour(severity, palette)
        spans = [mark.span(until_ms) for mark in some]
        ends = [mark.from_ms for mark in some] + [m.to_ms for m in some if m.to_ms is not None]
        made.append(_tint(spans, severity, ink))
        made.append(_ends(ends, severity, ink))
    if made:
        made[0]["meta"] = {
            "findings": [
                [m.from_ms, _FOREVER_MS if m.to_ms is None else m.to_ms, f"{m.label}: {m.words}"]
                for m in marks
            ]
        }
    return made


def _tint(spans: Sequence[Window], severity: str, ink: str) -> dict[str, Any]:
    x: list[str | None] = []
    y: list[float | None] = []
    for span in spans:
        left, right = _text(span.from_ms), _text(span.to_ms)
        x += [left, right, right, left, None]
        y += [0, 0, 1, 1, None]
    return {
        "type": "scatter", "name": f"{severity} findings", "x": x, "y": y, "yaxis": "y2",
        "mode": "lines", "fill": "toself", "fillcolor": f"{ink}{TINT}", "line": {"width": 0},
    }  # fmt: skip


def _ends(instants: Sequence[int], severity: str, ink: str) -> dict[str, Any]:
    x: list[str | None] = []
    y: list[float | None] = []
    for instant in instants:
        x += [_text(instant), _text(instant), None]
        y += [0, 1, None]
    return {
        "type": "scatter", "name": f"{severity} ends", "x": x, "y": y, "yaxis": "y2",
        "mode": "lines", "line": {"width": 1.25, "color": ink},
    }  # fmt: skip


def _text(instant_ms: int) -> str:
    return stamps([instant_ms], fraction=instant_ms % 1000 != 0)[0][:-1]


def flags(
    marks: Sequence[Mark], window: Window, width_px: int, palette: Palette
) -> tuple[list[dict[str, Any]], list[float]]:
    """(annotations above the plot, their middles in pixels): the worst ones where they fit beside
    each other."""
    px_per_ms = width_px / window.length_ms
    placed: list[float] = []
    made: list[dict[str, Any]] = []
    for mark in marks:
        span = mark.span(window.to_ms)
        if span.to_ms < window.from_ms or span.from_ms > window.to_ms or len(made) == MOST_FLAGS:
            continue
        left_px = max(0.0, (span.from_ms - window.from_ms) * px_per_ms)
        left_px = min(left_px, max(0.0, width_px - FLAG_PX))
        middle_px = left_px + FLAG_PX / 2
        if any(abs(middle_px - other) < FLAG_PX for other in placed):
            continue
        placed.append(middle_px)
        ink = colour(mark.severity, palette)
        made.append(
            {
                "text": f'<span style="color:{ink}">{DIAMONDS[mark.severity]}</span> {mark.label}',
                "x": _text(window.from_ms + round(left_px / px_per_ms)), "xref": "x",
                "xanchor": "left", "y": 1, "yref": "paper", "yanchor": "bottom",
                "showarrow": False, "bgcolor": f"{ink}{TINT}", "borderpad": 2,
                "font": {"color": palette.ink, "size": 12}, "name": "finding",
            }
        )  # fmt: skip
    return made, placed
