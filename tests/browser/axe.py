"""What axe-core finds wrong with a page for people who see, hear or move otherwise.

The script is axe-core 4.14.1, unchanged, under its own licence beside it (MPL-2.0).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from tests.browser.chromium import Tab

_SCRIPT: Final = Path(__file__).parent / "vendor" / "axe.min.js"
_RUN: Final = """
const done = arguments[arguments.length - 1];
axe.run(document, {resultTypes: ["violations"]})
  .then((found) => done(found.violations.map((v) => [v.id, v.help,
    v.nodes.map((n) => n.target.join(" ") + " — " + n.failureSummary)])))
  .catch((error) => done([["axe failed", String(error), []]]));
"""


def findings(tab: Tab) -> list[str]:
    """One line a rule that the page breaks, with where; nothing where all is well."""
    tab.run(_SCRIPT.read_text("utf-8"))
    tab.driver.set_script_timeout(30)
    found: list[Any] = tab.driver.execute_async_script(_RUN)
    return [f"{rule}: {help} | {' | '.join(nodes[:4])}" for rule, help, nodes in found]
