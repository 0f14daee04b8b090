"""The mapping of LoRaWAN network servers: their topics, and each meter model's fields.

A TOML or JSON file, named by WEIR_MQTT_MAPPING::

    [[source]]
    format = "chirpstack"                         # "things", "wmbusmeters"
    topic = "application/0a1b2c/device/+/event/up"
    organization = "an organization's id"
    model = "WM-1"                                # unless the message names it

    [model."WM-1"]
    register = { path = "volume.total", unit = "m3" }
    flowAmount = { path = "volume.delta", factor = 0.264172 }   # litres to gallons
    onboardTemperature = "temperature"

Read once, at the start; an error in it stops the start with one line.
"""

from __future__ import annotations

import json
import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, cast, get_args

from api.catalog import METRICS
from api.errors import ConfigurationError
from api.ingest.decode import REGISTER
from api.ingest.mqtt.topics import PREFIX, is_filter
from api.metering.register import unit_of

Format = Literal["chirpstack", "things", "wmbusmeters"]

_FIELDS: Final = frozenset((REGISTER, *(metric.field for metric in METRICS)))
_SOURCE_KEYS: Final = frozenset({"format", "topic", "organization", "model"})
_FIELD_KEYS: Final = frozenset({"path", "factor"})
_REGISTER_KEYS: Final = _FIELD_KEYS | {"unit"}


@dataclass(frozen=True, slots=True)
class Place:
    """The path of a field in a decoded object, and the factor for its number. ``unit``: of a
    register; '' for the device's own."""

    path: tuple[str, ...]
    factor: float = 1.0
    unit: str = ""


Model = Mapping[str, Place]
"""Field of LatestDatapoint → its path in the decoded object."""


@dataclass(frozen=True, slots=True)
class Source:
    """A network server's topic. ``model`` '': each message names its own."""

    format: Format
    topic: str
    organization_id: str
    model: str = ""


@dataclass(frozen=True, slots=True)
class Mappings:
    sources: tuple[Source, ...] = ()
    models: Mapping[str, Model] = field(default_factory=dict[str, Model])


def load(path: str) -> Mappings:
    """Returns the file's mappings; none if ``path`` is ''. Raises ConfigurationError naming the
    error."""
    if not path:
        return Mappings()
    try:
        return parse(_read(Path(path)))
    except OSError as error:
        raise ConfigurationError(f"WEIR_MQTT_MAPPING: {path}: {error.strerror or error}") from None
    except (ValueError, RecursionError) as error:
        raise ConfigurationError(f"WEIR_MQTT_MAPPING: {path}: {error}") from None


def _read(path: Path) -> object:
    text = path.read_text("utf-8")
    return json.loads(text) if path.suffix.lower() == ".json" else tomllib.loads(text)


def parse(document: object) -> Mappings:
    """Returns the mappings of a parsed file. Raises ValueError naming the error."""
    table = _table(document, "the file")
    _only(table, {"source", "model"}, "the file")
    listed = table.get("source", [])
    if not isinstance(listed, list):
        raise ValueError("source must be an array of tables: [[source]]")
    models = {
        name: _model(name, fields)
        for name, fields in _table(table.get("model", {}), "model").items()
    }
    sources = tuple(_source(entry) for entry in cast("list[object]", listed))
    for source in sources:
        if source.model and source.model not in models:
            raise ValueError(f"source {source.topic} names an unknown model: {source.model}")
    return Mappings(sources, models)


def _source(entry: object) -> Source:
    table = _table(entry, "a source")
    _only(table, _SOURCE_KEYS, "a source")
    texts = {key: table.get(key, "") for key in _SOURCE_KEYS}
    if not all(isinstance(text, str) for text in texts.values()):
        raise ValueError("a source's values must be strings")
    if texts["format"] not in get_args(Format):
        raise ValueError(f"a source's format must be one of {', '.join(get_args(Format))}")
    topic = texts["topic"]
    if not is_filter(topic) or topic == PREFIX or topic.startswith((f"{PREFIX}/", "+", "#")):
        raise ValueError(f"a source's topic must be a filter outside {PREFIX}: {topic!r} isn't")
    if not texts["organization"]:
        raise ValueError(f"source {topic} must name its organization")
    return Source(texts["format"], topic, texts["organization"], texts["model"])


def _model(name: str, fields: object) -> Model:
    table = _table(fields, f"model {name}")
    _only(table, _FIELDS, f"model {name}")
    if not table:
        raise ValueError(f"model {name} maps no field")
    return {
        field: _place(
            f"model {name}: {field}", value, _REGISTER_KEYS if field == REGISTER else _FIELD_KEYS
        )
        for field, value in table.items()
    }


def _place(where: str, value: object, keys: frozenset[str]) -> Place:
    table = {"path": value} if isinstance(value, str) else _table(value, where)
    _only(table, keys, where)
    path, factor = table.get("path"), table.get("factor", 1.0)
    if not isinstance(path, str) or not all(path.split(".")):
        raise ValueError(f"{where} needs a path, such as volume.total")
    if isinstance(factor, bool) or not isinstance(factor, int | float) or not math.isfinite(factor):
        raise ValueError(f"{where}: its factor must be a number")
    try:
        unit = unit_of(table["unit"]) if "unit" in table else ""
    except ValueError as error:
        raise ValueError(f"{where}: its unit {error}") from None
    return Place(tuple(path.split(".")), float(factor), unit)


def _table(value: object, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"{where} must be a table")
    return cast("dict[str, Any]", value)


def _only(table: Mapping[str, object], allowed: frozenset[str] | set[str], where: str) -> None:
    unknown = sorted(table.keys() - allowed)
    if unknown:
        raise ValueError(f"{where}: unknown: {', '.join(unknown)}")
