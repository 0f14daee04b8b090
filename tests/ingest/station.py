"""The ingest endpoint of a small world, for tests that send readings over HTTP."""

from __future__ import annotations

from typing import Any

import orjson
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from api.catalog import KEY_HEADER, RAW
from api.ingest.http_intake import HttpIntake
from api.ingest.submission import Receipt, Submission
from api.ingest.writer import Writer
from api.server.intake import READINGS_PATH, create_intake
from api.store.base import Grant, Span
from tests.store.fleet import NOON_MS
from tests.world import ACME, OTHER, World

JSON = "application/json"


class Station:
    """The world with a writer behind the ingest endpoint, and keys that send."""

    def __init__(self, world: World) -> None:
        self.world, self.writer = world, Writer(world.store)
        self.problem: Exception | None = None
        self.now_ms = NOON_MS
        reception = HttpIntake(world.store, self._post, lambda: self.now_ms)
        self.app = create_intake(world.store, world.settings, reception)
        self.client: FlaskClient = self.app.test_client()
        self.keys = {
            "all": self.key(Grant(everything=True)),
            "north": self.key(Grant(groups=frozenset({"north"}))),
            "foreign": self.key(Grant(everything=True), OTHER),
        }

    def key(self, grant: Grant, organization: str = ACME) -> str:
        return self.world.new_key(grant, organization, ingest=True)[0]

    def _post(self, submission: Submission) -> Receipt:
        if self.problem is not None:
            raise self.problem
        return self.writer.submit(submission).result(30)

    def post(
        self, body: object, kind: str = JSON, *, by: str = "all", query: str = "", **headers: str
    ) -> TestResponse:
        data = body if isinstance(body, bytes) else orjson.dumps(body)
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        sent = {KEY_HEADER: self.keys[by], "Content-Type": kind, **sent}
        return self.client.post(f"{READINGS_PATH}?{query}", data=data, headers=sent)

    def reply_to(self, body: object, kind: str = JSON, **more: Any) -> Any:
        answer = self.post(body, kind, **more)
        assert answer.status_code == 200, answer.text
        return answer.json

    def quality_of(self, device: str) -> list[float]:
        """The quality of the last rows, which these tests number."""
        result = self.world.store.rows(
            self.world.devices[device], RAW, Span(NOON_MS, NOON_MS), limit=10_000
        )
        return [row[4] for row in result]
