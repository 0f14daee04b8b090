"""The device fields that administrators edit: where each is stored, and which values are valid.

The grid, the form, the CSV columns, the OpenAPI document and the checks are derived from these
rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, cast

from api.catalog import CATEGORIES
from api.metering.meter_size import names_a_size
from api.metering.units import PER_GALLON
from api.store.base import Device
from api.timez import parse_instant, stamp, zone_names

Place = Literal["field", "config", "price", "groups", "parent"]
Kind = Literal["text", "number", "flag", "choice", "zone", "list", "instant"]

REGISTER_UNITS: Final = ("m3", "l", "hl", "ml", "gal", "kgal", "imperial gal", "ft3", "ccf")
REGISTER_GAPS: Final = ("spread", "end")
LONGEST_TEXT: Final = 200
MOST_GROUPS: Final = 50


@dataclass(frozen=True, slots=True)
class EditableField:
    """``key`` is the name in the store. ``of_all``: a change needs a credential for all devices,
    since it decides what others see. ``check`` returns the value or raises ValueError. ``unit``:
    of its values, where readers may see another one (`api.metering.units.shown_unit`)."""

    name: str
    label: str
    section: str
    kind: Kind
    check: Callable[[Any], Any]
    place: Place = "config"
    key: str = ""
    hint: str = ""
    choices: tuple[str, ...] = ()
    required: bool = False
    of_all: bool = False
    in_grid: bool = True
    unit: str = ""

    @property
    def stored_as(self) -> str:
        return self.key or self.name


# --- Checks --------------------------------------------------------------------------------------


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("must be a string")
    text = " ".join(value.split())
    if not text.isprintable() or "\0" in text:
        raise ValueError("has characters that can't be displayed")
    if len(text) > LONGEST_TEXT:
        raise ValueError(f"has {len(text)} characters; at most {LONGEST_TEXT} are allowed")
    return text


def _required(value: Any) -> str:
    text = _text(value)
    if not text:
        raise ValueError("is required")
    return text


def _number(
    least: float, most: float, *, whole: bool = False, unit: str = ""
) -> Callable[[Any], float | int]:
    """``unit``: named in the message, so that `api.metering.units.words_in` can convert it."""
    lowest, highest = (f"{bound:,.10g}{unit and f' {unit}'}" for bound in (least, most))
    bounds = f"from {lowest} to {highest}"

    def check(value: Any) -> float | int:
        if type(value) not in (int, float) or not math.isfinite(value):
            raise ValueError("must be a number")
        if not least <= value <= most or (whole and value != int(value)):
            raise ValueError(f"must be a {'whole ' if whole else ''}number {bounds}")
        return int(value) if value == int(value) and abs(value) < 2**53 else float(value)

    return check


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError("must be true or false")
    return value


def _one_of(choices: tuple[str, ...]) -> Callable[[Any], str]:
    def check(value: Any) -> str:
        if value not in choices:
            raise ValueError(f"must be one of {', '.join(choices)}")
        return value

    return check


def zone_name(value: Any) -> str:
    if not isinstance(value, str) or value not in zone_names():
        raise ValueError("must be an IANA time zone name, such as Europe/Rome")
    return value


def currency_code(value: Any) -> str:
    if not isinstance(value, str) or not (
        len(value) == 3 and value.isascii() and value.isalpha() and value.isupper()
    ):
        raise ValueError("must be a currency's code of three letters, such as EUR")
    return value


def group_name(value: Any) -> str:
    name = _required(value)
    if ";" in name:
        raise ValueError("can't contain a semicolon")
    return name


def _groups(value: Any) -> tuple[str, ...]:
    if not isinstance(value, (list, tuple)):
        raise ValueError("must be an array of group names")
    names = tuple(dict.fromkeys(map(group_name, cast("list[Any]", value))))
    if len(names) > MOST_GROUPS:
        raise ValueError(f"may have at most {MOST_GROUPS} names")
    return names


def _instant(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("must be an ISO 8601 date or date-time")
    return stamp(parse_instant(value), fraction=True)


def _size(value: Any) -> str:
    text = _text(value)
    if text and not names_a_size(text):
        raise ValueError('must be written as on the meter, such as DN 20, Q3 4 or 3/4"')
    return text


PRICE: Final = _number(0, 1e6)

# --- The rows ------------------------------------------------------------------------------------

FIELDS: Final = (
    EditableField("label", "Label", "Device", "text", _required, "field", required=True,
                  in_grid=False),
    EditableField("active", "Active", "Device", "flag", _flag, "field", required=True,
                  hint="Inactive devices are in no list, sum or uptime; their readings stay."),
    EditableField("groups", "Groups", "Device", "list", _groups, "groups", of_all=True,
                  hint="Separated by semicolons."),
    EditableField("parent", "Main meter", "Device", "text", _required, "parent", of_all=True,
                  hint="The serial number of the meter upstream."),
    EditableField("networkUniqueIdentifier", "Network id", "Device", "text", _required, "field",
                  required=True, in_grid=False),
    EditableField("category", "Category", "Device", "choice", _one_of(CATEGORIES), "field",
                  choices=CATEGORIES, required=True, in_grid=False),
    EditableField("model", "Model", "Device", "text", _text, "field"),
    EditableField("meterSize", "Size", "Device", "text", _size,
                  hint="As on the meter: DN 20, Q3 4."),
    EditableField("highFlowLimit", "Max. flow", "Device", "number",
                  _number(0.001, 1e6, unit="gal/min"), unit="gal/min",
                  hint="Of a meter of this size. A larger flow is a finding."),
    EditableField("continuousFlowByDesign", "Flows by design", "Device", "flag", _flag,
                  hint="Flow that never stops is no leak here."),
    EditableField("deviceTimeZone", "Time zone", "Reporting", "zone", zone_name, "field",
                  required=True),
    EditableField("reportingInterval", "Reporting interval, s", "Reporting", "number",
                  _number(1, 31 * 86_400), "field", hint="Empty: learned from its readings."),
    EditableField("installedOn", "Installed on", "Reporting", "instant", _instant, "field",
                  required=True, in_grid=False),
    EditableField("price", "Price", "Cost", "number", PRICE, "price", "value",
                  unit=PER_GALLON, hint="Empty: the organization's."),
    EditableField("currency", "Currency", "Cost", "text", currency_code, "price",
                  hint="Empty: the organization's.", in_grid=False),
    EditableField("registerUnit", "Register in", "Register", "choice", _one_of(REGISTER_UNITS),
                  choices=REGISTER_UNITS, in_grid=False),
    EditableField("litresPerPulse", "Litres per pulse", "Register", "number",
                  _number(1e-6, 1e6), in_grid=False, hint="Of a register that counts pulses."),
    EditableField("registerDigits", "Register’s digits", "Register", "number",
                  _number(1, 15, whole=True), in_grid=False,
                  hint="Whole digits, after which it starts again at 0."),
    EditableField("registerOffset", "Register’s offset", "Register", "number",
                  _number(-1e15, 1e15), in_grid=False, hint="Added to the register."),
    EditableField("registerGap", "Volume of a gap", "Register", "choice",
                  _one_of(REGISTER_GAPS), choices=REGISTER_GAPS, in_grid=False,
                  hint="Spread evenly over the gap, or booked at its end."),
)  # fmt: skip
FIELD_BY_NAME: Final = {field.name: field for field in FIELDS}


# --- Device → values -----------------------------------------------------------------------------


def values_of(device: Device) -> dict[str, Any]:
    """Returns the device's value of each field; None for those that aren't set."""
    return {field.name: _value(field, device) for field in FIELDS}


def _value(field: EditableField, device: Device) -> Any:
    config = device.config or {}
    if field.place == "config":
        return _usable(field, config.get(field.stored_as))
    if field.place == "price":
        value = device.cost_per_gallon.get(field.stored_as)
        return value if isinstance(value, (int, float, str)) else None
    if field.place == "groups":
        return list(config.get("groups") or ())
    if field.place == "parent":
        return config.get("parent")
    return _OF_DEVICE[field.name](device)


def _usable(field: EditableField, value: Any) -> Any:
    """Returns None for a configured value that the field can't hold: configurations may come from
    other systems."""
    try:
        return None if value is None else field.check(value)
    except ValueError:
        return None


_OF_DEVICE: Final[Mapping[str, Callable[[Device], Any]]] = {
    "label": lambda device: device.label,
    "active": lambda device: device.active,
    "networkUniqueIdentifier": lambda device: device.network_unique_identifier,
    "category": lambda device: device.category,
    "model": lambda device: device.model or None,
    "deviceTimeZone": lambda device: device.time_zone,
    "reportingInterval": lambda device: device.reporting_interval_s,
    "installedOn": lambda device: stamp(device.installed_on_ms, fraction=True),
}


# --- Text ↔ value, for files and commands --------------------------------------------------------

YES: Final = frozenset(("true", "yes", "1"))
NO: Final = frozenset(("false", "no", "0"))


def as_text(value: Any) -> str:
    """Formats a value as the cell of a file."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return "; ".join(cast("list[str]", value))
    return f"{value:.15g}" if isinstance(value, float) else str(value)


def from_text(field: EditableField, text: str) -> Any:
    """Parses and checks a cell; None for an empty one. Raises ValueError."""
    text = text.strip()
    if field.kind == "list":
        return field.check([name.strip() for name in text.split(";") if name.strip()])
    if not text:
        return checked(field, None)
    if field.kind == "flag":
        if text.lower() not in YES | NO:
            raise ValueError("must be true or false")
        return text.lower() in YES
    if field.kind == "number":
        try:
            return field.check(float(text))
        except ValueError as error:
            number = "could not convert" not in str(error)
            raise ValueError(str(error) if number else "must be a number") from None
    return field.check(text)


def checked(field: EditableField, value: Any) -> Any:
    """Checks a JSON value; None and "" clear the field. Raises ValueError."""
    if value is None or value == "":
        if field.required:
            raise ValueError("is required")
        return () if field.kind == "list" else None
    return field.check(value)
