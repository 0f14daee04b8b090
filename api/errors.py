"""The tree of errors: nouns with a status.

::

    WeirError
    ├── ServiceError                 has an HTTP status; rendered as problem+json in one place
    │   ├── BadRequest          400  names every bad parameter at once
    │   ├── Unauthorized        401  no credential, or one that is unknown, expired or revoked
    │   ├── Forbidden           403  the Key ID was sent, or a token's scope is too small
    │   ├── NotFound            404  outside the scope of the credential, or no such path
    │   ├── MethodNotAllowed    405
    │   ├── NotAcceptable       406  an Accept header that rules JSON out
    │   ├── RequestTimeout      408  a body that took too long to arrive
    │   ├── Conflict            409  the object's state doesn't allow the request
    │   ├── TooLarge            413  a body larger than the limit
    │   ├── WrongType           415  a body of an unsupported type or coding
    │   ├── TooManyRequests     429  carries retry_after_s
    │   │   └── Busy            429  the queue of the writer is full
    │   ├── Internal            500
    │   └── Unavailable         503  the store is unavailable; carries retry_after_s
    │       ├── StoreMissing    503
    │       └── StoreDamaged    503  the stored data is corrupt
    ├── Unreachable                  the client got no response: refused, timed out, cut off
    ├── UnexpectedAnswer             the client got a response that isn't of this interface
    ├── NotOffered                   the server lacks what the client needs
    ├── ConfigurationError           a setting that stops the start; names the setting
    └── UserError                    a command can't be carried out; one clear line

Errors are raised where they occur and rendered at the edges: `api/server` for HTTP, `api/commands`
for the command line, the dashboard's error states for people.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Final


class WeirError(Exception):
    """The root of Weir's own errors."""


PROBLEM_TYPE: Final = "application/problem+json"


@dataclass(frozen=True, slots=True)
class ParameterProblem:
    """One parameter and what is wrong with it."""

    parameter: str
    detail: str


@dataclass(eq=False)
class ServiceError(WeirError):
    """An error response of the service. ``detail`` is for people, never a secret; ``reason`` lets
    programs distinguish errors with the same status and title."""

    detail: str = ""
    retry_after_s: float | None = None
    challenges: tuple[str, ...] = ()
    request_id: str | None = None
    errors: tuple[ParameterProblem, ...] = field(default=())
    reason: str | None = None

    status: ClassVar[int] = 500
    code: ClassVar[str] = "internal"
    title: ClassVar[str] = "Internal error"

    def __str__(self) -> str:
        problems = "; ".join(f"{e.parameter}: {e.detail}" for e in self.errors)
        return " ".join(part for part in (self.title + ".", self.detail, problems) if part)


class BadRequest(ServiceError):
    status, code, title = 400, "bad-request", "Bad request"


def invalid_fields(**problems: str) -> BadRequest:
    """Returns a BadRequest for some fields of a body, each with its problem."""
    listed = tuple(ParameterProblem(name, words) for name, words in problems.items())
    return BadRequest("Some fields are invalid; errors lists them.", errors=listed)


class Unauthorized(ServiceError):
    status, code, title = 401, "unauthorized", "Unauthorized"


class Forbidden(ServiceError):
    status, code, title = 403, "forbidden", "Forbidden"


class NotFound(ServiceError):
    status, code, title = 404, "not-found", "Not found"


class MethodNotAllowed(ServiceError):
    status, code, title = 405, "method-not-allowed", "Method not allowed"


class NotAcceptable(ServiceError):
    status, code, title = 406, "not-acceptable", "Not acceptable"


class RequestTimeout(ServiceError):
    status, code, title = 408, "request-timeout", "Request timeout"


class Conflict(ServiceError):
    status, code, title = 409, "conflict", "Conflict"


class TooLarge(ServiceError):
    status, code, title = 413, "too-large", "Too large"


class WrongType(ServiceError):
    status, code, title = 415, "wrong-type", "Wrong type"


class TooManyRequests(ServiceError):
    status, code, title = 429, "too-many-requests", "Too many requests"


class Busy(TooManyRequests):
    code, title = "busy", "Busy"


class Internal(ServiceError):
    status, code, title = 500, "internal", "Internal error"


class Unavailable(ServiceError):
    status, code, title = 503, "unavailable", "Service unavailable"


class StoreMissing(Unavailable):
    code, title = "store-missing", "The store is missing"


class StoreDamaged(Unavailable):
    code, title = "store-damaged", "The store is damaged"


class Unreachable(WeirError):
    """The client got no response: connection refused, timed out, or cut off."""


class UnexpectedAnswer(WeirError):
    """A response that isn't of this interface (HTML from a proxy, a broken body)."""


class NotOffered(WeirError):
    """The server has the interface, but not Weir's extensions (embeds)."""


class ConfigurationError(WeirError):
    """A setting with a bad value. The message is one line and names the setting."""


class UserError(WeirError):
    """A command can't be carried out. The message is one line."""


STATUS_ERRORS: dict[int, type[ServiceError]] = {
    error.status: error
    for error in (
        BadRequest,
        Unauthorized,
        Forbidden,
        NotFound,
        MethodNotAllowed,
        NotAcceptable,
        RequestTimeout,
        Conflict,
        TooLarge,
        WrongType,
        TooManyRequests,
        Internal,
        Unavailable,
    )
}
