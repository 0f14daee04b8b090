"""Fifty users and what each of them requests: through the interface, and as the pages do.

A dashboard is one wall of fifty devices and four charts, each requested again every 15 seconds. It
has its own key, so that no cached result is shared with another.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any, Final

import httpx

from api.catalog import COLUMNS_TYPE, DAY_MS, HOUR_MS, KEY_HEADER, MAX_IDS, PATH_PREFIX
from api.timez import now_ms, stamp
from benchmarks.site.crowd import Crowd, Habit, Person
from benchmarks.site.renderer import DEPENDENCIES, UPDATE, Dependency, OpenPage, dependencies
from benchmarks.site.served import Served

EVERY_S: Final = 15.0
CHECK_AFTER_S: Final = 2.5  # seconds without a response after which a browser checks its session
LOOK_EVERY_S: Final = 1.0
CHARTS: Final = 4
WIDTH_PX: Final = 1_310
MAX_DATAPOINTS: Final = 2 * WIDTH_PX
SPANS: Final = {"1h": HOUR_MS, "24h": DAY_MS, "7d": 7 * DAY_MS}
SEEN: Final = ("24h", "7d", "24h", "1h")  # the parts of a user's charts
MOST_HURRIED: Final = 60  # responses in a row that led to the next request at once
# The largest ages of the parts beside a chart, by span (assets/chart.js).
PARTS_S: Final = {"refresh": lambda _: 0.0, "steady": lambda _: 60.0, "hourly": lambda _: 900.0,
                  "range": lambda span: min(300.0, max(30.0, SPANS[span] / 2_000_000))}  # fmt: skip
_COLUMNS: Final = f'{COLUMNS_TYPE};metrics="flow_rate quality"'


def _chosen(served: Served, number: int) -> list[tuple[str, str]]:
    """Returns the devices whose charts a user looks at, and their ranges."""
    dice = random.Random(number)
    return list(zip(dice.sample(served.ids, CHARTS), SEEN, strict=True))


# --- By the interface ----------------------------------------------------------------------------


def by_interface(served: Served, crowd: Crowd, opened: ExitStack) -> Iterator[Habit]:
    """Requests one `latest` of fifty devices and four adaptive charts in columns, over the
    network."""
    for number, key in enumerate(served.keys):
        person = Person(served.url, crowd, {KEY_HEADER: key})
        opened.callback(person.close)
        yield _latest(person, served.ids[:MAX_IDS])
        for device_id, span in _chosen(served, number):
            yield _adaptive(person, device_id, SPANS[span])


def _latest(person: Person, ids: Sequence[str]) -> Habit:
    params = {"ids": ",".join(ids), "metrics": "uptime,lastDatapoint,quality"}

    def do(due_s: float) -> None:
        now = now_ms()
        window = {"from": stamp(now - DAY_MS), "to": stamp(now), "uptimeResolution": "1min"}
        path = f"{PATH_PREFIX}/flow/latest"
        person.ask(
            "latest of 50", "GET", path, check=_all_there, params=params | window, due_s=due_s
        )

    def _all_there(answer: httpx.Response) -> str:
        return "" if len(answer.json()["data"]) == len(ids) else "not every device"

    return Habit(do, EVERY_S)


def _adaptive(person: Person, device_id: str, length_ms: int) -> Habit:
    path = f"{PATH_PREFIX}/flow/adaptive/{device_id}"

    def do(due_s: float) -> None:
        now = now_ms()
        params = {"from": stamp(now - length_ms), "to": stamp(now), "maxDatapoints": MAX_DATAPOINTS}
        headers = {"Accept": _COLUMNS}
        person.ask(
            "chart", "GET", path, check=_has_columns, params=params, headers=headers, due_s=due_s
        )

    return Habit(do, EVERY_S)


def _has_columns(answer: httpx.Response) -> str:
    return "" if answer.headers["Content-Type"].startswith(COLUMNS_TYPE) else "no columns"


# --- As the pages do -----------------------------------------------------------------------------


@dataclass
class UserPages:
    """One user's open pages: the wall, and four devices."""

    person: Person
    wall: OpenPage
    charts: list[OpenPage]
    question_number: int = 0
    refreshed: dict[int, int] = field(default_factory=dict[int, int])
    drawn: dict[str, str] = field(default_factory=dict[str, str])

    def refresh_wall(self, due_s: float | None = None) -> None:
        self._ask_wall()

    def arrive(self, *, whole: bool) -> bool:
        """Opens the wall and waits until it is complete, then opens each device's page. Returns
        whether all of them loaded. ``whole``: with the charts and everything beside them."""
        if not self.wall.open():
            return False
        board: dict[str, Any] = {}
        for _ in range(MOST_HURRIED):
            board = self._ask_wall()
            if not board or board.get("again_ms", 0) >= EVERY_S * 1000:
                break
        if not board or not all(page.open() for page in self.charts):
            return False
        for page in self.charts if whole else ():
            self.refresh_chart(page, whole=True)
        return True

    def _ask_wall(self) -> dict[str, Any]:
        """Sends the request of assets/fleet.js."""
        tiles = (self.wall.values.get("fleet-board.data") or {}).get("tiles", [])
        self.question_number += 1
        self.drawn |= {tile["id"]: tile["mark"] for tile in tiles if tile.get("spark")}
        question = {"window": "24h", "request_id": self.question_number, "drawn": self.drawn}
        answers = self.wall.set(
            "fleet-question.data", question | {"held": [t["id"] for t in tiles]}
        )
        return answers[0].get("fleet-board", {}).get("data", {}) if answers else {}

    def refresh_chart(self, page: OpenPage, *, whole: bool) -> None:
        """Sends the request of assets/chart.js, with the axis of the last response. ``whole``: also
        the numbers and cards around the chart, which follow it."""
        start = page.values.get("chart-start.data") or {}
        self.question_number += 1
        count = self.refreshed.get(id(page), 0)
        self.refreshed[id(page)] = count + 1
        parts = {name: rest_s(start.get("range") or "24h") for name, rest_s in PARTS_S.items()}
        due = [
            name
            for name, rest_s in parts.items()
            if whole and count % max(1, math.ceil(rest_s / EVERY_S)) == 0
        ]
        question = {"theme": "light", "width_px": WIDTH_PX, "request_id": self.question_number}
        if count:  # a refresh, which has these parts in the same response
            page.set("chart-question.data", {**start, **question, "due": due}, follow=False)
            return
        page.set("chart-question.data", {**start, **question}, follow=False)
        shown = page.values.get("chart-response.data")
        quick = [name for name in due if name != "hourly"]
        for names in (quick, ["hourly"]) if shown and due else ():
            page.set("chart-due.data", {**shown, "due": names}, follow=False)


def as_pages(
    served: Served,
    crowd: Crowd,
    hands: ThreadPoolExecutor,
    opened: ExitStack,
) -> list[UserPages]:
    """Returns all users, signed in, with nothing opened yet."""
    users: list[UserPages] = []
    callbacks: list[Dependency] = []
    for number, key in enumerate(served.keys):
        person = Person(served.url, crowd, {"Sec-Fetch-Site": "same-origin"})
        opened.callback(person.close)
        signed_in = person.http.post("/sign-in", data={"key": key, "next": "/devices"})
        if signed_in.status_code != 303:
            raise RuntimeError(f"sign-in answered {signed_in.status_code}")
        callbacks = callbacks or dependencies(person.http.get(DEPENDENCIES).json())
        charts = [
            _page(person, callbacks, hands, f"/devices/{device_id}", f"?range={span}")
            for device_id, span in _chosen(served, number)
        ]
        users.append(UserPages(person, _page(person, callbacks, hands, "/"), charts))
    return users


def _page(
    person: Person,
    callbacks: list[Dependency],
    hands: ThreadPoolExecutor,
    path: str,
    search: str = "",
) -> OpenPage:
    def ask(name: str, body: dict[str, Any]) -> Any:
        kind = KINDS.get(name, "around the charts")
        return person.ask(kind, "POST", UPDATE, check=_is_good, json=body)

    return OpenPage(path, search, callbacks, ask, hands)


def _is_good(answer: httpx.Response) -> str:
    """Checks for an error inside a successful response: a page reports errors there and keeps the
    last good picture."""
    props: dict[str, Any] = answer.json().get("response") or {}
    board = props.get("fleet-board", {}).get("data", {})
    troubled = [board.get("error"), board.get("trouble"), *_troubles(props)]
    return next((f"“{each}”" for each in troubled if each), "")


def _troubles(props: dict[str, Any]) -> Iterator[Any]:
    for id, parts in props.items():
        if id.endswith(("-notice", "-trouble")):
            yield parts.get("children")


KINDS: Final = {
    "_pages_content.children": "page",
    "fleet-board.data": "wall of 50",
    "chart-graph.figure": "chart",
    "chart-due-parts.data": "parts of a page just opened",
}


def refreshing(users: Sequence[UserPages], *, whole: bool) -> Iterator[Habit]:
    """Yields a wall and four charts each; ``whole``: everything that these five pages request while
    they are open."""
    for user in users:
        yield Habit(user.refresh_wall, EVERY_S)
        for page in user.charts:
            yield Habit(_chart(user, page, whole), EVERY_S)
        if whole:
            yield Habit(_check(user.person), LOOK_EVERY_S)


def _chart(user: UserPages, page: OpenPage, whole: bool) -> Any:
    return lambda due_s: user.refresh_chart(page, whole=whole)


def _check(person: Person) -> Any:
    """Sends the request of assets/session.js: the pages of one browser share its result."""

    def do(due_s: float) -> None:
        if time.perf_counter() - person.heard_s >= CHECK_AFTER_S:
            person.ask("session check", "GET", "/session", due_s=due_s)

    return do
