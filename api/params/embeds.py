"""The parameters of an embed, field by field."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any, Final, cast

from pydantic import Field, PlainValidator, ValidationInfo, field_validator

from api.catalog import (
    CHARTS,
    DEVICE_ZONE,
    EMBED_COMPARISONS,
    EMBED_CONTROLS,
    EMBED_MAX_ORIGINS,
    EMBED_THEMES,
    EMBED_TITLE_LENGTH,
    EMBED_TOKEN_S,
    EMBED_VIEW_BY_NAME,
    EMBED_WINDOW_S,
    TILE_WINDOWS_S,
    UNIT_SYSTEMS,
    EmbedView,
    Limit,
)
from api.embeds import LONGEST_WINDOW_MS, USUAL_WINDOW, EmbedDefinition, Fixed, Rolling
from api.params.body_fields import flag, instant, one_line, optional, zone_name
from api.params.body_parser import Body
from api.params.origins import origin

_LONGEST_IDENTIFIER: Final = 200


def _one_of(words: Sequence[str]) -> Callable[[Any], str]:
    def parse(value: Any) -> str:
        if not isinstance(value, str) or value not in words:
            raise ValueError(f"must be one of {', '.join(words)}")
        return value

    return parse


def _texts(value: Any, most: int, what: str) -> list[str]:
    listed = cast(list[Any], value) if isinstance(value, list) else None
    if listed is None or not all(isinstance(each, str) for each in listed):
        raise ValueError(f"must be a list of {what}")
    if len(listed) > most:
        raise ValueError(f"has {len(listed)} entries; at most {most} are allowed")
    return cast(list[str], listed)


def _view(value: Any) -> EmbedView:
    return EMBED_VIEW_BY_NAME[_one_of(tuple(EMBED_VIEW_BY_NAME))(value)]


def _devices(value: Any) -> tuple[str, ...]:
    most = max(view.most_devices for view in EMBED_VIEW_BY_NAME.values())
    texts = _texts(value, most, "device identifiers")
    if not texts:
        raise ValueError("must name a device")
    if not all(0 < len(text) <= _LONGEST_IDENTIFIER for text in texts):
        raise ValueError("has an empty or too long entry")
    return tuple(texts)


def _origins(value: Any) -> tuple[str, ...]:
    return tuple(dict.fromkeys(map(origin, _texts(value, EMBED_MAX_ORIGINS, "origins"))))


def _controls(value: Any) -> tuple[str, ...]:
    chosen = _texts(value, len(EMBED_CONTROLS), "controls")
    if unknown := [text for text in chosen if text not in EMBED_CONTROLS]:
        choices = ", ".join(EMBED_CONTROLS)
        raise ValueError(f"{unknown[0][:40]!r} is not a control; the controls are {choices}")
    return tuple(text for text in EMBED_CONTROLS if text in chosen)


def _zone(value: Any) -> str:
    if value == DEVICE_ZONE:
        return DEVICE_ZONE
    try:
        return zone_name(value)
    except ValueError as error:
        raise ValueError(f"{error}, or {DEVICE_ZONE} for each device's own zone") from None


def _seconds(limit: Limit) -> Callable[[Any], int]:
    def parse(value: Any) -> int:
        if type(value) not in (int, float) or value != value // 1:
            raise ValueError("must be a whole number of seconds")
        if not limit.minimum <= value <= (limit.maximum or value):
            raise ValueError(f"must be from {limit.minimum} to {limit.maximum} seconds")
        return int(value)

    return parse


def _window(value: Any) -> Rolling | Fixed:
    fields = cast(dict[str, Any], value if isinstance(value, dict) else {})
    if fields.keys() == {"last"}:
        return Rolling(_seconds(EMBED_WINDOW_S)(fields["last"]))
    if fields.keys() != {"from", "to"}:
        raise ValueError('must be {"last": seconds} or {"from": instant, "to": instant}')
    window = Fixed(instant(fields["from"]), instant(fields["to"]))
    if window.from_ms >= window.to_ms:
        raise ValueError("must end after it starts")
    if window.to_ms - window.from_ms > LONGEST_WINDOW_MS:
        raise ValueError("must not be longer than five years")
    return window


def _maybe_metric(value: Any) -> str | None:
    return None if value is None else _one_of(CHARTS)(value)


def _comparison(value: Any) -> str:
    return "" if value is None else _one_of(EMBED_COMPARISONS)(value)


class EmbedBody(Body):
    """The body of `POST /embeds/v1/embeds`; fields that aren't sent have the defaults of
    `api.embeds`."""

    view: Annotated[EmbedView, PlainValidator(_view)]
    devices: Annotated[tuple[str, ...], PlainValidator(_devices)]
    metric: Annotated[str | None, PlainValidator(_maybe_metric)] = None
    origins: Annotated[tuple[str, ...], PlainValidator(_origins)] = ()
    window: Annotated[Rolling | Fixed, PlainValidator(_window)] = USUAL_WINDOW
    zone: Annotated[str, PlainValidator(_zone)] = DEVICE_ZONE
    units: Annotated[str, PlainValidator(_one_of(UNIT_SYSTEMS))] = ""
    theme: Annotated[str, PlainValidator(_one_of(EMBED_THEMES))] = EMBED_THEMES[0]
    controls: Annotated[tuple[str, ...], PlainValidator(_controls)] = ()
    notes: Annotated[bool, PlainValidator(flag)] = False
    compare: Annotated[str, PlainValidator(_comparison)] = ""
    title: Annotated[str, PlainValidator(one_line(EMBED_TITLE_LENGTH))] = ""
    expires_ms: Annotated[int | None, optional(instant)] = Field(None, alias="expires")

    @field_validator("devices")
    @classmethod
    def _as_many_as_it_shows(cls, ids: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        view: EmbedView | None = info.data.get("view")
        if view is not None and len(ids) > view.most_devices:
            raise ValueError(f"has {len(ids)} devices; a {view.name} shows {view.most_devices}")
        return ids

    @field_validator("metric")
    @classmethod
    def _of_a_chart(cls, metric: str | None, info: ValidationInfo) -> str | None:
        view: EmbedView | None = info.data.get("view")
        if view is not None and metric is not None and not view.metric:
            raise ValueError(f"is a chart's; a {view.name} has none")
        return metric

    @field_validator("compare")
    @classmethod
    def _with_a_chart(cls, compare: str, info: ValidationInfo) -> str:
        view: EmbedView | None = info.data.get("view")
        if view is not None and compare and not view.metric:
            raise ValueError(f"is a chart's; a {view.name} has none")
        return compare

    @field_validator("window")
    @classmethod
    def _that_tiles_have(cls, window: Rolling | Fixed, info: ValidationInfo) -> Rolling | Fixed:
        view: EmbedView | None = info.data.get("view")
        if view is None or view.metric:
            return window
        if not isinstance(window, Rolling) or window.last_s not in TILE_WINDOWS_S:
            choices = ", ".join(map(str, TILE_WINDOWS_S))
            raise ValueError(f'of a {view.name} must be {{"last": s}} with s one of {choices}')
        return window

    @property
    def definition(self) -> EmbedDefinition:
        return EmbedDefinition(
            view=self.view.name,
            devices=self.devices,
            metric=(self.metric or CHARTS[0]) if self.view.metric else None,
            origins=self.origins,
            window=self.window,
            zone=self.zone,
            units=self.units,
            theme=self.theme,
            controls=self.controls,
            notes=self.notes,
            compare=self.compare,
            title=self.title,
            expires_ms=self.expires_ms,
        )


class TokenBody(Body):
    """The body of `POST …/tokens`; without ``ttl`` the response is the link token."""

    ttl: Annotated[int | None, PlainValidator(_seconds(EMBED_TOKEN_S))] = None


class NoBody(Body):
    """For requests whose path says everything."""
