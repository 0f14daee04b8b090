"""The processes that a renderer has started, from the system's process table."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from web.rendering.renderer import place_of

PATIENCE_S = 20.0


def of(instance: Path) -> list[int]:
    """The worker and every process of its Chromium, by the folder in their command line or in that
    of their group leader."""
    folder = place_of(instance)
    lines = {int(p.name): _command(p) for p in Path("/proc").iterdir() if p.name.isdigit()}
    named = {pid for pid, line in lines.items() if str(folder) in line}
    groups = {_group(pid) for pid in named if "chrom" in lines[pid]}
    return sorted(named | {pid for pid in lines if _group(pid) in groups - {None}})


def worker(instance: Path) -> int:
    return next(pid for pid in of(instance) if "rendering.worker" in _command(Path(f"/proc/{pid}")))


def browser(instance: Path) -> int:
    """Chromium's main process, the only one without a type."""
    for pid in of(instance):
        line = _command(Path(f"/proc/{pid}"))
        if "chromium/chromium" in line and "--type=" not in line and ".py" not in line:
            return pid
    raise LookupError("no Chromium runs")


def until(true: Callable[[], bool], what: str) -> None:
    end_s = time.monotonic() + PATIENCE_S
    while not true():
        if time.monotonic() > end_s:
            raise AssertionError(f"not within {PATIENCE_S:g} s: {what}")
        time.sleep(0.05)


def _command(process: Path) -> str:
    try:
        return (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""


def _group(pid: int) -> int | None:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[2])
    except (OSError, IndexError):
        return None
