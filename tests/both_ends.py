"""The order of the files where several processes take one at a time (`make test`: four, on two
cores).

One half goes from the front: browsers and long computing first. The other half goes from the back,
where tests mostly wait for what real processes do. So no more than two browsers crowd the machine
while the others wait, and they meet among the short files: none is left alone with a long one in
the end.
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
    """Of a file, by its path within the tests: the fronts in their order, what is named nowhere,
    the backs in theirs."""
    return next((n for prefix, n in _TURNS.items() if place.startswith(prefix)), 0)


class FromBothEnds(LoadFileScheduling):
    def _assign_work_unit(self, node: WorkerController) -> None:
        if node in self.nodes[len(self.nodes) - len(self.nodes) // 2 :]:
            self.workqueue.move_to_end(next(reversed(self.workqueue)), last=False)
        super()._assign_work_unit(node)
