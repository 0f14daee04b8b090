"""The parameters of a request that sends readings, besides its body."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import Field

from api.params.param_types import one_of
from api.params.queries import Query

RESULTS: Final = {"exceptions": False, "all": True}


class IntakeQuery(Query):
    every: Annotated[bool, one_of(RESULTS)] = Field(
        False, alias="results", description="Which rows the response lists: exceptions or all."
    )
