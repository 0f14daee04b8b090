"""A small world with embeds, and the two services that serve them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import jwt
import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from api.catalog import EMBEDS_PREFIX
from api.server import create_embed_service, create_service
from api.store.open import open_web_store
from api.store.web.base import WebStore
from tests.world import METER, SECRET, World, opened


@dataclass
class Stage:
    """``service`` manages the embeds of ``world``, which ``web`` stores. ``shown`` serves their
    pages."""

    world: World
    web: WebStore
    service: FlaskClient
    shown: FlaskClient

    def ask(
        self, method: str, path: str, body: Any = None, *, by: str | Mapping[str, str] = "all"
    ) -> TestResponse:
        """Requests below /embeds/v1, with a credential of the world by its name, or with
        headers."""
        headers = self.world.credentials[by].headers if isinstance(by, str) else by
        return self.service.open(
            f"{EMBEDS_PREFIX}{path}", method=method, json=body, headers=dict(headers)
        )

    def make(self, *, by: str | Mapping[str, str] = "all", **definition: Any) -> dict[str, Any]:
        """The new embed; by default a chart of the meter."""
        fields = {"view": "chart", "devices": [METER], **definition}
        answer = self.ask("POST", "/embeds", fields, by=by)
        assert answer.status_code == 201, answer.text
        return answer.json  # pyright: ignore[reportReturnType]

    def token(self, embed_id: str, ttl: int | None = None, *, by: str = "all") -> str:
        body = {} if ttl is None else {"ttl": ttl}
        answer = self.ask("POST", f"/embeds/{embed_id}/tokens", body, by=by)
        assert answer.status_code == 201, answer.text
        return answer.json["token"]  # pyright: ignore[reportOptionalSubscript]

    def view(self, path: str, token: str, **headers: str) -> TestResponse:
        """The response that the embed's page gets for its token."""
        return self.shown.get(path, headers={"Authorization": f"Bearer {token}", **headers})

    def own(self, token: str) -> TestResponse:
        return self.view(f"{EMBEDS_PREFIX}/self", token)


def forged(token: str, *, key: str = SECRET, algorithm: str = "HS256", **claims: Any) -> str:
    """The token with other claims, signed again; a claim of None is left out."""
    result = jwt.decode(token, options={"verify_signature": False}) | claims
    fields = {name: value for name, value in result.items() if value is not None}
    return jwt.encode(fields, key, algorithm=algorithm)


@pytest.fixture(scope="module")
def stage(place_url: str) -> Iterator[Stage]:
    with opened(place_url) as world:
        web = open_web_store(place_url)
        web.upgrade()
        yield Stage(
            world,
            web,
            create_service(world.store, world.settings, web=web).test_client(),
            create_embed_service(world.store, web, world.settings).test_client(),
        )
    web.close()
