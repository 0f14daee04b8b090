"""Colours, type and the one graph configuration.

The tokens below are the only place with colour values: the stylesheet gets them as CSS variables
(`css`), figures as a `Palette`. A test checks both themes for a contrast of 4.5:1 for text and 3:1
for graphics.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal

ThemeName = Literal["light", "dark"]


@dataclass(frozen=True, slots=True)
class Palette:
    """One theme's colours. ``ink`` is text, ``ink_2`` secondary and ``ink_3`` quiet text;
    ``on_accent`` is text on the accent, ``tint`` the accent's faint background, ``gap`` the
    background of a span without data. ok, warn, bad and off are states, each also shown by shape
    and word. ``series``: lines of one chart, in this order."""

    bg: str
    surface: str
    line: str
    ink: str
    ink_2: str
    ink_3: str
    accent: str
    on_accent: str
    tint: str
    band: str
    gap: str
    ok: str
    warn: str
    bad: str
    off: str
    series: tuple[str, ...]


LIGHT: Final = Palette(
    bg="#f6f7f9",
    surface="#ffffff",
    line="#e3e7ec",
    ink="#16202b",
    ink_2="#51606f",
    ink_3="#616f7d",
    accent="#0b6bcb",
    on_accent="#ffffff",
    tint="#e4f0fd",
    band="#bcd9f6",
    gap="#eceff2",
    ok="#1a7f64",
    warn="#b7791f",
    bad="#c2410c",
    off="#8794a1",
    series=(
        "#0b6bcb", "#d9480f", "#1a7f64", "#7c3aed", "#a16207", "#c2188b",
        "#0e7490", "#4d7c0f", "#7b4a2b", "#475569", "#b91c1c", "#3730a3",
    ),
)  # fmt: skip
DARK: Final = Palette(
    bg="#0e141b",
    surface="#161e27",
    line="#26313d",
    ink="#e8eef4",
    ink_2="#a3b1bf",
    ink_3="#8493a2",
    accent="#5aa9f7",
    on_accent="#0e141b",
    tint="#16304d",
    band="#1f4166",
    gap="#212c37",
    ok="#4cc9a4",
    warn="#e7b250",
    bad="#ff8a5c",
    off="#6e7d8c",
    series=(
        "#5aa9f7", "#ff8a5c", "#4cc9a4", "#b794f6", "#e7b250", "#f472b6",
        "#22d3ee", "#a3e635", "#c8a27c", "#a3b1bf", "#f87171", "#818cf8",
    ),
)  # fmt: skip
PALETTES: Final[Mapping[ThemeName, Palette]] = {"light": LIGHT, "dark": DARK}

FONT: Final = (
    'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", Helvetica, Arial,'
    " sans-serif"
)
FONT_SIZE_PX: Final = 13

GRAPH_CONFIG: Final[Any] = {
    # plotly.js offers to upload the chart to a cloud service by default.
    "showSendToCloud": False,
    "plotlyServerURL": "",
    "displaylogo": False,
    "displayNotifier": False,
    "displayModeBar": False,
    "doubleClick": False,  # assets/chart.js resets to the chosen range
    "showTips": False,
    "responsive": True,
}


def css() -> str:
    """Both palettes as CSS variables: the system's preference unless the reader chose a theme; the
    light one on paper."""
    light, dark = _variables(LIGHT), _variables(DARK)
    return (
        f":root{{color-scheme:light;--font:{FONT};{light}}}"
        f"@media (prefers-color-scheme:dark){{:root{{color-scheme:dark;{dark}}}}}"
        f":root[data-theme=light]{{color-scheme:light;{light}}}"
        f":root[data-theme=dark]{{color-scheme:dark;{dark}}}"
        f"@media print{{:root,:root[data-theme]{{color-scheme:light;{light}}}}}"
    )


def light_css() -> str:
    """The light palette alone, for paper."""
    return f":root{{color-scheme:light;--font:{FONT};{_variables(LIGHT)}}}"


def _variables(palette: Palette) -> str:
    single = {name: value for name, value in asdict(palette).items() if name != "series"}
    lines = {f"series-{number}": each for number, each in enumerate(palette.series, start=1)}
    return "".join(f"--{k.replace('_', '-')}:{v};" for k, v in {**single, **lines}.items())


def palette(name: object) -> Palette:
    """The palette of that name; the light one by default."""
    return DARK if name == "dark" else LIGHT
