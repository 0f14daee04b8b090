"""Marks on a chart: findings as a tint over their span with lines at its ends and a flag above;
notes as flags, maintenance hatched, corrections as a band. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, Final, Literal, NamedTuple

from api.timez import stamps
from components.ranges import Window
from components.theme import Palette

DIAMONDS: Final = {"critical": "◆", "warning": "⬖", "notice": "◇"}
FLAG_PX: Final = 112  # the width of a flag, in pixels
MOST_FLAGS: Final = 8
MOST_MARKS: Final = 100
TINT: Final = "1c"  # the opacity of a span
_FOREVER_MS: Final = 7_258_118_400_000
Trace = dict[str, Any]
Kind = Literal["note", "maintenance", "correction"]
ABOVE: Final = 0.985  # of the plot's height: the position of a note's flag
MOST_TEXT: Final = 160
FLAG_LETTERS: Final = 15  # characters that fit a flag
ABOUT_SPREAD: Final = "One volume between two registers, spread evenly over this gap"
SIGNS: Final = {"note": "■", "maintenance": "▨"}


# --- Findings -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Mark:
    """A finding on a chart. ``to_ms`` None: still open. ``words``: its hover text."""

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
    """For each severity the tint of the spans, and lines at their ends. The first trace has the
    texts for assets/hover.js."""
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


def flags(
    marks: Sequence[Mark],
    window: Window,
    width_px: int,
    palette: Palette,
    taken: Sequence[float] = (),
) -> tuple[list[dict[str, Any]], list[float]]:
    """(annotations above the plot, all middles in pixels): the worst findings, where their flags
    fit beside each other and beside those in ``taken``."""

    def shown() -> Iterator[_Flag]:
        for mark in marks:
            span, ink = mark.span(window.to_ms), colour(mark.severity, palette)
            if span.to_ms < window.from_ms or span.from_ms > window.to_ms:
                continue
            sign = f'<span style="color:{ink}">{DIAMONDS[mark.severity]}</span>'
            yield _Flag(
                span.from_ms, f"{sign} {mark.label}", f"{ink}{TINT}", palette.ink, "finding"
            )

    return _flags_at(shown(), window, width_px, taken)


# --- Notes, maintenance, corrections --------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class AnnotationMark:
    """An annotation on a chart. ``to_ms`` None: an instant. ``words``: its hover text."""

    kind: Kind
    from_ms: int
    to_ms: int | None
    words: str


def annotation_traces(marks: Sequence[AnnotationMark], palette: Palette) -> list[Trace]:
    """One trace for each kind, and one for the flags of notes. The first has the texts for
    assets/hover.js."""
    made = [
        trace
        for kind, draw in (("maintenance", _hatched), ("correction", _band), ("note", _lines))
        if (some := [mark for mark in marks if mark.kind == kind])
        for trace in draw(some, palette)
    ]
    if made:
        made[0]["meta"] = {
            "findings": [
                [m.from_ms, m.from_ms if m.to_ms is None else m.to_ms, m.words] for m in marks
            ]
        }
    return made


def _hatched(marks: Sequence[AnnotationMark], palette: Palette) -> list[Trace]:
    pattern = {"shape": "/", "size": 9, "solidity": 0.12, "fgcolor": f"{palette.ink_3}90",
               "bgcolor": "rgba(0,0,0,0)"}  # fmt: skip
    return [_areas(marks, "maintenance", palette.ink_3) | {"fillpattern": pattern}]


def _band(marks: Sequence[AnnotationMark], palette: Palette) -> list[Trace]:
    pattern = {"shape": ".", "size": 8, "solidity": 0.12, "fgcolor": f"{palette.accent}80",
               "bgcolor": "rgba(0,0,0,0)"}  # fmt: skip
    return [_areas(marks, "corrections", palette.accent) | {"fillpattern": pattern}]


def spread_traces(spans: Sequence[Window], palette: Palette) -> list[Trace]:
    """One trace for all gaps over which a register's volume is spread; none without any. It has the
    texts for assets/hover.js."""
    if not spans:
        return []
    pattern = {"shape": "\\", "size": 10, "solidity": 0.1, "fgcolor": f"{palette.accent}66",
               "bgcolor": "rgba(0,0,0,0)"}  # fmt: skip
    areas = [AnnotationMark("correction", span.from_ms, span.to_ms, ABOUT_SPREAD) for span in spans]
    texts = {"findings": [[span.from_ms, span.to_ms, ABOUT_SPREAD] for span in spans]}
    return [
        _areas(areas, "spread over a gap", palette.accent) | {"fillpattern": pattern, "meta": texts}
    ]


def _areas(marks: Sequence[AnnotationMark], name: str, ink: str) -> Trace:
    x: list[str | None] = []
    y: list[float | None] = []
    for mark in marks:
        left, right = _text(mark.from_ms), _text(mark.to_ms or mark.from_ms)
        x += [left, left, right, right, left, None]
        y += [0, 1, 1, 0, 0, None]
    return {
        "type": "scatter", "name": name, "x": x, "y": y, "yaxis": "y2", "mode": "lines",
        "fill": "toself", "line": {"width": 1, "color": f"{ink}60"},
    }  # fmt: skip


def _lines(marks: Sequence[AnnotationMark], palette: Palette) -> list[Trace]:
    """For each note a line at its start, a bar along its span, and a flag."""
    x: list[str | None] = []
    y: list[float | None] = []
    for mark in marks:
        start = _text(mark.from_ms)
        x += [start, start, None]
        y += [0, ABOVE, None]
        if mark.to_ms is not None:
            x += [start, _text(mark.to_ms), None]
            y += [ABOVE, ABOVE, None]
    line = {
        "type": "scatter", "name": "notes", "x": x, "y": y, "yaxis": "y2", "mode": "lines",
        "line": {"width": 1.25, "color": palette.ink_2, "dash": "dot"},
    }  # fmt: skip
    flags = {
        "type": "scatter", "name": "note flags", "x": [_text(mark.from_ms) for mark in marks],
        "y": [ABOVE] * len(marks), "yaxis": "y2", "mode": "markers",
        "marker": {"symbol": "square", "size": 9, "color": palette.ink_2,
                   "line": {"width": 1.5, "color": palette.surface}},
    }  # fmt: skip
    return [line, flags]


def annotation_flags(
    marks: Sequence[AnnotationMark],
    window: Window,
    width_px: int,
    palette: Palette,
    taken: Sequence[float],
) -> tuple[list[dict[str, Any]], list[float]]:
    """(annotations above the plot, all middles in pixels): the texts of notes and maintenance,
    latest first, where they fit beside those in ``taken`` (middles in pixels)."""
    flagged = [mark for mark in in_window(marks, window) if mark.kind != "correction"]
    flagged.sort(key=lambda each: -each.from_ms)
    ink = palette.ink_2
    return _flags_at(
        (
            _Flag(mark.from_ms, f"{SIGNS[mark.kind]} {escape(_flag_text(mark))}",
                  f"{palette.ink_3}{TINT}", ink, "annotation")
            for mark in flagged
        ),
        window, width_px, taken,
    )  # fmt: skip


def _flag_text(mark: AnnotationMark) -> str:
    text = mark.words.partition(": ")[2] or mark.words
    return text if len(text) <= FLAG_LETTERS else f"{text[: FLAG_LETTERS - 1].rstrip()}…"


def in_window(marks: Sequence[AnnotationMark], window: Window) -> list[AnnotationMark]:
    return [
        mark
        for mark in marks
        if mark.from_ms <= window.to_ms
        and (mark.from_ms if mark.to_ms is None else mark.to_ms) >= window.from_ms
    ]


def shortened(text: str) -> str:
    """The text in one line, at most as long as a hover card allows."""
    line = " ".join(text.split())
    return line if len(line) <= MOST_TEXT else f"{line[: MOST_TEXT - 1]}…"


# --- Flags ----------------------------------------------------------------------------------------


class _Flag(NamedTuple):
    """A label above the plot, from ``start_ms`` on."""

    start_ms: int
    text: str
    background: str
    ink: str
    name: str


def _flags_at(
    wanted: Iterable[_Flag], window: Window, width_px: int, taken: Sequence[float]
) -> tuple[list[dict[str, Any]], list[float]]:
    """(annotations, all middles in pixels): the first flags that fit beside each other and beside
    those in ``taken``."""
    px_per_ms = width_px / window.length_ms
    placed, made = list(taken), list[dict[str, Any]]()
    for flag in wanted:
        left_px = max(0.0, (flag.start_ms - window.from_ms) * px_per_ms)
        left_px = min(left_px, max(0.0, width_px - FLAG_PX))
        middle_px = left_px + FLAG_PX / 2
        if len(made) == MOST_FLAGS or any(abs(middle_px - other) < FLAG_PX for other in placed):
            continue
        placed.append(middle_px)
        made.append(
            {
                "text": flag.text, "x": _text(window.from_ms + round(left_px / px_per_ms)),
                "xref": "x", "xanchor": "left", "y": 1, "yref": "paper", "yanchor": "bottom",
                "showarrow": False, "bgcolor": flag.background, "borderpad": 2,
                "font": {"color": flag.ink, "size": 12}, "name": flag.name,
            }
        )  # fmt: skip
    return made, placed


def _text(instant_ms: int) -> str:
    return stamps([instant_ms], fraction=instant_ms % 1000 != 0)[0][:-1]
