"""Parses the JSON body of a request into its model, or into all of its problems at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

import orjson
from pydantic import BaseModel, ConfigDict, ValidationError

from api.errors import BadRequest, invalid_fields

B = TypeVar("B", bound="Body")


class Body(BaseModel):
    """Fields are checked by Weir's own parsers, which raise ValueError with a message for the
    caller."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def read_body(model: type[B], body: bytes) -> B:
    """Parses the body; an empty one is an empty object. Raises BadRequest naming each bad, missing
    or unknown field."""
    try:
        fields: Any = orjson.loads(body or b"{}")
    except orjson.JSONDecodeError:
        raise BadRequest("The body is not valid JSON.") from None
    if not isinstance(fields, dict):
        raise BadRequest("The body must be a JSON object.")
    return checked(model, cast(dict[str, Any], fields))


def checked(model: type[B], fields: Mapping[str, Any]) -> B:
    """Checks an object against the model. Raises BadRequest as `read_body` does."""
    try:
        return model.model_validate(dict(fields))
    except ValidationError as error:
        raise _bad_request(error) from None


def _bad_request(error: ValidationError) -> BadRequest:
    """Returns each field's first problem in Weir's own words; pydantic's would echo the value."""
    problems: dict[str, str] = {}
    for detail in error.errors(include_url=False, include_input=False):
        where = detail["loc"]
        name = str(where[0])[:80] if where else "body"
        problems.setdefault(name, _words(detail["type"], detail.get("ctx", {})))
    return invalid_fields(**{name: problems[name] for name in sorted(problems)})


def _words(kind: str, context: dict[str, Any]) -> str:
    if kind == "missing":
        return "is required"
    if kind == "extra_forbidden":
        return "is not a field of this request"
    return str(context.get("error", "is invalid"))
