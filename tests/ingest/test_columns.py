"""The column-wise decoders treat every row as the exact decoder does."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.catalog import METRICS
from api.ingest.batch import Batch
from api.ingest.csv_rows import Layout, batch_of_texts
from api.ingest.decode import (
    COLUMN_OF,
    COLUMNS,
    REGISTER,
    TOO_WIDE,
    Devices,
    Rejection,
    decode_json,
    decode_text,
)
from api.ingest.json_lines import batch_of_lines, parse_payload
from api.ingest.timestamp_columns import parse_column
from api.store.base import RegisterRow
from api.timez import parse_instant
from tests.tables import cases

UUID = "1f8730a9-5d67-4895-9215-6e247087ea00"
KEYS = {UUID: 1, "FM-1": 1, "FM-2": 2, "10412": 3}
DEVICES = Devices(KEYS)
NOW = 1_700_000_000_000
PLAIN = "2023-11-14T10:00:00Z"

IDENTIFIERS = st.sampled_from([*KEYS, UUID.upper(), " FM-1", "FM-3", "", "\x00", "é"])
PLAIN_INSTANTS = st.datetimes().map(lambda t: t.isoformat(timespec="seconds") + "Z")
INSTANTS = st.one_of(
    PLAIN_INSTANTS,
    st.sampled_from([PLAIN, PLAIN, "2023-11-14 10:00:00", "2023-11-14", "", "ж" * 20, "20"]),
    st.sampled_from(["2023-11-14T10:00:00.123Z", "2023-11-14T10:00:00+05:45", " " + PLAIN]),
    st.from_regex(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}[Zz+x]", fullmatch=True),
)
MISTYPED = st.tuples(st.integers(0, 19), st.sampled_from(":/AZ z-+.3\xff")).map(
    lambda change: PLAIN[: change[0]] + change[1] + PLAIN[change[0] + 1 :]
)
INSTANTS = INSTANTS | MISTYPED | st.sampled_from(["2023-02-30T00:00:00Z", "1999-12-31T23:59:59Z"])
NUMBERS = st.one_of(
    st.floats(allow_nan=True, allow_infinity=True).map(repr),
    st.integers().map(str),
    st.sampled_from(
        ["", "", "", "1-2", "e", ".", "1_0", " 5 ", "+.5", "1e999", "inf", "٣", "null"]
    ),
)


def outcome(batch: Batch) -> tuple[list[Any], dict[tuple[str, str], int]]:
    refused: dict[tuple[str, str], int] = {}
    for one in batch.refused:
        kind = (one.reason, one.device)
        refused[kind] = refused.get(kind, 0) + one.count
    return [*batch.columns.rows(), *batch.registers], refused


def expected(results: list[Any]) -> tuple[list[Any], dict[tuple[str, str], int]]:
    refused: dict[tuple[str, str], int] = {}
    for result in results:
        if isinstance(result, Rejection):
            refused[tuple(result)] = refused.get(tuple(result), 0) + 1
    accepted = [r for r in results if not isinstance(r, Rejection)]
    return sorted(accepted, key=lambda row: isinstance(row, RegisterRow)), refused


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[str], list[list[str]]]:
    names = draw(st.permutations([*COLUMNS, REGISTER, "colour"]))
    keep = draw(st.integers(0, len(METRICS)))
    dropped = {metric.name for metric in METRICS[keep:]}
    header = [name for name in names if name not in dropped]
    kinds = {"device": IDENTIFIERS, "recorded_at": INSTANTS}
    ordinary = {"device": "FM-1", "recorded_at": PLAIN}
    rows: list[list[str]] = []
    for _ in range(draw(st.integers(0, 8))):
        row = {name: ordinary.get(name, "1.5") for name in header}
        for name in draw(st.lists(st.sampled_from(header), max_size=3)):  # the odd part of it
            row[name] = draw(kinds.get(name, NUMBERS))
        rows.append(list(row.values()))
    ragged = draw(st.lists(st.lists(NUMBERS, max_size=12), max_size=2))
    return header, draw(st.permutations(rows + ragged))


@given(tables())
def test_rows_of_texts_equal_those_of_the_exact_decoder(
    table: tuple[list[str], list[list[str]]],
) -> None:
    header, rows = table
    layout = Layout.of(header)

    def exact(row: list[str]) -> object:
        cells = dict(zip(header, row, strict=False))
        fields = {name: cells.get(name, "") for name in header if name in COLUMN_OF}
        if any(cell.strip() for cell in row[len(header) :]):
            return Rejection(TOO_WIDE, fields["device"].strip())
        return decode_text(fields, DEVICES, NOW)

    batch = batch_of_texts(rows, layout, DEVICES, NOW)
    assert outcome(batch) == expected([exact(row) for row in rows])
    assert batch.read == len(rows)


@cases(
    ("column", "odd"),
    [
        ("flow_rate", "1e999"),
        ("flow_rate", "-1e999"),
        ("flow_rate", "1-2"),
        ("flow_rate", "1_0"),
        ("quality", "nan"),
        ("recorded_at", "2023-02-30T10:00:00Z"),
        ("recorded_at", "2023-11-14T24:00:00Z"),
        ("recorded_at", "2023-11-14T10:0::00Z"),
        ("recorded_at", "1999-12-31T23:59:59Z"),
        ("recorded_at", "2099-12-31T23:59:59Z"),
        ("device", "FM-9"),
        ("device", ""),
    ],
)
def test_one_odd_value_among_ordinary_ones_is_refused_alone(column: str, odd: str) -> None:
    ordinary = {"device": "FM-1", "recorded_at": PLAIN, "flow_rate": "1.5", "quality": "90"}
    rows = [list(ordinary.values()), list({**ordinary, column: odd}.values())] * 2
    batch = batch_of_texts(rows, Layout.of(list(ordinary)), DEVICES, NOW)
    reason = decode_text({**ordinary, column: odd}, DEVICES, NOW)
    assert isinstance(reason, Rejection)
    good = decode_text(ordinary, DEVICES, NOW)
    assert outcome(batch) == ([good, good], {tuple(reason): 2})


JSON_NUMBERS = st.one_of(
    st.floats(),
    st.integers(),
    st.integers(-(10**320), 10**320),
    st.none(),
    st.booleans(),
    st.text(max_size=2),
    st.lists(st.integers(), max_size=1),
)


@st.composite
def payloads(draw: st.DrawFn) -> object:
    """A plain payload with up to three oddities."""
    payload: dict[str, object] = {"device": "FM-1", "recorded_at": PLAIN, "flow_rate": 1.5}
    kinds = {
        "device": st.one_of(IDENTIFIERS, JSON_NUMBERS),
        "recorded_at": st.one_of(INSTANTS, JSON_NUMBERS),
        "recordedAt": INSTANTS,
    }
    for name in draw(st.lists(st.sampled_from([*COLUMN_OF, "colour"]), max_size=3)):
        if draw(st.booleans()):
            payload.pop(name, None)
        else:
            payload[name] = draw(kinds.get(name, JSON_NUMBERS))
    return payload


@given(st.lists(st.one_of(payloads(), payloads(), payloads(), JSON_NUMBERS), max_size=8))
def test_lines_of_json_equal_those_of_the_exact_decoder(values: list[object]) -> None:
    lines = [json.dumps(value) for value in values]
    batch = batch_of_lines(lines, DEVICES, NOW)
    exact = [decode_json(parse_payload(line), DEVICES, NOW) for line in lines]
    assert outcome(batch) == expected(exact)
    assert batch.read == len(lines)


def test_an_ordinary_line_is_read_without_the_exact_decoder(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def never(*_: object) -> object:
        raise AssertionError("the exact decoder was asked")

    monkeypatch.setattr("api.ingest.csv_rows.decode_text", never)
    monkeypatch.setattr("api.ingest.json_lines.decode_json", never)
    layout = Layout.of(["device", "recordedAt", "flowRate", "quality"])
    rows = [["FM-1", PLAIN, "-1.5e3", ""], ["10412", PLAIN, "", "98"]]
    assert len(batch_of_texts(rows, layout, DEVICES, NOW).columns) == 2
    payload = {"device": "FM-1", "recorded_at": PLAIN, "quality": 98, "flowRate": None}
    lines = [json.dumps(payload)] * 2
    assert len(batch_of_lines(lines, DEVICES, NOW).columns) == 2


@cases(
    ("header", "problem"),
    [
        (["recorded_at", "flow_rate"], "has no column device"),
        (["device", "flow_rate"], "has no column recorded_at"),
        (["FM-1", PLAIN, "1"], "has no column device and no column recorded_at"),
        (["device", "recorded_at", "recordedAt"], "has the column recorded_at twice"),
        (["device", "recorded_at", "flow_rate", "flowRate"], "has the column flow_rate twice"),
    ],
)
def test_an_unusable_header_has_a_reason(header: list[str], problem: str) -> None:
    with pytest.raises(ValueError, match=f"^{problem}$"):
        Layout.of(header)


def test_unknown_columns_are_named() -> None:
    layout = Layout.of(["colour", "device", " recorded_at ", "", "flow_rate"])
    assert layout.unknown == {"colour"}
    assert layout.positions == {"device": 1, "recorded_at": 2, "flow_rate": 4}


@given(st.lists(st.one_of(INSTANTS, PLAIN_INSTANTS), min_size=1, max_size=30))
def test_a_column_of_instants_equals_each_read_alone(texts: list[str]) -> None:
    instants, parsed = parse_column(texts)
    for text, instant, is_parsed in zip(texts, instants.tolist(), parsed.tolist(), strict=True):
        if is_parsed:
            assert instant == parse_instant(text)


@cases(
    "form",
    [
        "{}",
        "{}Z",
        "{}.007",
        "{}.999Z",
        "{}+05:45",
        "{}-11:00",
        "{}.001+14:00",
    ],
)
def test_machine_written_forms_are_read_by_column(form: str) -> None:
    moments = ["1970-01-01T00:00:00", "2024-02-29T23:59:59", "2000-12-31 01:02:03"]
    moments += ["2199-12-31T23:59:59"]
    texts = [form.format(moment) for moment in moments]
    instants, parsed = parse_column(texts)
    assert parsed.all()
    assert instants.tolist() == [parse_instant(text) for text in texts]


@cases(
    "text",
    [
        "2023-02-29T00:00:00Z",
        "2023-13-01T00:00:00Z",
        "2023-00-01T00:00:00Z",
        "2023-01-00T00:00:00Z",
        "2023-01-01T24:00:00Z",
        "2023-01-01T00:60:00Z",
        "2023-01-01T00:00:60Z",
        "2023/01/01T00:00:00Z",
    ],
)
def test_instants_that_do_not_exist_are_left_to_the_exact_reader(text: str) -> None:
    _, parsed = parse_column([text, PLAIN])
    assert parsed.tolist() == [False, True]
