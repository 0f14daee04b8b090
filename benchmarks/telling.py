"""What a run says: on the screen, and in the files that it was asked to leave."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson

from benchmarks.report import conditions


def may_leave_files(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--markdown", type=Path, metavar="FILE")


def tell(options: argparse.Namespace, report: str, found: Mapping[str, Any] | bytes) -> None:
    """``found`` is what the report was made from, as JSON or to become it."""
    print(report)
    if options.markdown:
        options.markdown.write_text(report, "utf-8")
    if options.json:
        whole = found if isinstance(found, bytes) else orjson.dumps(found, option=_INDENTED)
        options.json.write_bytes(whole)


_INDENTED = orjson.OPT_INDENT_2


def of_a_site(
    module: str, arguments: list[str], load_before: float, said: dict[str, str]
) -> dict[str, str]:
    """Where and with what a site was measured, and how much else the machine did meanwhile."""
    load = f"{load_before:.1f} before, {os.getloadavg()[0]:.1f} after"
    command = f"python -m {module} " + " ".join(arguments)
    return conditions(command, {**said, "load of the machine": load})
