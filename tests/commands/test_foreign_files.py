"""`weir readings import` of files in other formats."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from api.store.base import Store
from tests.commands.conftest import CommandLine
from tests.ingest.foreign.layout_files import written
from tests.ingest.foreign.layouts import CASES

GERMAN = next(case for case in CASES if case.name == "german.csv")


@pytest.fixture
def org(weir: CommandLine) -> str:
    return weir.ask("orgs", "create", "Stadtwerk")["id"]


def total(store: Store, org: str, serial: str) -> float:
    from api.catalog import FLOW_AMOUNT, RAW
    from api.store.base import Span
    from tests.store.fleet import everything

    (device,) = store.resolve(everything(org), [serial])
    assert device is not None
    rows = store.rows(device, RAW, Span(), limit=1_000, metrics=(FLOW_AMOUNT,))
    return sum(row[1] or 0.0 for row in rows)


def test_a_file_is_previewed_mapped_imported_and_watched(
    weir: CommandLine, org: str, tmp_path: Path, opened: Callable[[], Store]
) -> None:
    path = written(GERMAN, tmp_path)
    refused = weir.run("readings", "import", path, "--org", org)
    assert "weir readings import --preview" in refused.stderr

    weir.ask("orgs", "set", org, "--zone", "Europe/Rome")
    shown = weir.ask("readings", "import", path, "--org", org, "--preview")
    assert shown["rows"][0]["recordedAt"] == "2025-10-01T00:00:00Z"  # as new devices get that zone
    shown = weir.ask(
        "readings", "import", path, "--org", org, "--preview", "--set", GERMAN.correction,
        "--save", "stadtwerk",
    )  # fmt: skip
    assert shown["newDevices"] == ["Z-440", "Z-441"]
    assert "column.flow_amount.values" in shown["check"]
    assert "zone" not in shown["check"]
    assert len(shown["rows"]) == 20
    assert shown["rows"][0]["recordedAt"] == "2025-10-01T00:00:00Z"

    unknown = weir.run("readings", "import", path, "--org", org, "--mapping", "stadtwerk")
    assert unknown.exit_code == 1
    arguments = ("readings", "import", "--org", org, "--mapping", "stadtwerk", "--create-devices")
    done = weir.ask(*arguments, path)
    assert done == {"read": 192, "stored": 192, "repeated": 0, "refused": 0}
    assert total(opened(), org, "Z-440") == pytest.approx(GERMAN.gallons["Z-440"])

    folder = tmp_path / "incoming"
    folder.mkdir()
    (folder / "again.csv").write_bytes(path.read_bytes())
    (folder / "arriving.csv.part").write_bytes(path.read_bytes())
    (folder / "other.csv").write_text("a;b\n1;2\n")
    result = weir.run(*arguments, "--watch", folder, "--once")
    assert result.exit_code == 1
    assert result.stdout == ""  # the same content is in the store already
    assert "other.csv: its header lacks Zähler" in result.stderr
    (folder / "other.csv").unlink()
    assert weir.run(*arguments, "--watch", folder, "--once").exit_code == 0


def test_a_column_that_is_not_a_device_creates_none(
    weir: CommandLine, org: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("api.ingest.new_devices.MOST_NEW", 10)
    path = written(GERMAN, tmp_path)
    message = weir.error(
        "readings", "import", "--org", org, path, "--create-devices",
        "--set", "column.Zähler.is=skip", "--set", "column.RSSI.is=skip",
        "--set", "column.flow_amount.is=device", "--set", "column.Temperatur.is=temperature",
    )  # fmt: skip
    assert "devices that aren't there: is '1.203.386' a device?" in message
    assert weir.ask("devices", "list", "--org", org) == []


def test_a_register_in_flow_amount_is_reported(weir: CommandLine, org: str, tmp_path: Path) -> None:
    (tmp_path / "devices.json").write_text('[{"serialNumber": "M-1"}]')
    weir.ask("devices", "import", tmp_path / "devices.json", "--org", org)
    path = tmp_path / "r.csv"
    rows = [f"M-1,2024-03-{1 + h // 24:02}T{h % 24:02}:00:00Z,{9_000 + 5 * h}" for h in range(48)]
    path.write_text("\n".join(["device,recorded_at,flow_amount", *rows]))
    result = weir.run("readings", "import", path, "--org", org)
    assert "flow_amount looks like a register: it only rises for M-1" in result.stderr


def test_a_flow_higher_than_any_before_is_reported(
    weir: CommandLine, org: str, tmp_path: Path
) -> None:
    (tmp_path / "devices.json").write_text('[{"serialNumber": "M-1"}]')
    weir.ask("devices", "import", tmp_path / "devices.json", "--org", org)
    for day, flow in ((1, 2.0), (20, 21.0)):
        path = tmp_path / f"{day}.csv"
        path.write_text(f"device,recorded_at,flow_rate\nM-1,2024-03-{day:02}T10:00:00Z,{flow}\n")
        result = weir.run("readings", "import", path, "--org", org)
    assert "21.0 gal/min for M-1; at most 2.0 gal/min in the 90 days before" in result.stderr


MINUTE = "2024-03-01 10:{:02}:00"


@pytest.mark.parametrize(
    ("header", "row", "large", "small", "arguments"),
    [
        ("device,recorded_at,flow_rate", f"M-1,{MINUTE.replace(' ', 'T')}Z,{{}}", "31", "1", ()),
        ("Meter;Time;Flow (m³/h)", f"M-1;{MINUTE};{{}}", "7,041", "0,227", ("--set", "zone=UTC")),
    ],
    ids=["own", "foreign"],
)
def test_a_flow_beyond_a_meters_size_is_reported_and_a_finding(
    weir: CommandLine, org: str, tmp_path: Path,
    header: str, row: str, large: str, small: str, arguments: tuple[str, ...],
) -> None:  # fmt: skip
    device = '[{"serialNumber": "M-1", "reportingInterval": 60, "config": {"meterSize": "DN 20"}}]'
    (tmp_path / "devices.json").write_text(device)
    weir.ask("devices", "import", tmp_path / "devices.json", "--org", org)
    path = tmp_path / "r.csv"
    rows = [row.format(minute, large if minute < 30 else small) for minute in range(60)]
    path.write_text("\n".join([header, *rows]))
    result = weir.run("readings", "import", path, "--org", org, *arguments)
    assert "31.0 gal/min for M-1; at most 30.0 gal/min for its size" in result.stderr
    (suspicious,) = weir.ask("readings", "suspicious", "--org", org)
    assert suspicious["sample"] == "31.0 gal/min; at most 30.0 gal/min for its size"
    weir.ask("insight", "run", "--org", org)
    findings = weir.ask("insight", "findings", "--org", org)
    (finding,) = (each for each in findings if each["kind"] == "high-flow")
    assert finding["start"] == "2024-03-01T10:00:00Z"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "name files, or a folder to watch"),
        (("FILE", "--mapping", "nothing"), "there is no mapping nothing"),
        (("FILE", "--mapping", "../etc"), "can't be a mapping's name"),
        (("FILE", "--set", "zone=Mars"), "is not an IANA time zone name"),
        (("FILE", "--set", "colour=red"), "there is no setting colour"),
        (("FILE", "--set", "column.Zeitpunkt.is=skip"), "no column is the time"),
        (("FILE", "--set", "column.flow_amount.unit=stone"), "'stone' is no unit"),
        (("FILE", "--guess", "--replace"), "--replace is for files of Weir's own form"),
        (("FILE", "--set", "digits=16"), "digits must be 0 to 15"),
        (("--watch", "nowhere"), "no such folder"),
        (("--watch", ".", "--once", "--mapping", "nothing"), "there is no mapping nothing"),
    ],
)
def test_a_failure_is_one_line(
    weir: CommandLine, org: str, tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    path = written(GERMAN, tmp_path)
    given = [path if each == "FILE" else each for each in arguments]
    assert message in weir.error("readings", "import", "--org", org, *given)
