"""The accessibility rules of axe-core that a page breaks.

The script is axe-core 4.14.1, unchanged, with its licence beside it (MPL-2.0).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from tests.browser.chromium import Tab

_SCRIPT: Final = Path(__file__).parent / "vendor" / "axe.min.js"
_RUN: Final = """
const done = arguments[arguments.length - 1];
const [rules] = arguments;
const asked = rules.length ? {runOnly: {type: "rule", values: rules}} : {};
axe.run(document, {...asked, resultTypes: ["violations"]})
  .then((found) => done(found.violations.map((v) => [v.id, v.help,
    v.nodes.map((n) => n.target.join(" ") + " — " + n.failureSummary)])))
  .catch((error) => done([["axe failed", String(error), []]]));
"""
GROUND: Final = "return getComputedStyle(document.documentElement).backgroundColor"
# An animation by scrolling runs as long as its element is there.
FADED: Final = (
    "return document.getAnimations().every((each) => each.playState !== 'running'"
    " || each.timeline !== document.timeline"
    " || each.effect.getComputedTiming().iterations === Infinity)"
)


def findings(tab: Tab, *rules: str) -> list[str]:
    """One line for each broken rule, with the elements. Checks all rules, or those named."""
    tab.run(_SCRIPT.read_text("utf-8"))
    tab.driver.set_script_timeout(30)
    results: list[Any] = tab.driver.execute_async_script(_RUN, rules)
    return [f"{rule}: {help} | {' | '.join(nodes[:4])}" for rule, help, nodes in results]


def findings_in_both_colours(tab: Tab) -> list[str]:
    """All rules on the light theme, and the rules of colour on the dark one. The page must follow
    the system's theme."""
    light, ground = findings(tab), tab.run(GROUND)
    tab.colours("dark")
    tab.until(lambda: tab.run(GROUND) != ground and tab.run(FADED))
    dark = findings(tab, "color-contrast")
    tab.colours("light")
    tab.until(lambda: tab.run(GROUND) == ground)
    return light + dark
