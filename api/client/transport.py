"""Sends one request to the service: bounded in time and number, with typed errors. A GET is retried
where that helps."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

import httpx
import orjson

from api.catalog import BACKEND_VERSION
from api.errors import (
    STATUS_ERRORS,
    ParameterProblem,
    ServiceError,
    Unavailable,
    UnexpectedAnswer,
    Unreachable,
    WeirError,
)

CONNECT_TIMEOUT_S: Final = 3.0
READ_TIMEOUT_S: Final = 15.0
MAX_CONNECTIONS: Final = 20
REMOTE_WIDTH: Final = 8
IN_PROCESS_WIDTH: Final = 2  # one thread computes while another waits for the store
ATTEMPTS: Final = 3
IN_PROCESS_ATTEMPTS: Final = 1  # nothing that a retry could fix: the store would respond the same
FIRST_PAUSE_S: Final = 0.2  # seconds; doubles with each attempt, with jitter
LONGEST_PAUSE_S: Final = 2.0  # seconds; a longer Retry-After is reported: pages refresh anyway

_SUCCESSES: Final = frozenset((200, 201))
_RETRIED_STATUSES: Final = frozenset((429, 502, 503, 504))
_GATEWAY_STATUSES: Final = frozenset((502, 503, 504))
# A GET may be retried when its connection failed. A read that timed out may not: the service is
# still working on it, and a retry would make it busier.
_RETRIED_FAILURES: Final = (
    httpx.ConnectError,
    httpx.ConnectTimeout,
    httpx.ReadError,
    httpx.WriteError,
    httpx.RemoteProtocolError,
)

Params = Mapping[str, str | list[str]]


def remote_http(base_url: str) -> httpx.Client:
    """Returns a pool of connections to a server of the interface."""
    return httpx.Client(
        base_url=base_url,
        timeout=httpx.Timeout(READ_TIMEOUT_S, connect=CONNECT_TIMEOUT_S),
        limits=httpx.Limits(
            max_connections=MAX_CONNECTIONS, max_keepalive_connections=MAX_CONNECTIONS
        ),
        headers={"User-Agent": f"weir/{BACKEND_VERSION}"},
        trust_env=False,  # a proxy variable of the machine must not receive the key
    )


def in_process_http(app: Any) -> httpx.Client:
    """Returns the same for a WSGI application of this process: no socket, no compression."""
    return httpx.Client(
        transport=httpx.WSGITransport(app=app),
        base_url="http://weir.invalid",
        headers={"User-Agent": f"weir/{BACKEND_VERSION}", "Accept-Encoding": "identity"},
    )


@dataclass(frozen=True, slots=True)
class Forwarded:
    """A response of the service, passed on unread."""

    status: int
    content_type: str
    body: bytes


@dataclass(frozen=True, slots=True)
class Transport:
    """Sends requests. Thread-safe. ``sleep`` waits between attempts; ``width`` is how many
    concurrent requests are useful; ``site`` is the server's address, "" in this process;
    ``attempts`` is how often a GET is sent before its failure is raised."""

    http: httpx.Client
    sleep: Callable[[float], None] = time.sleep
    width: int = REMOTE_WIDTH
    site: str = ""
    attempts: int = ATTEMPTS

    def get(self, path: str, params: Params, headers: Mapping[str, str]) -> Any:
        """Returns the body of a 200, as parsed JSON.

        Raises a ServiceError for an error response, Unreachable without a response,
        UnexpectedAnswer where it isn't JSON of the interface.
        """
        pauses = _pauses(self.attempts - 1)
        for attempt, pause in enumerate((*pauses, 0.0), start=1):
            last, wanted = attempt == self.attempts, None
            try:
                answer = self.http.get(path, params=params, headers=headers)
            except (httpx.HTTPError, httpx.InvalidURL) as error:
                if last or not isinstance(error, _RETRIED_FAILURES):
                    raise _unreachable(error) from error
            else:
                wanted = _retry_after(answer)
                too_long = wanted is not None and wanted > LONGEST_PAUSE_S
                if last or too_long or answer.status_code not in _RETRIED_STATUSES:
                    return _body(answer)
            self.sleep(pause if wanted is None else wanted)
        raise AssertionError("the last attempt returns or raises")

    def send(
        self, method: str, path: str, headers: Mapping[str, str], body: Mapping[str, Any]
    ) -> Any:
        """Returns the body of a success, as parsed JSON. Sent once: a change must not be made twice
        because its response was lost. Raises as `get` does."""
        with_type = {**headers, "Content-Type": "application/json"}
        try:
            answer = self.http.request(method, path, content=orjson.dumps(body), headers=with_type)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise _unreachable(error) from error
        return _body(answer)

    def forward(
        self, method: str, path: str, params: Params, headers: Mapping[str, str], content: bytes
    ) -> Forwarded:
        """Returns a response unchanged, errors included. Sent once. Raises Unreachable."""
        try:
            answer = self.http.request(
                method, path, params=params, content=content, headers=headers
            )
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise _unreachable(error) from error
        kind = answer.headers.get("Content-Type", "")
        return Forwarded(answer.status_code, kind, answer.content)


def _pauses(count: int) -> list[float]:
    """Returns the pauses between attempts; jitter keeps many dashboards from retrying in step."""
    return [FIRST_PAUSE_S * 2**n * random.uniform(0.75, 1.25) for n in range(count)]


def _retry_after(answer: httpx.Response) -> float | None:
    """Returns Retry-After in seconds. Its other form, a date, is left to the backoff."""
    text = answer.headers.get("Retry-After", "")
    return float(text) if text.isascii() and text.isdigit() else None


def _unreachable(error: Exception) -> Unreachable:
    if isinstance(error, httpx.TimeoutException):
        return Unreachable("The service didn't respond in time.")
    if isinstance(error, httpx.ConnectError):
        return Unreachable("The service can't be reached.")
    return Unreachable("The connection to the service was lost.")


def _body(answer: httpx.Response) -> Any:
    if answer.status_code not in _SUCCESSES:
        raise _error(answer)
    if "json" not in answer.headers.get("Content-Type", ""):
        raise UnexpectedAnswer(f"The response is {_content_type(answer)}, not JSON.")
    try:
        return orjson.loads(answer.content)
    except orjson.JSONDecodeError:
        raise UnexpectedAnswer("The response is not valid JSON.") from None


def _content_type(answer: httpx.Response) -> str:
    return answer.headers.get("Content-Type", "without a content type").split(";")[0][:80]


def _error(answer: httpx.Response) -> WeirError:
    """Reads an error. The interface doesn't define the body of an error: problem+json is read
    whole, other JSON for its message. An error page of a proxy is not a response of the service."""
    problem = _problem(answer)
    kind = STATUS_ERRORS.get(answer.status_code)
    if kind is None and answer.status_code in _GATEWAY_STATUSES:
        kind = Unavailable
    foreign = problem is None and answer.content.strip() and kind is not Unavailable
    if kind is None or foreign:
        return UnexpectedAnswer(
            f"The service responded {answer.status_code} with {_content_type(answer)}."
        )
    return _service_error(kind, problem or {}, _retry_after(answer))


def _problem(answer: httpx.Response) -> dict[str, Any] | None:
    try:
        body = orjson.loads(answer.content)
    except orjson.JSONDecodeError:
        return None
    return cast(dict[str, Any], body) if isinstance(body, dict) else None


def _service_error(
    kind: type[ServiceError], problem: Mapping[str, Any], retry_after_s: float | None
) -> ServiceError:
    detail = problem.get("detail") or problem.get("message") or ""
    request_id, reason = problem.get("instance"), problem.get("reason")
    return kind(
        detail=detail if isinstance(detail, str) else "",
        retry_after_s=retry_after_s,
        request_id=request_id if isinstance(request_id, str) else None,
        errors=tuple(_parameter_problems(problem.get("errors"))),
        reason=reason if isinstance(reason, str) else None,
    )


def _parameter_problems(errors: Any) -> list[ParameterProblem]:
    listed = cast(list[Any], errors) if isinstance(errors, list) else []
    objects = [cast(dict[str, Any], e) for e in listed if isinstance(e, dict)]
    return [ParameterProblem(str(e.get("parameter")), str(e.get("detail"))) for e in objects]
