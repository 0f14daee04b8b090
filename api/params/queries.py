"""One model per endpoint: the parameters of its query. Names and descriptions appear in the
document."""

from __future__ import annotations

from typing import Final

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    ValidationInfo,
    field_validator,
)
from pydantic.fields import FieldInfo
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticUndefined

from api import timez
from api.catalog import (
    DAY_MS,
    DEVICE_ORDER_DEFAULT,
    LATEST_WINDOW_MS,
    LIMIT,
    MAX_DATAPOINTS,
    OFFSET,
    UPTIME_DEFAULT,
    Limit,
    Resolution,
)
from api.domain.filters import parse_filter
from api.params.param_types import (
    Active,
    AnyResolution,
    Budget,
    Conditions,
    DeviceLimit,
    Flag,
    Identifiers,
    Instant,
    LatestMetrics,
    Offset,
    OptionalInstant,
    Order,
    OrderBy,
    PageLimit,
    Reads,
    StoredResolution,
    Text,
    Zone,
)
from api.store.base import Condition

_FROM = "Inclusive lower bound on the bucket's start or on recorded_at."
_TO = "Inclusive upper bound on the bucket's start or on recorded_at."
_ZONE = (
    "IANA time zone name: stamps are wall clock in it, days and months are cut at its midnights."
)


class Query(BaseModel):
    """A query without parameters; the base of all others."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """Returns the schema of the fields, with defaults as a request would write them."""
        described = handler(schema)
        for name, field in cls.model_fields.items():
            shown = described["properties"][field.alias or name]
            for leftover in ("title", "default"):
                shown.pop(leftover, None)
            if field.default not in (PydanticUndefined, None, ()):
                shown["default"] = reads(field).show(field.default)
        return described


def reads(field: FieldInfo) -> Reads:
    """Returns how a field's text is parsed."""
    return next(part for part in field.metadata if isinstance(part, Reads))


def _default(limit: Limit) -> int:
    """Returns the default of a parameter."""
    assert limit.default is not None
    return limit.default


def in_order(from_ms: int | None, info: ValidationInfo) -> int | None:
    """Checks the order. Fields are checked in turn, so ``to`` is known here where it was valid
    itself."""
    to_ms: int | None = info.data.get("to_ms")
    if from_ms is not None and to_ms is not None and from_ms > to_ms:
        raise ValueError("must not be after to")
    return from_ms


MOST_DAYS: Final = 400


def not_too_long(from_ms: int, info: ValidationInfo) -> int:
    """Checks the span of a query that reads every hour or day of it."""
    to_ms: int | None = info.data.get("to_ms")
    if to_ms is not None and to_ms - from_ms > MOST_DAYS * DAY_MS:
        raise ValueError(f"must be at most {MOST_DAYS} days before to")
    return from_ms


class DeviceListQuery(Query):
    limit: DeviceLimit = Field(None, description="The most devices to return. Default: all.")
    offset: Offset = Field(_default(OFFSET), description="Devices to skip.")
    descending: Order = Field(
        False, alias="order", description="asc or desc, in upper or lower case."
    )
    order_by: OrderBy = Field(
        DEVICE_ORDER_DEFAULT, alias="orderBy", description="The field to sort by."
    )
    pagination: Flag = Field(
        False, description="true: an object with data and total; else an array."
    )
    serial_number: Text = Field(
        None, alias="serialNumber", description="Only the device with exactly this serial number."
    )
    network_unique_identifier: Text = Field(
        None,
        alias="networkUniqueIdentifier",
        description="Only the device with exactly this network identifier.",
    )
    active: Active = Field(
        True, description="true: active devices; false: inactive ones; null: both."
    )


class DatapointsQuery(Query):
    resolution: AnyResolution = Field(description="The bucket length of the rows.")
    to_ms: OptionalInstant = Field(None, alias="to", description=_TO)
    from_ms: OptionalInstant = Field(None, alias="from", description=_FROM)
    limit: PageLimit = Field(_default(LIMIT), description="Rows per page.")
    offset: Offset = Field(_default(OFFSET), description="Rows to skip.")
    count: Flag = Field(
        False, description="true: return only the resolution and the number of rows."
    )
    timezone: Zone = Field(None, description=_ZONE)
    filter: Conditions = Field(
        (),
        description="field:op:value, repeatable; all must hold. On aggregated resolutions an"
        " unprefixed field means its average. A null never matches.",
    )

    _from_before_to = field_validator("from_ms")(in_order)

    @field_validator("filter")
    @classmethod
    def _for_the_resolution(
        cls, texts: tuple[str, ...], info: ValidationInfo
    ) -> tuple[Condition, ...]:
        resolution: Resolution | None = info.data.get("resolution")
        aggregated = resolution and resolution.aggregated
        return tuple(parse_filter(text, aggregated=aggregated) for text in texts)


class AdaptiveQuery(Query):
    to_ms: Instant = Field(alias="to", description=_TO)
    from_ms: Instant = Field(alias="from", description=_FROM)
    max_datapoints: Budget = Field(
        _default(MAX_DATAPOINTS),
        alias="maxDatapoints",
        description="The most rows to return.",
    )
    timezone: Zone = Field(None, description="IANA time zone name: stamps are wall clock in it.")

    _from_before_to = field_validator("from_ms")(in_order)


class LatestQuery(Query):
    ids: Identifiers = Field(
        description="Device identifiers, comma-separated: UUIDs, serial numbers and"
        " networkUniqueIdentifiers may be mixed.",
    )
    metrics: LatestMetrics = Field(description="What to return for each device.")
    to_ms: Instant = Field(
        default_factory=timez.now_ms, alias="to", description=f"{_TO} Default: now."
    )
    from_ms: OptionalInstant = Field(
        None,
        alias="from",
        description=f"{_FROM} Default: {LATEST_WINDOW_MS // timez.HOUR_MS} hours before to.",
    )
    uptime_resolution: StoredResolution = Field(
        UPTIME_DEFAULT,
        alias="uptimeResolution",
        description="The bucket length that uptime counts.",
    )

    _from_before_to = field_validator("from_ms")(in_order)

    @property
    def start_ms(self) -> int:
        """Returns the start of the window: as requested, else its default length before its end."""
        if self.from_ms is not None:
            return self.from_ms
        return max(timez.FIRST_INSTANT_MS, self.to_ms - LATEST_WINDOW_MS)
