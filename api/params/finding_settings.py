"""The parameters of queries for the settings of findings, and the body that changes them."""

from __future__ import annotations

from typing import Annotated, Any, cast

from pydantic import Field, PlainValidator, field_validator

from api.insight.findings import KIND_BY_NAME, Kind
from api.params.body_fields import optional
from api.params.body_parser import Body
from api.params.findings import printable
from api.params.param_types import Text
from api.params.queries import Query

ONE_OF: str = "can't be given together with device"


class FindingSettingsQuery(Query):
    device: Text = Field(None, description="Those in effect for this device, by any identifier.")
    group: Text = Field(None, description="Those in effect for this group, instead of a device.")

    @field_validator("group")
    @classmethod
    def _not_both(cls, value: str | None, info: Any) -> str | None:
        return _alone(value, info)


def _alone(value: str | None, info: Any) -> str | None:
    if value is not None and info.data.get("device") is not None:
        raise ValueError(ONE_OF)
    return value


def _kind(value: Any) -> Kind:
    kind = KIND_BY_NAME.get(value) if isinstance(value, str) else None
    if kind is None:
        raise ValueError(f"must be one of {', '.join(KIND_BY_NAME)}")
    return kind


def _values(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError("must be an object of settings")
    return cast(dict[str, Any], value)


class FindingSettingsBody(Body):
    device: Annotated[str | None, optional(printable)] = None
    group: Annotated[str | None, optional(printable)] = None
    kind: Annotated[Kind, PlainValidator(_kind)]
    values: Annotated[dict[str, Any], PlainValidator(_values)] = Field(alias="set")

    @field_validator("group")
    @classmethod
    def _not_both(cls, value: str | None, info: Any) -> str | None:
        return _alone(value, info)
