"""The meaning of a foreign file's rows: as data, as a TOML file, and with single settings
changed."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping as AnyMapping
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, Final, Literal, cast, get_args

from api.errors import UserError
from api.ingest.foreign.units import SECONDS, Values, factor, is_unit, unit_in
from api.private_files import write_private
from api.timez import zone

Form = Literal["csv", "ndjson", "json", "xlsx"]
Layout = Literal["long", "wide", "day", "month", "dates"]
TimeAt = Literal["start", "end"]
Is = Literal[
    "device", "time", "date", "clock", "water", "duration", "temperature", "signal", "rssi",
    "quality", "label", "skip",
]  # fmt: skip

METRIC_OF: Final[dict[str, str]] = {
    "duration": "flow_duration",
    "temperature": "onboard_temperature",
    "signal": "signal_strength",
    "rssi": "network_rssi",
    "quality": "quality",
}
TEMPERATURE_UNITS: Final = ("°C", "°F")
DEVICE_ZONE: Final = "device"
BY_PERIOD: Final = ("day", "month", "dates")  # layouts with a column a period
SHEET: Final = "sheet"  # the column of the sheets' names where several of a workbook are read
_NAME: Final = re.compile(r"[\w.\- ]{1,64}")
_COLUMN_KEYS: Final = ("is", "unit", "values", "device", "unit_column")
_MULTIPLE: Final = frozenset({"water", "skip", "date", "clock"})


@dataclass(frozen=True, slots=True)
class ColumnMapping:
    """A column of the file. ``values`` is what numbers of water are. ``device``: the device of a
    column of a wide file. ``unit_column``: the name of a column with the unit of each row's water;
    ``unit`` is of the rows where that is empty."""

    name: str
    is_: Is = "skip"
    unit: str = ""
    values: Values | Literal[""] = ""
    device: str = ""
    unit_column: str = ""


@dataclass(frozen=True, slots=True)
class Mapping:
    """``comment``: how lines that aren't rows begin. ``header_row``: the line of the names, counted
    from 1 without blank lines and comments; 0: there is none. ``units_rows``: lines below it that
    aren't values. ``sheet``: of a workbook; "" for the first that has rows, "*" for all with these
    columns, the first of which is the sheet's name. ``layout``: a row a reading (long), a column a
    meter (wide), a row a day with a column a time of day (day), a row a month with a column a day
    (month), a row a meter with a column a date (dates). ``fill_down``: empty cells of device, time
    and date repeat the one above. ``only``: the rows to read, as ``COLUMN=TEXT``; all if empty.
    ``time_format``: see `dates`. ``time_at``: whether the times are the starts or the ends of what
    amounts and rates hold for. ``zone``: an IANA name, or "device" for each device's own.
    ``interval_s``: how long each amount or rate holds, 0 if that isn't known. ``device``: whose
    rows these are in a file without a column of devices; "" for the file's name. ``digits``: of a
    register before its decimal sign, after which it starts again at 0; 0 if it never does."""

    form: Form = "csv"
    encoding: str = "utf-8"
    delimiter: str = ","
    decimal: str = "."
    comment: str = ""
    header_row: int = 1
    units_rows: int = 0
    sheet: str = ""
    fill_down: bool = False
    only: str = ""
    layout: Layout = "long"
    time_format: str = "iso"
    time_at: TimeAt = "start"
    zone: str = DEVICE_ZONE
    newest_first: bool = False
    interval_s: float = 0.0
    digits: int = 0
    device: str = ""
    columns: tuple[ColumnMapping, ...] = ()

    def places(self, is_: Is) -> list[int]:
        """Returns the positions of the columns with that meaning."""
        return [place for place, column in enumerate(self.columns) if column.is_ == is_]

    @property
    def time_places(self) -> list[int]:
        """Returns the columns whose joined texts are the time."""
        return self.places("time") or [*self.places("date"), *self.places("clock")]

    @property
    def filled_places(self) -> list[int]:
        """Returns the columns that ``fill_down`` applies to."""
        return [*self.places("device"), *self.places("time"), *self.places("date")]

    @property
    def unit_places(self) -> list[tuple[int, int]]:
        """Returns the columns of water whose rows give their own units, each with the column of
        these units."""
        names = [column.name for column in self.columns]
        return [
            (place, names.index(self.columns[place].unit_column))
            for place in self.places("water")
            if self.columns[place].unit_column
        ]

    def of_water(self, values: Values) -> list[int]:
        return [place for place in self.places("water") if self.columns[place].values == values]

    def check(self) -> Mapping:
        """Returns itself. Raises ValueError, naming what contradicts, for a mapping that can't be
        used."""
        self.check_table()
        for column in self.columns:
            _check_column(column)
            self._check_units_of(column)
        self._check_meanings()
        return self

    def check_table(self) -> None:
        """Raises ValueError for a setting of the whole file that can't be used."""
        _one_of("form", self.form, get_args(Form))
        _one_of("layout", self.layout, get_args(Layout))
        _one_of("time_at", self.time_at, get_args(TimeAt))
        _one_of("decimal", self.decimal, (".", ","))
        if self.zone != DEVICE_ZONE:
            zone(self.zone)
        if self.header_row < 0 or self.interval_s < 0:
            raise ValueError("header_row and interval_s can't be negative")
        if not 0 <= self.digits <= 15:
            raise ValueError("digits must be 0 to 15")
        if not 0 <= self.units_rows <= 9:
            raise ValueError("units_rows must be 0 to 9")
        if self.only and self.only.partition("=")[0] not in {each.name for each in self.columns}:
            raise ValueError("only must be COLUMN=TEXT, with the name of a column")
        if len(self.delimiter) != 1:
            raise ValueError("delimiter must be one character")
        try:
            "".encode(self.encoding)
        except LookupError:
            raise ValueError(f"encoding {self.encoding!r} is unknown") from None

    def _check_units_of(self, column: ColumnMapping) -> None:
        units = column.unit_column
        if not units:
            return
        if column.is_ != "water" or self.layout != "long":
            raise ValueError("unit_column is for water in files of a row a reading (long)")
        if units == column.name or units not in {each.name for each in self.columns}:
            raise ValueError(f"column {column.name}: there is no column of units {units!r}")

    def _check_meanings(self) -> None:
        for is_ in get_args(Is):
            if is_ not in _MULTIPLE and len(self.places(is_)) > 1:
                raise ValueError(f"two columns are {is_}")
        if self.layout != "dates" and not self.places("time") and not self.places("date"):
            raise ValueError("no column is the time")
        if self.layout == "wide":
            units = {self.columns[place].unit for place in self.of_water("register")}
            if not self.places("water") or len(units) > 1:
                raise ValueError("a wide file needs columns of water, its registers in one unit")
            return
        if not self.places("water") and not any(self.places(cast("Is", i)) for i in METRIC_OF):
            raise ValueError("no column is a measurement")
        if self.layout in BY_PERIOD:
            self._check_days()
            return
        kinds = [self.columns[place].values for place in self.places("water")]
        if len(kinds) != len(set(kinds)) or ("register" in kinds and "amount" in kinds):
            raise ValueError("two columns of water say the same: leave one out (skip)")

    def _check_days(self) -> None:
        water = [self.columns[place] for place in self.places("water")]
        alike = {(column.unit, column.values) for column in water}
        undated = self.layout != "dates" and not self.places("date")
        if not water or len(alike) > 1 or undated:
            raise ValueError(f"layout {self.layout} needs a date and columns of water of one unit")

    def changed(self, setting: str, value: str) -> Mapping:
        """Returns the mapping with one setting changed, as typed: ``zone``, or ``column.NAME.unit``
        (``is``, ``unit``, ``values``, ``device``, ``unit_column``). Raises ValueError naming the
        problem."""
        match setting.split("."):
            case [name]:
                table = asdict(self)
                if name not in table or name == "columns":
                    raise ValueError(f"there is no setting {name}")
                return from_table(_table_of(self) | {name: _typed(name, value, table[name])})
            case ["column", *name, key]:
                return self._column_changed(".".join(name), key, value)
            case _:
                raise ValueError(f"there is no setting {setting}")

    def _column_changed(self, name: str, key: str, value: str) -> Mapping:
        if key not in _COLUMN_KEYS:
            raise ValueError(f"a column has no setting {key}")
        places = [place for place, column in enumerate(self.columns) if column.name == name]
        if not places:
            raise ValueError(f"there is no column {name}")
        columns = list(self.columns)
        if key == "unit" and not is_unit(value):
            value = unit_in(value) or value
        if (
            self.layout in BY_PERIOD
            and columns[places[0]].is_ == "water"
            and key in ("unit", "values")
        ):
            places = self.places("water")  # the times of a day share them, as the days of a month
        for place in places:
            columns[place] = replace(columns[place], **{"is_" if key == "is" else key: value})
            columns[place] = _in_step(columns[place], key)
        return replace(self, columns=tuple(columns))


def joined_texts(*columns: Sequence[str]) -> list[str]:
    return [" ".join(map(str.strip, texts)).strip() for texts in zip(*columns, strict=True)]


def _in_step(column: ColumnMapping, key: str) -> ColumnMapping:
    """Adjusts the other settings to the one that was changed: a rate has a volume per time as its
    unit."""
    if column.is_ != "water":
        return replace(column, values="", unit_column="", unit=column.unit if key == "unit" else "")
    if key == "unit":  # of all rows
        column = replace(column, unit_column="")
    unit = column.unit if is_unit(column.unit) else "l"
    values = column.values or "amount"
    if key == "unit" and ("/" in unit) != (values == "rate"):
        values = "rate" if "/" in unit else "amount"
    if ("/" in unit) != (values == "rate"):
        unit = f"{unit}/min" if values == "rate" else unit.partition("/")[0]
    return replace(column, unit=column.unit if key == "unit" else unit, values=values)


def _check_column(column: ColumnMapping) -> None:
    _one_of(f"column {column.name}: is", column.is_, get_args(Is))
    where = f"column {column.name}: "
    if column.is_ == "water":
        _one_of(where + "values", column.values, get_args(Values))
        if not is_unit(column.unit):
            raise ValueError(f"{where}{column.unit!r} is no unit: l, m3, gal, l/min, 10 l, …")
        try:
            factor(column.unit, cast("Values", column.values))
        except ValueError as error:
            raise ValueError(f"{where}{error}") from None
    elif column.is_ == "temperature":
        _one_of(where + "unit", column.unit or "°C", TEMPERATURE_UNITS)
    elif column.is_ == "duration":
        _one_of(where + "unit", column.unit or "s", tuple(SECONDS))


def _one_of(what: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise ValueError(f"{what} must be one of {', '.join(allowed)}, not {value!r}")


def _typed(name: str, text: str, now: object) -> object:
    try:
        if isinstance(now, bool):
            return {"true": True, "false": False}[text.lower()]
        return type(now)(text) if isinstance(now, int | float) else text
    except (KeyError, ValueError):
        raise ValueError(f"{name} can't be {text!r}") from None


# --- As a file -----------------------------------------------------------------------------------


def from_table(table: AnyMapping[str, Any]) -> Mapping:
    """Parses the mapping of a TOML or JSON file. Raises ValueError naming the error."""
    allowed = {field.name: field for field in fields(Mapping)} | {"column": None}
    unknown = sorted(table.keys() - (allowed.keys() - {"columns"}))
    if unknown:
        raise ValueError(f"unknown: {', '.join(unknown)}")
    values: dict[str, Any] = {}
    for name, value in table.items():
        if name == "column":
            continue
        wanted = _types()[name]
        if wanted is float and type(value) is int:
            value = float(value)
        if type(value) is not wanted:
            raise ValueError(f"{name} must be {_CALLED[wanted]}")
        values[name] = value
    columns = table.get("column", [])
    if not isinstance(columns, list):
        raise ValueError("column must be an array of tables: [[column]]")
    return Mapping(**values, columns=tuple(map(_column, cast("list[object]", columns))))


def _types() -> dict[str, type]:
    return {field.name: type(cast("object", field.default)) for field in fields(Mapping)}


_CALLED: Final[dict[type, str]] = {
    str: "text",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
}


def _column(entry: object) -> ColumnMapping:
    if not isinstance(entry, dict):
        raise ValueError("a column must be a table")
    table = cast("dict[str, object]", entry)
    unknown = sorted(table.keys() - {"name", *_COLUMN_KEYS})
    if unknown or not all(isinstance(value, str) for value in table.values()):
        raise ValueError(f"a column has name, {', '.join(_COLUMN_KEYS)}, as text{unknown or ''}")
    texts = cast("dict[str, str]", table)
    return ColumnMapping(
        texts.get("name", ""), cast("Is", texts.get("is", "skip")), texts.get("unit", ""),
        cast("Values", texts.get("values", "")), texts.get("device", ""),
        texts.get("unit_column", ""),
    )  # fmt: skip


def _table_of(mapping: Mapping) -> dict[str, Any]:
    """Returns the table for TOML and JSON: only what differs from the defaults, and every
    column."""
    table = {
        field.name: getattr(mapping, field.name)
        for field in fields(Mapping)
        if field.name != "columns" and getattr(mapping, field.name) != field.default
    }
    columns = [
        {name.rstrip("_"): value for name, value in asdict(column).items() if value}
        for column in mapping.columns
    ]
    return {**table, "column": columns}


to_table = _table_of


def to_toml(mapping: Mapping) -> str:
    table = to_table(mapping)
    columns = table.pop("column")
    lines = [f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in table.items()]
    for column in columns:
        lines += ["", "[[column]]"]
        lines += [
            f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in column.items()
        ]
    return "\n".join(lines) + "\n"


class Mappings:
    """The saved mappings: ``mappings/NAME.toml`` in the instance folder."""

    def __init__(self, instance: Path) -> None:
        self.folder = instance / "mappings"

    def names(self) -> list[str]:
        return sorted(path.stem for path in self.folder.glob("*.toml"))

    def path(self, name: str) -> Path:
        """Raises UserError for a name that can't be a file's."""
        if not _NAME.fullmatch(name) or name.startswith("."):
            raise UserError(f"{name!r} can't be a mapping's name: letters, digits, space, . _ -")
        return self.folder / f"{name}.toml"

    def load(self, name: str) -> Mapping:
        """Raises UserError where the mapping is missing or unusable."""
        path = self.path(name)
        try:
            return from_table(tomllib.loads(path.read_text("utf-8"))).check()
        except FileNotFoundError:
            raise UserError(f"there is no mapping {name}: {path}") from None
        except OSError as error:
            raise UserError(f"{path}: {error.strerror or error}") from None
        except ValueError as error:
            raise UserError(f"{path}: {error}") from None

    def save(self, name: str, mapping: Mapping) -> Path:
        path = self.path(name)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            write_private(path, to_toml(mapping))
        except OSError as error:
            raise UserError(f"{path}: {error.strerror or error}") from None
        return path
