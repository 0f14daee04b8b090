"""The output of a run: on the screen, and in the requested files."""

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


def tell(options: argparse.Namespace, report: str, data: Mapping[str, Any] | bytes) -> None:
    """``data``: the data of the report, as JSON or to become it."""
    print(report)
    if options.markdown:
        options.markdown.write_text(report, "utf-8")
    if options.json:
        whole = data if isinstance(data, bytes) else orjson.dumps(data, option=_INDENTED)
        options.json.write_bytes(whole)


_INDENTED = orjson.OPT_INDENT_2


def of_a_site(
    module: str, arguments: list[str], load_before: float, setup: dict[str, str]
) -> dict[str, str]:
    """Returns where and with what a site was measured, and the other load on the machine
    meanwhile."""
    load = f"{load_before:.1f} before, {os.getloadavg()[0]:.1f} after"
    command = f"python -m {module} " + " ".join(arguments)
    return conditions(command, {**setup, "load of the machine": load})
