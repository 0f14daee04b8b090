"""The client over networks and servers that misbehave."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from api.client import Client, Credential
from api.client import transport as module
from api.errors import (
    BadRequest,
    Forbidden,
    Internal,
    MethodNotAllowed,
    NotFound,
    ParameterProblem,
    ServiceError,
    TooManyRequests,
    Unauthorized,
    Unavailable,
    UnexpectedAnswer,
    Unreachable,
)
from tests.client.scripted import Script, Step
from tests.servers import free_port

VERSION = Step(b'{"version": "7"}')
HTML = "text/html; charset=utf-8"
PAGE = b"<html><body>Bad gateway</body></html>"


@pytest.fixture
def pauses() -> list[float]:
    """The pauses between attempts, in seconds, recorded instead of waited for."""
    return []


@pytest.fixture
def client(script: Script, pauses: list[float]) -> Iterator[Client]:
    http = httpx.Client(base_url=script.url, timeout=httpx.Timeout(0.4))
    asking = Client.remote(script.url, http=http, sleep=pauses.append)
    yield asking
    asking.close()


@pytest.mark.parametrize(
    "first",
    [
        pytest.param(Step(hang_up=True), id="the connection breaks before an answer"),
        pytest.param(Step(b'{"version": "7"}', cut_at=5), id="the body is cut off"),
        pytest.param(Step(PAGE, 502, HTML), id="a gateway finds nobody behind it"),
        pytest.param(Step(b"", 503), id="unavailable"),
        pytest.param(Step(PAGE, 504, HTML), id="a gateway's patience ends"),
        pytest.param(Step(b"", 429), id="too many requests"),
    ],
)
def test_a_temporary_fault_is_retried(
    client: Client, script: Script, pauses: list[float], first: Step
) -> None:
    script.play(first, VERSION)
    assert client.version() == "7"
    assert len(script.requests) == 2
    assert len(pauses) == 1
    assert 0.1 < pauses[0] < 0.3


def test_pauses_double_and_attempts_end(
    client: Client, script: Script, pauses: list[float]
) -> None:
    script.play(Step(b"", 503))
    with pytest.raises(Unavailable):
        client.version()
    assert len(script.requests) == module.ATTEMPTS == 3
    assert pauses[0] < pauses[1] < 0.6


def test_retry_after_is_honoured(client: Client, script: Script, pauses: list[float]) -> None:
    script.play(Step(b"", 429, headers={"Retry-After": "2"}), VERSION)
    assert client.version() == "7"
    assert pauses == [2.0]


@pytest.mark.parametrize("status", [429, 503])
def test_a_long_retry_after_is_reported_not_waited_for(
    client: Client, script: Script, pauses: list[float], status: int
) -> None:
    script.play(Step(b"", status, headers={"Retry-After": "30"}))
    with pytest.raises((TooManyRequests, Unavailable)) as caught:
        client.version()
    assert caught.value.retry_after_s == 30
    assert pauses == []


def test_a_slow_response_is_not_requested_twice(
    client: Client, script: Script, pauses: list[float]
) -> None:
    script.play(Step(delay_s=1.0))
    with pytest.raises(Unreachable, match="in time"):
        client.version()
    assert len(script.requests) == 1
    assert pauses == []


def test_a_closed_port_is_an_error(pauses: list[float]) -> None:
    client = Client.remote(f"http://127.0.0.1:{free_port()}", sleep=pauses.append)
    with pytest.raises(Unreachable, match="reached"):
        client.version()
    assert len(pauses) == 2


PROBLEMS = [
    (400, BadRequest),
    (401, Unauthorized),
    (403, Forbidden),
    (404, NotFound),
    (405, MethodNotAllowed),
    (500, Internal),
]


@pytest.mark.parametrize(("status", "kind"), PROBLEMS)
def test_a_problem_is_the_error_of_its_status(
    client: Client, script: Script, status: int, kind: type[ServiceError]
) -> None:
    problem = {
        "detail": "what is wrong",
        "instance": "abc",
        "errors": [{"parameter": "limit", "detail": "must be at least 1"}, "?"],
    }
    script.play(Step(json.dumps(problem).encode(), status, "application/problem+json"))
    with pytest.raises(kind) as caught:
        client.version()
    error = caught.value
    assert (error.detail, error.request_id) == ("what is wrong", "abc")
    assert error.errors == (ParameterProblem("limit", "must be at least 1"),)


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        (b'{"statusCode": 404, "message": "no such device"}', "no such device"),
        (b'{"message": ["a", "b"]}', ""),
        (b"", ""),
    ],
    ids=["another server's form", "a form that isn't text", "no body"],
)
def test_not_found_is_read_from_any_server(
    client: Client, script: Script, body: bytes, detail: str
) -> None:
    script.play(Step(body, 404))
    with pytest.raises(NotFound) as caught:
        client.version()
    assert caught.value.detail == detail


@pytest.mark.parametrize(
    "step",
    [
        pytest.param(Step(PAGE, 200, HTML), id="a page"),
        pytest.param(Step(b'{"version": ', 200), id="half a document"),
        pytest.param(Step(b"\xff\xfe", 200), id="bytes"),
        pytest.param(Step(b"[]", 200), id="another document"),
        pytest.param(Step(PAGE, 404, HTML), id="a proxy's own page for 404"),
        pytest.param(Step(PAGE, 500, HTML), id="a proxy's own page for 500"),
        pytest.param(Step(b"", 302, headers={"Location": "/login"}), id="a sign-in page elsewhere"),
        pytest.param(Step(b"{}", 418), id="a status outside the interface"),
    ],
)
def test_a_reply_outside_the_interface_is_an_error(
    client: Client, script: Script, step: Step
) -> None:
    script.play(step)
    with pytest.raises(UnexpectedAnswer):
        client.version()
    assert len(script.requests) == 1


# --- What is sent --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("credential", "header", "value"),
    [
        (Credential.key(" 3f2c-1 "), "service-api-key", "3f2c-1"),
        ("3f2c-1", "service-api-key", "3f2c-1"),
        (Credential.bearer("a.b.c"), "authorization", "Bearer a.b.c"),
    ],
)
def test_the_credential_is_the_one_of_the_settings(
    client: Client, script: Script, credential: Credential | str, header: str, value: str
) -> None:
    script.play(VERSION)
    somebody = client.as_principal(credential)
    somebody.version()
    client.version()
    assert script.requests[0][1][header] == value
    assert header not in script.requests[1][1]
    assert somebody.principal != client.principal == "nobody"
    assert value not in somebody.principal
    assert value not in repr(credential) or isinstance(credential, str)


@pytest.mark.parametrize("value", ["a\nb", "schlüssel", "a\x00"])
def test_a_credential_that_no_header_can_hold_is_refused(value: str) -> None:
    with pytest.raises(ValueError, match="ASCII"):
        Credential.key(value)


def test_many_threads_share_a_client(client: Client, script: Script) -> None:
    script.play(VERSION)
    answers: list[str] = []
    threads = [threading.Thread(target=lambda: answers.append(client.version())) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == ["7"] * 16


def test_a_remote_client_is_bounded() -> None:
    http = module.remote_http("http://127.0.0.1:1")
    assert http.timeout == httpx.Timeout(15, connect=3)
    assert http.trust_env is False
    assert not http.follow_redirects
    http.close()


def test_a_service_in_this_process_is_not_retried() -> None:
    """Its store is away: another attempt would only keep the caller waiting."""
    query: list[str] = []

    def away(environ: Any, start_response: Any) -> list[bytes]:
        query.append(environ["PATH_INFO"])
        start_response("503 AWAY", [("Retry-After", "1")])
        return [b""]

    with pytest.raises(Unavailable):
        Client.in_process(away).version()
    assert len(query) == 1
