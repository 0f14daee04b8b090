"""The external issuer's key set: which keys are used, how often it is fetched, and outages."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from api.auth.keyset import LIFETIME_S, MAX_BYTES, OUTAGE_S, RETRY_S, KeySet, usable_keys
from api.errors import Unavailable
from tests.auth.directory import Clock
from tests.auth.test_tokens import KEYS, jwk
from tests.tables import cases

RSA = KEYS["RS256"]


@dataclass
class Issuer:
    """A real HTTP server of a key set on loopback. ``status`` and ``body`` may change while it
    runs."""

    url: str
    body: bytes = b""
    status: int = 200
    requests: list[str] = field(default_factory=list[str])

    def serve(self, *kids: str) -> None:
        self.body = json.dumps({"keys": [jwk("RS256", RSA, kid) for kid in kids]}).encode()


@contextmanager
def issuer() -> Iterator[Issuer]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            shown.requests.append(self.path)
            self.send_response(shown.status)
            self.send_header("Content-Length", str(len(shown.body)))
            if shown.status == 302:
                self.send_header("Location", f"{shown.url}/elsewhere")
            self.end_headers()
            self.wfile.write(shown.body)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    shown = Issuer(f"http://127.0.0.1:{server.server_port}")
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield shown
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture
def theirs() -> Iterator[Issuer]:
    with issuer() as shown:
        shown.serve("k1")
        yield shown


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_a_set_is_fetched_once_and_cached(theirs: Issuer, clock: Clock) -> None:
    keys = KeySet(f"{theirs.url}/jwks", "RS256", clock.seconds)
    assert theirs.requests == []
    for _ in range(10):
        assert keys.key("k1") is not None
    assert theirs.requests == ["/jwks"]
    clock.at_s += LIFETIME_S + 1
    assert keys.key("k1") is not None
    assert len(theirs.requests) == 2


def test_a_new_key_is_fetched_but_unknown_ids_cannot_force_many_fetches(
    theirs: Issuer, clock: Clock
) -> None:
    keys = KeySet(theirs.url, "RS256", clock.seconds)
    keys.key("k1")
    theirs.serve("k1", "k2")
    for _ in range(50):
        assert keys.key("k2") is None
    assert len(theirs.requests) == 1
    clock.at_s += RETRY_S
    assert keys.key("k2") is not None
    for number in range(50):
        assert keys.key(f"made up {number}") is None
    assert len(theirs.requests) == 2


def test_a_withdrawn_key_stops_working_after_the_set_s_lifetime(
    theirs: Issuer, clock: Clock
) -> None:
    keys = KeySet(theirs.url, "RS256", clock.seconds)
    assert keys.key("k1") is not None
    theirs.serve("k2")
    clock.at_s += LIFETIME_S + 1
    assert keys.key("k1") is None


@pytest.mark.parametrize("fault", ["500", "302", "not json", "no set", "huge"])
def test_the_last_good_set_serves_through_a_short_outage(
    theirs: Issuer, clock: Clock, fault: str
) -> None:
    keys = KeySet(theirs.url, "RS256", clock.seconds)
    keys.key("k1")
    theirs.status = int(fault) if fault.isdigit() else 200
    theirs.body = {"no set": b'{"a":1}', "huge": b" " * (MAX_BYTES + 1)}.get(fault, b"<html>")
    for _ in range(3):
        clock.at_s += LIFETIME_S + 1
        assert keys.key("k1") is not None
    clock.at_s += OUTAGE_S
    with pytest.raises(Unavailable):
        keys.key("k1")
    theirs.status = 200
    theirs.serve("k1")
    clock.at_s += RETRY_S
    assert keys.key("k1") is not None
    assert set(theirs.requests) == {"/"}  # a redirect isn't followed


@pytest.mark.parametrize("source", ["http://127.0.0.1:9/jwks", "nowhere/keys.json"])
def test_without_a_key_set_tokens_cannot_be_verified(clock: Clock, source: str) -> None:
    keys = KeySet(source, "RS256", clock.seconds)
    for _ in range(2):
        with pytest.raises(Unavailable) as caught:
            keys.key("k1")
        assert caught.value.retry_after_s == RETRY_S


def test_a_file_is_read_again_like_a_url(tmp_path: Path, clock: Clock) -> None:
    path = tmp_path / "keys.json"
    path.write_text(json.dumps({"keys": [jwk("RS256", RSA, "a")]}))
    keys = KeySet(str(path), "RS256", clock.seconds)
    assert keys.key("a") is not None
    path.write_text(json.dumps({"keys": [jwk("RS256", RSA, "b")]}))
    clock.at_s += RETRY_S
    assert keys.key("b") is not None


ECDSA = KEYS["ES256"]
UNUSABLE = {
    "for encryption": jwk("RS256", RSA, use="enc"),
    "for another algorithm": jwk("RS256", RSA, alg="RS512"),
    "of another kind": jwk("ES256", ECDSA),
    "a shared secret": {"kty": "oct", "kid": "k1", "k": "c2VjcmV0"},
    "too short": jwk("RS256", rsa.generate_private_key(public_exponent=65537, key_size=1024)),
    "broken": {"kty": "RSA", "kid": "k1", "n": "!", "e": "AQAB"},
    "empty": {},
}


@cases("entry", UNUSABLE.values())
def test_unsuitable_keys_are_left_out(entry: dict[str, Any]) -> None:
    document = json.dumps({"keys": [entry, jwk("RS256", RSA, "good", use="sig", alg="RS256")]})
    assert set(usable_keys(document.encode(), "RS256")) == {"good"}


def test_a_curve_must_match_the_algorithm() -> None:
    other = jwk("ES256", ec.generate_private_key(ec.SECP384R1()), "p384")
    document = json.dumps({"keys": [other, jwk("ES256", ECDSA, "p256")]})
    assert set(usable_keys(document.encode(), "ES256")) == {"p256"}


def test_without_a_kid_the_set_must_hold_exactly_one_key(theirs: Issuer, clock: Clock) -> None:
    assert KeySet(theirs.url, "RS256", clock.seconds).key(None) is not None
    theirs.serve("k1", "k2")
    assert KeySet(theirs.url, "RS256", clock.seconds).key(None) is None
