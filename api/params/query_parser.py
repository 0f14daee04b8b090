"""Parses a query string into its model, or into all of its problems at once."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from api.errors import BadRequest, ParameterProblem
from api.params.queries import reads

Q = TypeVar("Q", bound=BaseModel)

IGNORED_PREFIX = "_"


def read(model: type[Q], pairs: Iterable[tuple[str, str]]) -> Q:
    """Parses the query. Raises BadRequest naming each bad, missing, empty, repeated or unknown
    parameter; ignores names that start with an underscore."""
    values: dict[str, Any] = {}
    problems: dict[str, str] = {}
    parameters = _parameters(model)
    for name, text in pairs:
        if name.startswith(IGNORED_PREFIX):
            continue
        if name not in parameters:
            problems[name] = "is not a parameter of this endpoint"
        elif not text:
            problems[name] = "is empty"
        elif parameters[name]:
            values.setdefault(name, []).append(text)
        elif name in values:
            problems[name] = "is given more than once"
        else:
            values[name] = text
    try:
        query = model.model_validate(values)
    except ValidationError as error:
        raise _bad_request(_problems(error) | problems) from None
    if problems:
        raise _bad_request(problems)
    return query


@cache
def _parameters(model: type[BaseModel]) -> dict[str, bool]:
    """Returns each parameter's name, and whether it may be repeated."""
    return {field.alias or name: reads(field).many for name, field in model.model_fields.items()}


def _problems(error: ValidationError) -> dict[str, str]:
    """Returns each parameter's problem in Weir's own words; pydantic's would echo the value."""
    return {
        str(detail["loc"][0]): "is required"
        if detail["type"] == "missing"
        else str(detail.get("ctx", {})["error"])
        for detail in error.errors(include_url=False, include_input=False)
    }


def _bad_request(problems: dict[str, str]) -> BadRequest:
    listed = tuple(ParameterProblem(name[:80], problems[name]) for name in sorted(problems))
    return BadRequest("Some parameters are invalid; errors lists them.", errors=listed)
