"""Batches of a file's readings, without a store."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from api.ingest import source
from api.ingest.decode import Devices
from api.ingest.files import Damaged, batches
from api.ingest.source import inspect

HEADER = "device,recorded_at,flow_rate,quality\n"
T_MS = 1_709_287_200_000
LONG = HEADER + "".join(
    f"FM-1,2024-03-{1 + n // 1440:02}T{n // 60 % 24:02}:{n % 60:02}:00Z,{n * 7919 % 10007},{n}\n"
    for n in range(20_000)
)


def test_lines_end_at_any_place_between_two_pieces_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "readings.csv"
    for more in range(4):  # moves the line ends across the border at 1 MiB
        path.write_text(
            (LONG * 2).replace(HEADER, HEADER.rstrip() + "," * more + "\n", 1), newline="\r\n"
        )
        result = batches(inspect(path), Devices({"FM-1": 1}), T_MS + 86_400_000 * 60)
        assert sum(batch.read for batch in result) == 40_001


def test_batches_report_unknown_columns_and_progress(tmp_path: Path) -> None:
    path = tmp_path / "readings.csv"
    path.write_text(LONG.replace("quality", "colour", 1))
    results = list(batches(inspect(path), Devices({"FM-1": 1}), T_MS + 86_400_000 * 60))
    assert results[0].unknown == {"colour"}
    assert results[-1].consumed == path.stat().st_size
    assert sum(batch.read for batch in results) == 20_000


@pytest.mark.parametrize("skip", [0, 1, 9_999, 10_000, 10_001, 19_999, 20_000, 30_000])
def test_skipping_gives_the_remaining_rows(tmp_path: Path, skip: int) -> None:
    path = tmp_path / "readings.csv"
    path.write_text(LONG)
    result = batches(inspect(path), Devices({"FM-1": 1}), T_MS + 86_400_000 * 60, skip)
    qualities = [row[5] for batch in result for row in batch.columns.rows()]
    assert qualities == [float(n) for n in range(skip, 20_000)]


def test_a_file_that_unpacks_to_too_much_ends_at_the_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "readings.csv.gz"
    path.write_bytes(gzip.compress((LONG * 8).encode()))
    monkeypatch.setattr(source, "MOST_UNPACKED", 4 << 20)
    result = batches(inspect(path), Devices({"FM-1": 1}), T_MS + 86_400_000 * 60)
    assert 0 < next(result).read < 8 * 20_000
    with pytest.raises(Damaged, match="unpacks to more than"):
        list(result)
