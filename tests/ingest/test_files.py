"""Files of many forms, imported into a real store."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from api.catalog import RAW
from api.errors import UserError
from api.ingest.batch import Batch
from api.ingest.pipeline import import_file
from api.ingest.source import digest
from api.store.base import Grant, NewDevice, Progress, Scope, Span, Store
from tests.ingest.test_file_batches import HEADER, LONG, T_MS

T = "2024-03-01T10:0{}:00Z"
MOST_ROWS = 10_000  # that `rows_of` reads
UUID = "1f8730a9-5d67-4895-9215-6e247087ea00"
NETWORK = "70B3D57ED0051A2C"


@pytest.fixture
def organization(sqlite_store: Store) -> str:
    return _organization(sqlite_store)


def _organization(store: Store) -> str:
    organization = store.create_organization("Files")
    first = NewDevice("FM-1", {"id": UUID, "networkUniqueIdentifier": NETWORK})
    store.import_devices(organization.id, [first, NewDevice("FM-2")])
    return organization.id


@pytest.fixture
def take_in(
    sqlite_store: Store, organization: str, tmp_path: Path
) -> Callable[..., tuple[Progress, list[tuple[int, float | None, float | None]]]]:
    """Imports a file of that name and content; returns the counts, and the rows of FM-1 by
    minute."""

    def take_in(
        content: str | bytes, name: str = "readings.csv"
    ) -> tuple[Progress, list[tuple[int, float | None, float | None]]]:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        progress = import_file(sqlite_store, organization, path, lambda batch: None)
        return progress, rows_of(sqlite_store, organization)

    return take_in


def rows_of(
    store: Store, organization_id: str, serial: str = "FM-1"
) -> list[tuple[int, float | None, float | None]]:
    """(minute after the first, flow_rate, quality) of each reading."""
    scope = Scope(organization_id, Grant(everything=True))
    (device,) = store.resolve(scope, [serial])
    assert device is not None
    rows = store.rows(device, RAW, Span(), limit=MOST_ROWS)
    return [((row[0] - T_MS) // 60_000, row[1], row[4]) for row in rows]


def counts(progress: Progress) -> tuple[int, int, int, int]:
    return progress.position, progress.stored, progress.repeated, progress.refused


ORDINARY = [(0, 1.5, 90.0), (1, 0.0, None), (2, None, 80.0)]
ORDINARY_CSV = (
    HEADER
    + f"FM-1,{T.format(0)},1.5,90\n"
    + f"{UUID},{T.format(1)},0,\n"
    + f"{NETWORK},{T.format(2)},,80\n"
)
ORDINARY_NDJSON = "".join(
    json.dumps(line) + "\n"
    for line in (
        {"device": "FM-1", "recorded_at": T.format(0), "flow_rate": 1.5, "quality": 90},
        {"device": UUID.upper(), "recordedAt": T.format(1), "flowRate": 0, "quality": None},
        {"device": NETWORK, "recorded_at": "2024-03-01T11:02:00+01:00", "quality": 80},
    )
)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("readings.csv", ORDINARY_CSV),
        ("readings", ORDINARY_CSV),
        ("readings.ndjson", ORDINARY_NDJSON),
        ("readings.txt", ORDINARY_NDJSON),
        ("bom.csv", "\ufeff" + ORDINARY_CSV),
        ("bom.ndjson", "\ufeff" + ORDINARY_NDJSON),
        ("crlf.csv", ORDINARY_CSV.replace("\n", "\r\n")),
        ("crlf.ndjson", ORDINARY_NDJSON.replace("\n", "\r\n")),
        ("no-last-newline.csv", ORDINARY_CSV.rstrip("\n")),
        ("no-last-newline.ndjson", ORDINARY_NDJSON.rstrip("\n")),
        ("cr.csv", ORDINARY_CSV.replace("\n", "\r")),
        ("cr.ndjson", ORDINARY_NDJSON.replace("\n", "\r")),
        ("blank-lines.csv", ORDINARY_CSV.replace("\n", "\n\n")),
        ("blank-lines.ndjson", ORDINARY_NDJSON.replace("\n", "\n \n")),
        ("blank-first.csv", "\n\n" + ORDINARY_CSV),
        ("quoted.csv", '"' + ORDINARY_CSV.replace(",", '","').replace("\n", '"\n"').rstrip('"')),
        ("blanks.csv", ORDINARY_CSV.replace(",", " , ")),
        ("fields.csv", ORDINARY_CSV.replace("recorded_at,flow_rate", "recordedAt,flowRate")),
        ("naive.csv", ORDINARY_CSV.replace("Z,", ",")),
        ("spaced.csv", ORDINARY_CSV.replace("T10", " 10")),
        ("trailing-commas.csv", ORDINARY_CSV.replace("\n", ",,\n")),
        ("short-rows.csv", ORDINARY_CSV.replace(",0,\n", ",0\n")),
        ("numbers.csv", ORDINARY_CSV.replace("1.5", "+15e-1").replace("90", "90.000")),
    ],
)
@pytest.mark.parametrize("zipped", [False, True], ids=["plain", "gz"])
def test_a_file_is_read_in_every_form(
    take_in: Callable[..., tuple[Progress, list[object]]], name: str, content: str, zipped: bool
) -> None:
    packed = gzip.compress(content.encode()) if zipped else content.encode()
    progress, rows = take_in(packed, f"{name}.gz" if zipped else name)
    assert rows == ORDINARY
    assert counts(progress) == (3, 3, 0, 0)
    assert progress.complete


def test_compression_is_recognized_by_content_not_by_name(
    take_in: Callable[..., tuple[Progress, list[object]]],
) -> None:
    assert take_in(gzip.compress(ORDINARY_CSV.encode()), "readings.csv")[1] == ORDINARY


def test_a_file_of_several_compressed_members_is_one_file(
    take_in: Callable[..., tuple[Progress, list[object]]],
) -> None:
    pieces = [gzip.compress(line.encode()) for line in ORDINARY_CSV.splitlines(keepends=True)]
    assert take_in(b"".join(pieces), "readings.csv.gz")[1] == ORDINARY


def test_refused_rows_are_counted_by_reason_and_device_and_the_others_stored(
    sqlite_store: Store,
    organization: str,
    take_in: Callable[..., tuple[Progress, list[object]]],
) -> None:
    content = HEADER + "".join(
        [
            f"FM-1,{T.format(0)},1.5,90\n",
            f"FM-9,{T.format(0)},1.5,90\n",
            f"FM-9,{T.format(1)},1.5,90\n",
            "FM-1,yesterday,1.5,90\n",
            f"FM-1,{T.format(1)},nan,90\n",
            f"FM-1,{T.format(1)},1,5,90\n",
            f"FM-1,{T.format(1)},,\n",
            f"FM-1,{T.format(1)}\n",
            "FM-1,1999-12-31T00:00:00Z,1,\n",
            f"caf\ufffd,{T.format(1)},1,\n",
        ]
    )
    progress, rows = take_in(content.encode().replace("\ufffd".encode(), b"\xe9"))
    assert rows == ORDINARY[:1]
    assert counts(progress) == (10, 1, 0, 9)
    fields = {
        (r.reason, r.device): (r.count, r.sample) for r in sqlite_store.refusals(organization)
    }
    assert fields == {
        ("unknown device", "FM-9"): (2, f"FM-9,{T.format(0)},1.5,90"),
        ("no valid timestamp", "FM-1"): (1, "FM-1,yesterday,1.5,90"),
        ("flow_rate is not a finite number", "FM-1"): (1, f"FM-1,{T.format(1)},nan,90"),
        ("more fields than columns", "FM-1"): (1, f"FM-1,{T.format(1)},1,5,90"),
        ("no measured field", "FM-1"): (2, f"FM-1,{T.format(1)},,"),
        ("before 2000-01-01", "FM-1"): (1, "FM-1,1999-12-31T00:00:00Z,1,"),
        ("unknown device", "caf\ufffd"): (1, f"caf\ufffd,{T.format(1)},1,"),
    }
    assert {r.source for r in sqlite_store.refusals(organization)} == {"file readings.csv"}


def test_a_text_that_no_database_can_store_is_refused_too(store: Store, tmp_path: Path) -> None:
    organization = _organization(store)
    path = tmp_path / "odd.ndjson"
    path.write_text(
        '{"device": "\\u0000\\ud800", "recorded_at": "2024-03-01", "quality": 1}\n'
        "{broken\n"
        "[1, 2]\n"
        '{"device": "FM-1", "recorded_at": "2024-03-01", "quality": NaN}\n'
    )
    progress = import_file(store, organization, path, lambda batch: None)
    assert counts(progress) == (4, 0, 0, 4)
    reasons = sorted(refusal.reason for refusal in store.refusals(organization))
    assert reasons == ["not a JSON object", "quality is not a finite number", "unknown device"]


def test_a_finished_file_read_again_counts_as_repeated(store: Store, tmp_path: Path) -> None:
    organization = _organization(store)
    path = tmp_path / "readings.csv"
    path.write_text(ORDINARY_CSV)
    first = import_file(store, organization, path, lambda batch: None)
    again = import_file(store, organization, path, lambda batch: None)
    assert (counts(first), counts(again)) == ((3, 3, 0, 0), (3, 0, 3, 0))
    assert rows_of(store, organization) == ORDINARY


def test_an_interrupted_file_continues_after_its_last_commit(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The third batch is lost with the process; the counts are those of both runs."""
    monkeypatch.setattr("api.ingest.files.CHUNK_ROWS", 1)
    monkeypatch.setattr("api.ingest.files.BATCH_CHUNKS", 2)
    organization = _organization(store)
    path = tmp_path / "readings.csv"
    lines = [f"FM-{1 + n % 3},{T.format(n)},{n},\n" for n in range(9)]  # there is no FM-3
    path.write_text(HEADER + "".join(lines))

    class LostError(Exception):
        pass

    def lose_the_third(batch: Batch, seen: list[Batch] = []) -> None:  # noqa: B006 - a memory
        seen.append(batch)
        if len(seen) == 2:
            raise LostError

    with pytest.raises(LostError):
        import_file(store, organization, path, lose_the_third)
    progress = store.progress(digest(path), organization)
    assert progress is not None
    assert (counts(progress), progress.complete) == ((4, 3, 0, 1), False)

    reread: list[int] = []
    done = import_file(store, organization, path, lambda batch: reread.append(batch.read))
    assert reread == [2, 2, 1]
    assert (counts(done), done.complete) == ((9, 6, 0, 3), True)
    assert store.progress(digest(path), organization) == done
    assert sum(refusal.count for refusal in store.refusals(organization)) == 3
    assert rows_of(store, organization) == [(0, 0.0, None), (3, 3.0, None), (6, 6.0, None)]
    assert store.verify().wrong == 0


ODD_LINES: dict[str, tuple[str, str, str]] = {
    "a quote before the row": ('"FM-1,2024-03-01,1,', "not readable as CSV", ""),
    "a quote before a field": ('FM-1,"2024-03-01,1,', "not readable as CSV", ""),
    "a third quote": ('"FM-1","2024-03-01",",1', "not readable as CSV", ""),
    "a quote at the end": ('FM-1,2024-03-01,1,"', "not readable as CSV", ""),
    "a quote within a field": ('FM-1,2024-03-01,1"5,', "flow_rate is not a number", "FM-1"),
    "a field beyond all bounds": ("x" * 200_000, "not readable as CSV", ""),
    "a line beyond all bounds": ("x" * (5 << 20), "not readable as CSV", ""),
    "commas beyond all bounds": ("," * (3 << 20), "not readable as CSV", ""),
    "a NUL in a number": ("FM-1,2024-03-01,1\0,", "flow_rate is not a number", "FM-1"),
    "a NUL after the instant": ("FM-1,2024-03-01T00:00:00Z\0,1,", "no valid timestamp", "FM-1"),
    "a NUL after the device": ("FM-1\0,2024-03-01,1,", "unknown device", "FM-1\ufffd"),
}


@pytest.mark.parametrize("after", [0, 19_999, 20_000])
@pytest.mark.parametrize("odd", ODD_LINES)
def test_an_odd_line_affects_no_other(
    sqlite_store: Store,
    organization: str,
    take_in: Callable[..., tuple[Progress, list[object]]],
    odd: str,
    after: int,
) -> None:
    line, reason, device = ODD_LINES[odd]
    lines = LONG.splitlines(keepends=True)
    lines.insert(1 + after, line + "\n")
    progress, rows = take_in("".join(lines))
    assert counts(progress) == (20_001, 20_000, 0, 1)
    assert progress.complete
    assert len(rows) == MOST_ROWS
    (refusal,) = sqlite_store.refusals(organization)
    assert (refusal.reason, refusal.device, refusal.count) == (reason, device, 1)
    assert refusal.sample.rstrip("…") in line.replace("\0", "\ufffd")


def test_another_organization_reads_the_same_file_for_itself(
    sqlite_store: Store, organization: str, tmp_path: Path
) -> None:
    path = tmp_path / "readings.csv"
    path.write_text(ORDINARY_CSV)
    import_file(sqlite_store, organization, path, lambda batch: None)
    other = sqlite_store.create_organization("Other").id
    progress = import_file(sqlite_store, other, path, lambda batch: None)
    assert counts(progress) == (3, 0, 0, 3)


@pytest.mark.parametrize("keep", [0.2, 0.5, 0.9, 0.999])
def test_a_truncated_compressed_file_gives_its_complete_rows_and_an_error(
    sqlite_store: Store, organization: str, tmp_path: Path, keep: float
) -> None:
    packed = gzip.compress(LONG.encode())
    path = tmp_path / "cut.csv.gz"
    path.write_bytes(packed[: int(len(packed) * keep)])
    with pytest.raises(UserError) as first:
        import_file(sqlite_store, organization, path, lambda batch: None)
    progress = sqlite_store.progress(digest(path), organization)
    assert progress is not None
    result = f"cut.csv.gz is cut off; the {progress.position:,} rows before it are stored"
    assert str(first.value).endswith(result)
    # The rows that one compressed block may lose.
    assert progress.position == progress.stored > 20_000 * keep - 4_000
    rows = rows_of(sqlite_store, organization)
    assert len(rows) == min(progress.stored, MOST_ROWS)
    expected = [line.split(",") for line in LONG.splitlines()[1:]]
    assert [(r, q) for _, r, q in rows] == [
        (float(e[2]), float(e[3])) for e in expected[: len(rows)]
    ]
    assert not sqlite_store.refusals(organization)
    with pytest.raises(UserError) as again:
        import_file(sqlite_store, organization, path, lambda batch: None)
    assert str(again.value) == str(first.value)


def test_a_damaged_compressed_file_is_an_error(
    sqlite_store: Store, organization: str, tmp_path: Path
) -> None:
    packed = bytearray(gzip.compress(LONG.encode()))
    packed[len(packed) // 2] ^= 0xFF
    path = tmp_path / "bad.csv.gz"
    path.write_bytes(packed)
    with pytest.raises(UserError, match=r"bad\.csv\.gz is damaged"):
        import_file(sqlite_store, organization, path, lambda batch: None)


UNREADABLE: dict[str, tuple[bytes, str]] = {
    "empty.csv": (b"", "is empty"),
    "empty.csv.gz": (gzip.compress(b""), "is empty"),
    "blank.csv": (b" \n\n", "is empty"),
    "cut.csv.gz": (gzip.compress(ORDINARY_CSV.encode())[:12], "is cut off or damaged"),
    "binary.csv": (b"\x50\x4b\x03\x04\0\0", "is not text in UTF-8"),
    "utf16.csv": (ORDINARY_CSV.encode("utf-16"), "is not text in UTF-8"),
    "array.json": (b'[{"device": "FM-1"}]', "is one JSON array"),
    "no-header.csv": (ORDINARY_CSV.partition("\n")[2].encode(), "has no column device"),
    "other.csv": (b"serial,time\nFM-1,2024\n", "no column device and no column recorded_at"),
    "semicolons.csv": (ORDINARY_CSV.replace(",", ";").encode(), "has no column device"),
    "twice.csv": (b"device,recorded_at,quality,quality\n", "has the column quality twice"),
    "unclosed.csv": (b'"' + ORDINARY_CSV.encode(), "line 1 is not readable as CSV"),
    "endless.csv": (b"x" * (3 << 20), "line 1 is not readable as CSV"),
    "utf16-unmarked.csv": (ORDINARY_CSV.encode("utf-16-le"), "is not text in UTF-8"),
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_a_file_that_cannot_be_read_is_one_clear_line(
    sqlite_store: Store, organization: str, tmp_path: Path, name: str
) -> None:
    content, problem = UNREADABLE[name]
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(UserError) as caught:
        import_file(sqlite_store, organization, path, lambda batch: None)
    result = str(caught.value)
    assert problem in result
    assert name in result
    assert "\n" not in result


@pytest.mark.parametrize("name", ["missing.csv", "."])
def test_a_missing_file_is_named(
    sqlite_store: Store, organization: str, tmp_path: Path, name: str
) -> None:
    with pytest.raises(UserError, match=r"No such file|Is a directory"):
        import_file(sqlite_store, organization, tmp_path / name, lambda batch: None)


def test_a_header_alone_is_a_file_without_readings(
    take_in: Callable[..., tuple[Progress, list[object]]],
) -> None:
    progress, rows = take_in(HEADER)
    assert (counts(progress), rows, progress.complete) == ((0, 0, 0, 0), [], True)
