"""Embeds by the client: requests, replies, and servers that have no embeds."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from api.client import Client, EmbedDefinition, Fixed, Rolling
from api.client.transport import Transport
from api.errors import (
    BadRequest,
    NotFound,
    NotOffered,
    Unauthorized,
    UnexpectedAnswer,
    Unreachable,
)
from tests.tables import cases

BODY: dict[str, Any] = {
    "id": "emb_1", "organizationId": "org", "state": "active", "path": "/embed/emb_1",
    "view": "chart", "devices": ["d-1"], "metric": "volume", "origins": ["https://a.example"],
    "window": {"last": 3600}, "zone": "device", "units": "us", "theme": "dark",
    "controls": ["range"], "notes": True, "compare": "week", "title": "Lobby",
    "expires": "2027-01-01T00:00:00.000Z",
    "createdBy": "key_1", "created": "2026-01-01T00:00:00.000Z", "revoked": None, "more": 1,
}  # fmt: skip
DEFINITION = EmbedDefinition(
    "chart", ("d-1",), "volume", ("https://a.example",), Rolling(3600), "device", "us", "dark",
    ("range",), "Lobby", 1_798_761_600_000, notes=True, compare="week",
)  # fmt: skip


class Server:
    """A transport that replies as a test scripts it and records requests."""

    def __init__(self, status: int = 200, body: Any = None, kind: str = "application/json") -> None:
        self.status, self.body, self.kind = status, body, kind
        self.requests: list[httpx.Request] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        text = self.body if isinstance(self.body, str) else json.dumps(self.body)
        return httpx.Response(self.status, text=text, headers={"Content-Type": self.kind})

    def client(self, **how: Any) -> Client:
        http = httpx.Client(transport=httpx.MockTransport(self), base_url="http://weir.example")
        return Client(Transport(http, sleep=lambda _: None), "a-key", **how)


def test_a_new_embed_is_sent_completely_and_read_back() -> None:
    server = Server(201, BODY)
    made = server.client().create_embed(DEFINITION)
    (request,) = server.requests
    assert (request.method, request.url.path) == ("POST", "/embeds/v1/embeds")
    assert request.headers["service-api-key"] == "a-key"
    body = json.loads(request.content)
    assert body == {name: BODY[name] for name in body}
    assert set(BODY) - set(body) == {
        "id", "organizationId", "state", "path", "createdBy", "created", "revoked", "more",
    }  # fmt: skip
    assert made.definition == DEFINITION
    assert (made.id, made.path, made.state) == ("emb_1", "/embed/emb_1", "active")


def test_a_fixed_window_is_sent_and_read_back() -> None:
    window = {"from": "2026-03-08T05:00:00.000Z", "to": "2026-03-09T04:00:00.000Z"}
    server = Server(201, {**BODY, "window": window})
    fixed = Fixed(1_772_946_000_000, 1_773_028_800_000)
    made = server.client().create_embed(EmbedDefinition("chart", ("d-1",), window=fixed))
    assert json.loads(server.requests[0].content)["window"] == window
    assert made.definition.window == fixed


def test_each_method_has_its_path() -> None:
    server = Server(200, BODY)
    client = server.client()
    client.embed("emb_1")
    client.revoke_embed("a/../b")
    client.own_embed()
    server.body = [BODY]
    assert [embed.id for embed in client.embeds()] == ["emb_1"]
    server.body = {"token": "t", "expiresAt": None}
    assert client.mint_embed_token("emb_1").expires_ms is None
    server.body = {"token": "t", "expiresAt": "2026-01-01T00:10:00.000Z"}
    assert client.mint_embed_token("emb_1", 600).expires_ms == 1_767_226_200_000
    assert [(r.method, r.url.raw_path.decode(), r.content) for r in server.requests] == [
        ("GET", "/embeds/v1/embeds/emb_1", b""),
        ("DELETE", "/embeds/v1/embeds/a%2F..%2Fb", b"{}"),
        ("GET", "/embeds/v1/self", b""),
        ("GET", "/embeds/v1/embeds", b""),
        ("POST", "/embeds/v1/embeds/emb_1/tokens", b"{}"),
        ("POST", "/embeds/v1/embeds/emb_1/tokens", b'{"ttl":600}'),
    ]


@cases(
    ("status", "body", "kind"),
    [(404, {"detail": "x"}, "application/problem+json"), (404, "<p>No", "text/html"),
     (200, "<p>Hello", "text/html"), (200, {"data": []}, "application/json")],
)  # fmt: skip
def test_a_server_without_embeds_is_recognized(status: int, body: Any, kind: str) -> None:
    with pytest.raises(NotOffered):
        Server(status, body, kind).client().embeds()


def test_a_missing_embed_is_not_found() -> None:
    with pytest.raises(NotFound):
        Server(404, {"detail": "x"}).client().embed("emb_1")


def test_problems_name_the_field_and_the_reason() -> None:
    problem = {"errors": [{"parameter": "origins", "detail": "no"}]}
    with pytest.raises(BadRequest) as refused:
        Server(400, problem).client().create_embed(DEFINITION)
    assert refused.value.errors[0].parameter == "origins"
    messages: list[int] = []
    ended = Server(401, {"detail": "x", "reason": "embed-revoked"})
    client = ended.client(on_unauthorized=lambda: messages.append(1))
    with pytest.raises(Unauthorized) as revoked:
        client.own_embed()
    assert revoked.value.reason == "embed-revoked"
    with pytest.raises(Unauthorized):
        client.revoke_embed("emb_1")
    assert messages == [1, 1]


def test_changes_are_never_retried() -> None:
    busy = Server(503, {"detail": "x"})
    with pytest.raises(Exception, match="unavailable"):
        busy.client().create_embed(DEFINITION)
    assert len(busy.requests) == 1

    def cut(request: httpx.Request) -> httpx.Response:
        wanted.append(request)
        raise httpx.ReadError("cut off")

    wanted: list[httpx.Request] = []
    http = httpx.Client(transport=httpx.MockTransport(cut), base_url="http://weir.example")
    with pytest.raises(Unreachable):
        Client(Transport(http, sleep=lambda _: None), "a-key").revoke_embed("emb_1")
    assert len(wanted) == 1


@cases(
    "change",
    [{"window": {}}, {"window": None}, {"devices": [1]}, {"id": 3}, {"created": "soon"},
     {"origins": "x"}, {"window": {"from": "2026-01-01"}}],
)  # fmt: skip
def test_a_malformed_embed_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(UnexpectedAnswer):
        Server(200, {**BODY, **change}).client().embed("emb_1")


def test_a_client_knows_where_its_server_is() -> None:
    assert Client.remote("https://weir.example").site == "https://weir.example"
    assert Client.remote("https://weir.example").as_principal("k").site == "https://weir.example"
    assert Client.in_process(lambda *_: []).site == ""
