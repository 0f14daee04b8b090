"""Finds the table in a JSON document, at any depth, and yields its rows as texts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final, cast

import orjson

from api.errors import UserError
from api.ingest.source import unpacked

LARGEST_DOCUMENT: Final = 256 << 20  # bytes unpacked: it is read as a whole
_DEEPEST: Final = 6
_NAMED: Final = 1_000  # rows whose names become columns

_BEGINNING: Final = re.compile(  # not of a unit in brackets, such as [m3] or [-]
    rb"\{|\[\s*(?:[\[{\"\]]|$|(?:-?\d[\d.eE+-]*|true|false|null)\s*(?:[,\]]|$))"
)

Fields = dict[str, str]


def flat(value: object) -> Fields:
    """Returns the object's values as texts by path (``payload.volume``)."""
    return {path: text_of(entry) for path, entry in _leaves(value).items()}


def line_rows(value: object) -> list[Fields]:
    """Returns the rows of one line's object: several if it has lists of equal length, such as
    values and their times."""
    leaves = _leaves(value)
    columns = _columns({path: entry for path, entry in leaves.items() if type(entry) is list})
    if len(columns) < 2:
        return [{path: text_of(entry) for path, entry in leaves.items()}]
    same = {path: text_of(entry) for path, entry in leaves.items() if path not in columns}
    return [same | row for row in _of_columns(columns)]


def _leaves(value: object, prefix: str = "", depth: int = 0) -> dict[str, object]:
    if not isinstance(value, dict) or depth > _DEEPEST:
        return {}
    leaves: dict[str, object] = {}
    for name, entry in cast("dict[str, object]", value).items():
        path = f"{prefix}{name}"
        if isinstance(entry, dict):
            leaves |= _leaves(cast("object", entry), f"{path}.", depth + 1)
        elif entry is not None:
            leaves[path] = entry
    return leaves


def _columns(fields: dict[str, object]) -> dict[str, list[object]]:
    """Returns the longest of these lists, of those without objects or lists in them."""
    lists = {name: entries for name, value in fields.items() if (entries := _list(value))}
    plain = {name: each for name, each in lists.items() if not {*map(type, each)} & {dict, list}}
    longest = max(map(len, plain.values()), default=0)
    return {name: each for name, each in plain.items() if len(each) == longest}


def _of_columns(columns: dict[str, list[object]]) -> Iterator[Fields]:
    for values in zip(*columns.values(), strict=True):
        yield dict(zip(columns, map(text_of, values), strict=True))


def text_of(value: object) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else orjson.dumps(value).decode()


def is_document(head: bytes) -> bool:
    """Whether the text is one JSON document, not one object per line."""
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if not _BEGINNING.match(text):
        return False
    first, _, rest = text.partition(b"\n")
    line = _loaded(first)
    if not isinstance(line, dict):
        return text.startswith(b"[") or not isinstance(_loaded(rest.partition(b"\n")[0]), dict)
    return not rest.strip() and _holds_table(cast("object", line))


def _loaded(text: bytes) -> object:
    try:
        return orjson.loads(text)
    except ValueError:
        return None


def document_rows(path: Path, zipped: bool, names: list[str] | None) -> Iterator[list[str]]:
    """Yields the values in the order of the names. Without names, yields the names first."""
    document = _document(path, zipped)
    if names is None:
        names = list(
            dict.fromkeys(
                name for _, row in zip(range(_NAMED), _rows(document, {}), strict=False)
                for name in row
            )
        )  # fmt: skip
        if not names:
            raise UserError(f"{path} has no table: a list of objects or of rows is needed")
        yield names
    for row in _rows(document, {}):
        yield [row.get(name, "") for name in names]


def _document(path: Path, zipped: bool) -> object:
    try:
        with unpacked(path, zipped) as stream:
            content = stream.read(LARGEST_DOCUMENT + 1)
    except (OSError, EOFError) as error:
        raise UserError(f"{path} can't be read: {error}") from None
    if len(content) > LARGEST_DOCUMENT:
        most = f"{LARGEST_DOCUMENT >> 20} MiB"
        raise UserError(f"{path} is a JSON document of more than {most}: write an object a line")
    try:
        return orjson.loads(content.removeprefix(b"\xef\xbb\xbf"))
    except ValueError as error:
        raise UserError(f"{path} is not valid JSON: {error}") from None


def _rows(value: object, outer: Fields, depth: int = 0) -> Iterator[Fields]:
    """Yields the rows of a value. ``outer``: fields of the enclosing objects."""
    if depth > _DEEPEST:
        return
    if isinstance(value, dict):
        yield from _of_object(cast("dict[str, object]", value), outer, depth)
    elif isinstance(value, list) and value:
        entries = cast("list[object]", value)
        if all(isinstance(entry, list) for entry in entries):
            yield from _of_lists(cast("list[list[object]]", entries), outer)
            return
        for entry in entries:
            yield from _rows(entry, outer, depth + 1)


def _of_object(fields: dict[str, object], outer: Fields, depth: int) -> Iterator[Fields]:
    lists = {name: entries for name, value in fields.items() if (entries := _list(value))}
    tables: dict[str, object] = {name: v for name, v in lists.items() if _is_table(v)}
    heads = [entries for name, entries in lists.items() if name not in tables]
    for name, entries in tables.items():
        first = _list(_list(entries)[0])
        head = next((h for h in heads if len(h) == len(first)), None) if first else None
        tables[name] = [head, *_list(entries)] if head else entries
    tables |= {name: v for name, v in fields.items() if name not in lists and _holds_table(v)}
    own = flat({name: v for name, v in fields.items() if name not in lists and name not in tables})
    for name, table in tables.items():
        several = {"name": name} if len(tables) > 1 else {}
        yield from _rows(table, {**outer, **own, **several}, depth + 1)
    if tables:
        return
    columns = _columns(fields)
    if len(columns) > 1:
        yield from ({**outer, **own, **row} for row in _of_columns(columns))
    elif own:
        yield {**outer, **flat(fields)}


def _of_lists(rows: list[list[object]], outer: Fields) -> Iterator[Fields]:
    """Yields rows that are lists; the first one is the header if it has only texts."""
    named = all(isinstance(text, str) for text in rows[0]) and len(rows) > 1
    names = (
        [text_of(name) for name in rows[0]]
        if named
        else [f"column {place + 1}" for place in range(max(map(len, rows)))]
    )
    for row in rows[named:]:
        yield {**outer, **dict(zip(names, map(text_of, row), strict=False))}


def _list(value: object) -> list[object]:
    """Returns an empty list for anything but a list."""
    return cast("list[object]", value) if isinstance(value, list) else []


def _is_table(value: object) -> bool:
    """A list of objects or of lists."""
    kinds = {type(entry) for entry in _list(value)[:100]}
    return kinds in ({dict}, {list})


def _holds_table(value: object, depth: int = 0) -> bool:
    """Whether the object has a table in it, or columns of one."""
    if not isinstance(value, dict) or depth > _DEEPEST:
        return False
    entries = list(cast("dict[str, object]", value).values())
    columns = [entry for entry in entries if len(_list(entry)) > 1]
    return len(columns) > 1 or any(
        _is_table(entry) or _holds_table(entry, depth + 1) for entry in entries
    )
