"""Reads a chart from the screen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from tests.browser.chromium import Tab

_GRAPH = "document.querySelector('.js-plotly-plot')"


class Box(NamedTuple):
    """The plot area, in CSS pixels of the page."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True)
class Chart:
    tab: Tab

    def drawn(self) -> Chart:
        """Wait until the rows are drawn."""
        self.tab.until(self.badge)
        self.tab.until(lambda: self.rows() or self.tab.text(".empty-plot"))
        return self

    def badge(self) -> str:
        return self.tab.text("#chart-badge")

    def rows(self) -> int:
        """The number of points of the line."""
        return self.tab.run(
            f"const g = {_GRAPH}; return g && g.data && g.data[2] ? g.data[2].x.length : 0"
        )

    def range(self) -> list[str]:
        """The axis' first and last instant, cut to the second."""
        return [
            t[:19].replace(" ", "T") for t in self.tab.run(f"return {_GRAPH}.layout.xaxis.range")
        ]

    def box(self) -> Box:
        return Box(
            *self.tab.run(
                "const r = document.querySelector('.js-plotly-plot .nsewdrag')"
                ".getBoundingClientRect(); return [r.x, r.y, r.width, r.height]"
            )
        )

    def marks(self) -> list[tuple[str, float]]:
        """The visible axis labels, each with its position in the plot (0 to 1)."""
        box = self.box()
        results: list[dict[str, Any]] = self.tab.run(
            """return [...document.querySelectorAll('.xtick text')]
                 .filter((e) => e.checkVisibility()).map((e) => {
                 const r = e.getBoundingClientRect();
                 const lines = [...e.querySelectorAll('tspan')].map((t) => t.textContent);
                 return {text: (lines.length ? lines : [e.textContent]).join(' / '),
                         x: r.x + r.width / 2};
               })"""
        )
        return [(mark["text"], (mark["x"] - box.x) / box.width) for mark in results]

    def drag(self, start: float, end: float) -> None:
        """Drag across the plot, between two fractions of its width."""
        box = self.box()
        self.tab.drag(box.x + start * box.width, box.x + end * box.width, box.y + box.height / 2)

    def double_click(self) -> None:
        box = self.box()
        self.tab.double_click(box.x + box.width / 2, box.y + box.height / 2)

    def hover(self, at: float) -> list[str]:
        """The lines of the hover text at that fraction of the width."""
        box = self.box()
        self.tab.move(box.x + box.width / 2, box.y - 100)
        self.tab.move(box.x + at * box.width, box.y + box.height / 2)
        lines = self.tab.until(
            lambda: self.tab.run(
                "return [...document.querySelectorAll('.hover-card:not([hidden]) > *')]"
                ".map((e) => e.textContent)"
            )
        )
        return lines
