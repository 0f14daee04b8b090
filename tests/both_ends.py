"""The order in which several test processes take the files (`make test`: five, on two cores).

Two of the five take files from the front: browsers and long computing. The others take them from
the back, where tests mostly wait for real processes. So at most two browsers run at a time, and
the short files in the middle come last: no process is left alone with a long file.
"""

from __future__ import annotations

from typing import Final

from xdist.scheduler import LoadFileScheduling
from xdist.workermanage import WorkerController

FRONT: Final = (
    "browser",
    "real",
    "pages",
    "remote",
    "web/rendering/test_renderer",
    "openapi",
    "ingest/test_files",
    "contract",
    "benchmarks",
)
BACK: Final = ("ingest/mqtt", "commands", "web/rendering/test_worker", "faults")
_TURNS: Final = {
    **{prefix: n - len(FRONT) for n, prefix in enumerate(FRONT)},
    **{prefix: n for n, prefix in enumerate(BACK, 1)},
}


def turn(place: str) -> int:
    """The rank of a file by its path below tests/: negative for FRONT, positive for BACK, else
    0."""
    return next((n for prefix, n in _TURNS.items() if place.startswith(prefix)), 0)


class FromBothEnds(LoadFileScheduling):
    def _assign_work_unit(self, node: WorkerController) -> None:
        if node in self.nodes[len(self.nodes) // 2 :]:
            self.workqueue.move_to_end(next(reversed(self.workqueue)), last=False)
        super()._assign_work_unit(node)
