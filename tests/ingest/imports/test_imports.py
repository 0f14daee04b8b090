"""Imports over HTTP: upload in pieces, guessed mapping, preview, run, pause and undo."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unittest.mock import ANY

import pytest

from api.catalog import KEY_HEADER, RAW
from api.domain import device_changes
from api.ingest.foreign import convert
from api.ingest.imports import job
from api.ingest.imports.folder import Outcome, harmless
from api.ingest.imports.import_spans import note
from api.store.base import Span
from api.timez import parse_instant
from tests.ingest.foreign.layout_files import LayoutCase
from tests.ingest.foreign.layouts import CASES
from tests.ingest.imports.site import PATH, Site
from tests.store.fleet import everything, reading
from tests.tables import cases

GERMAN, AMPDS = (next(c for c in CASES if c.name == name) for name in ("german.csv", "ampds.csv"))


def test_a_file_is_uploaded_guessed_corrected_imported_and_undone(site: Site) -> None:
    id = site.upload(GERMAN)
    seen = site.ask("GET", f"/{id}")
    assert seen["state"] == "ready"
    assert {"zone", "column.flow_amount.values"} <= seen["unsure"].keys()
    assert seen["preview"]["newDevices"] == 2
    assert len(seen["preview"]["rows"]) == 20

    name, _, zone = GERMAN.correction.partition("=")
    seen = site.ask("PATCH", f"/{id}", json={"settings": {name: zone, "save": "stadtwerk"}})
    assert "zone" not in seen["unsure"]
    assert seen["mappings"] == ["stadtwerk"]

    assert site.ask("POST", f"/{id}/begin")["state"] == "waiting"
    site.work()
    done = site.ask("GET", f"/{id}")
    assert (done["state"], done["outcome"]["stored"]) == ("done", 192)
    assert done["outcome"]["created"] == ["Z-440", "Z-441"]
    assert site.gallons("Z-440") == pytest.approx(GERMAN.gallons["Z-440"])

    site.ask("POST", f"/{id}/undo")
    site.work()
    undone = site.ask("GET", f"/{id}")
    assert (undone["state"], undone["outcome"]["removed"]) == ("undone", 192)
    assert undone["outcome"]["deleted"] == ["Z-440", "Z-441"]
    assert site.store.resolve(everything(site.org), ["Z-440"]) == [None]
    actions = [entry["action"] for entry in site.flask.ask("audit", "list", "--org", site.org)]
    assert {"import", "undo import", "delete"} <= set(actions)

    assert site.ask("PATCH", f"/{id}", json={"settings": {}})["state"] == "ready"
    site.ask("POST", f"/{id}/begin")
    site.work()
    assert site.gallons("Z-440") == pytest.approx(GERMAN.gallons["Z-440"])


def test_new_devices_have_the_names_that_the_file_gives_them(site: Site) -> None:
    rows = [
        f"{name};{serial};{hour:02}.10.2025 06:00;{hour}"
        for name, serial in (("Mill", "L-1"), ("Dam", "L-2"))
        for hour in (1, 2, 3)
    ]
    text = "\n".join(["Site Name;Logger ID;Time;Volume (l)", *rows])
    id = site.upload(LayoutCase("sites.csv", text.encode, {}))
    site.ask("POST", f"/{id}/begin")
    site.work()
    labels = [d.label for d in site.store.resolve(everything(site.org), ["L-1", "L-2"]) if d]
    assert labels == ["Mill", "Dam"]


def test_the_preview_has_the_zone_of_new_devices(site: Site) -> None:
    """The organization's, in which the import then reads the times too."""
    site.flask.ask("orgs", "set", site.org, "--zone", "Europe/Berlin")
    id = site.upload(GERMAN)
    seen = site.ask("GET", f"/{id}")["preview"]
    assert seen["zone"] == "Europe/Berlin"
    site.ask("POST", f"/{id}/begin")
    site.work()
    (device,) = site.store.resolve(everything(site.org), ["Z-440"])
    assert device is not None
    first = min(row["recordedAt"] for row in seen["rows"] if row["device"] == "Z-440")
    assert site.store.bounds(device, RAW, Span()) == (first, ANY)


def _label(site: Site) -> None:
    site.flask.ask("devices", "set", "Z-440", "label=Hall", "--org", site.org)


def _parent(site: Site) -> None:
    site.flask.ask("devices", "parent", "Z-441", "Z-440", "--org", site.org)


def _note(site: Site) -> None:
    at = ("--from", "2025-10-01T00:00:00Z")
    site.flask.ask("notes", "create", "seen", "--device", "Z-440", *at, "--org", site.org)


def _budget(site: Site) -> None:
    site.flask.ask("budgets", "set", "3000", "--device", "Z-440", "--org", site.org)


def _reading(site: Site) -> None:
    (device,) = site.store.resolve(everything(site.org), ["Z-440"])
    assert device is not None
    site.store.write([reading(device, parse_instant("2020-10-01T00:30:30Z"), flow_amount=1.0)])


@pytest.mark.parametrize("used", [_label, _parent, _note, _budget, _reading])
def test_undo_keeps_a_new_device_that_is_used(site: Site, used: Callable[[Site], None]) -> None:
    id = site.upload(GERMAN)
    site.ask("POST", f"/{id}/begin")
    site.work()
    used(site)
    pretended = site.flask.ask("readings", "undo-import", id, "--pretend")
    done = site.flask.ask("readings", "undo-import", id)
    assert done == pretended
    assert done["readings"] == 192
    assert "Z-440" not in done["devices"]
    assert site.store.resolve(everything(site.org), ["Z-440"]) != [None]
    (listed,) = site.flask.ask("readings", "imports", "--org", site.org)
    assert (listed["id"], listed["state"], listed["created"]) == (id, "undone", 2)
    (message,) = site.ask("GET", f"/{id}")["outcome"]["messages"]
    assert message.startswith("New devices with other readings, notes or settings stay: Z-440")


def test_undo_leaves_earlier_and_later_readings(site: Site) -> None:
    for _ in range(2):  # the second file has nothing new
        id = site.upload(AMPDS)
        site.ask("POST", f"/{id}/begin")
        site.work()
    site.ask("POST", f"/{id}/undo")
    site.work()
    assert site.ask("GET", f"/{id}")["outcome"]["removed"] == 0
    assert site.gallons("ampds") == pytest.approx(AMPDS.gallons["ampds"])


def test_an_import_pauses_before_its_next_batch_and_continues(site: Site) -> None:
    id = site.upload(AMPDS)
    site.ask("POST", f"/{id}/begin")
    site.ask("POST", f"/{id}/pause")
    site.work()
    assert site.ask("GET", f"/{id}")["state"] == "paused"
    site.ask("POST", f"/{id}/begin")
    site.work()
    assert site.ask("GET", f"/{id}")["outcome"]["stored"] == 96


def test_an_import_that_pauses_midway_continues_to_the_same_readings(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A register's volume between two batches isn't lost, and undo removes both parts."""
    monkeypatch.setattr(convert, "CHUNK_VALUES", 100)
    monkeypatch.setattr(convert, "BATCH_CHUNKS", 1)
    id = site.upload(GERMAN)
    site.ask("POST", f"/{id}/begin")
    folder = site.folders.any(id)
    monkeypatch.setattr(job, "note", lambda path, spans: (note(path, spans), folder.pause(True)))
    site.work()
    paused = site.ask("GET", f"/{id}")
    assert (paused["state"], paused["outcome"]["read"]) == ("paused", 100)
    size = folder.file.stat().st_size
    assert 0 < paused["outcome"]["bytes"] <= size
    monkeypatch.setattr(job, "note", note)
    site.ask("POST", f"/{id}/begin")
    site.work()
    done = site.ask("GET", f"/{id}")["outcome"]
    assert (done["stored"], done["bytes"]) == (192, size)
    for serial, gallons in GERMAN.gallons.items():
        assert site.gallons(serial) == pytest.approx(gallons)
    site.ask("POST", f"/{id}/undo")
    site.work()
    assert site.ask("GET", f"/{id}")["outcome"]["removed"] == 192


def test_a_job_that_was_killed_is_interrupted_and_continues(site: Site) -> None:
    id = site.upload(AMPDS)
    site.ask("POST", f"/{id}/begin")
    folder = site.folders.any(id)
    folder.report(Outcome("running"))  # and no process holds its lock
    assert site.ask("GET", f"/{id}")["state"] == "interrupted"
    site.ask("POST", f"/{id}/begin")
    site.work()
    assert site.ask("GET", f"/{id}")["outcome"]["stored"] == 96


def test_devices_that_a_killed_job_created_go_with_its_undo(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    id = site.upload(GERMAN)
    site.ask("POST", f"/{id}/begin")

    class Killed(BaseException):
        pass

    def killed(*_: Any, **__: Any) -> None:
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(job, "import_file", killed)
        with pytest.raises(Killed):
            site.work()
    site.waiting.clear()
    site.ask("POST", f"/{id}/begin")
    site.work()
    site.ask("POST", f"/{id}/undo")
    site.work()
    assert sorted(site.ask("GET", f"/{id}")["outcome"]["deleted"]) == sorted(GERMAN.gallons)


def test_an_undo_that_was_killed_continues_its_counts(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    id = site.upload(GERMAN)
    site.ask("POST", f"/{id}/begin")
    site.work()
    stored = site.ask("GET", f"/{id}")["outcome"]["stored"]
    site.ask("POST", f"/{id}/undo")
    delete, deleted = device_changes.delete, list[int]()

    def once(*them: Any) -> int:
        if deleted:
            raise KeyboardInterrupt
        deleted.append(delete(*them))
        return deleted[0]

    with monkeypatch.context() as patched:
        patched.setattr(device_changes, "delete", once)
        with pytest.raises(KeyboardInterrupt):
            site.work()
    site.waiting.clear()
    assert 0 < site.ask("GET", f"/{id}")["outcome"]["removed"] < stored
    site.ask("POST", f"/{id}/begin")
    site.work()
    undone = site.ask("GET", f"/{id}")["outcome"]
    assert (undone["removed"], undone["messages"]) == (stored, [])
    assert sorted(undone["deleted"]) == sorted(GERMAN.gallons)


def test_undo_keeps_a_reading_stored_in_between(site: Site) -> None:
    id = site.upload(AMPDS)
    site.ask("POST", f"/{id}/begin")
    site.work()
    (device,) = site.store.resolve(everything(site.org), ["ampds"])
    assert device is not None
    site.store.write([reading(device, parse_instant("2025-10-01T00:30:30Z"), flow_amount=1.0)])
    site.ask("POST", f"/{id}/undo")
    site.work()
    undone = site.ask("GET", f"/{id}")["outcome"]
    assert undone["removed"] == 0
    assert "96 readings stay" in undone["messages"][0]


def test_refused_rows_are_a_table_and_a_file(site: Site) -> None:
    text = "device,time,volume (l)\n" + "".join(
        f"M-1,2025-10-01 {hour:02}:00:00,{'=bad' if hour == 3 else hour % 4}\n"
        for hour in range(24)
    )
    id = site.upload(LayoutCase("r.csv", text.encode, {}))
    assert site.ask("GET", f"/{id}")["preview"]["refused"][0][0] == "volume (l) is not a number"
    site.ask("POST", f"/{id}/begin")
    site.work()
    assert site.ask("GET", f"/{id}")["outcome"]["refused"] == 1
    (row,) = site.ask("GET", f"/{id}")["refusedRows"]
    assert row == ["volume (l) is not a number", "M-1", "M-1,2025-10-01 03:00:00,=bad"]
    lines = site.ask("GET", f"/{id}/refused").splitlines()
    assert lines[1] == 'volume (l) is not a number,M-1,"M-1,2025-10-01 03:00:00,=bad"'


def test_the_openapi_document_has_every_path_of_imports(site: Site) -> None:
    answer = site.http.get("/insight/v1/api-json", headers={KEY_HEADER: site.key}).get_json()
    documented = {
        f"{verb.upper()} {path}"
        for path, verbs in answer["paths"].items()
        for verb in verbs
        if path.startswith(PATH)
    }
    served = {
        f"{method} {rule.rule.replace('<id>', '{id}')}"
        for rule in site.http.application.url_map.iter_rules()
        for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}
        if rule.rule.startswith(PATH)
    }
    assert documented == served


def test_invalid_requests_are_refused(site: Site) -> None:
    id = site.upload(AMPDS)
    one, settings = f"/{id}", {"settings": {"colour": "red"}}
    site.ask("GET", status=403, key=site.new_key("operator"))
    site.ask("GET", "/0123456789abcdef", status=404)
    site.ask("GET", "/..%2F..", status=404)
    site.ask("POST", json={"name": "a", "size": 3 << 30}, status=413)
    site.ask("POST", json={"name": "../", "size": 3}, status=400)
    site.ask("PUT", f"{one}/content?offset=5", data=b"x", status=409)
    site.ask("PUT", f"{one}/content?offset=-1", data=b"x", status=400)
    site.ask("PATCH", one, json=settings, status=400)
    site.ask("POST", f"{one}/pause", status=409)
    site.ask("POST", f"{one}/undo", status=409)
    site.ask("DELETE", one)
    site.ask("GET", one, status=404)


def test_an_import_of_another_organization_is_not_found(site: Site) -> None:
    id = site.upload(AMPDS)
    other = site.flask.ask("orgs", "create", "Other")["id"]
    key = site.flask.ask("keys", "create", "--org", other, "--role", "administrator")["key"]
    site.ask("GET", f"/{id}", status=404, key=key)
    assert site.ask("GET", key=key)["data"] == []


def test_a_table_without_a_time_shows_its_values(site: Site) -> None:
    id = site.upload(LayoutCase("days.csv", lambda: b"meter,litres\nA,1\nA,2\n", {}), pieces=1)
    seen = site.ask("GET", f"/{id}")["preview"]
    assert seen["problem"] == "No column is the time."
    assert seen["samples"] == [["A"], ["1", "2"]]


def test_an_upload_that_is_not_a_table_fails_with_a_message(site: Site) -> None:
    id = site.upload(LayoutCase("photo.csv", lambda: b"\x89PNG\r\n" * 5, {}), pieces=1)
    seen = site.ask("GET", f"/{id}")
    assert seen["state"] in ("failed", "ready")
    assert seen["outcome"]["problem"] or seen["preview"]["problem"]


@cases("cell", ["=1+1", " =1+1", "＝1+1", "\t=1", "@a", "-2"])
def test_a_file_of_refused_rows_holds_no_formula(cell: str) -> None:
    assert harmless(cell) == f"'{cell}"
    assert (harmless("plain = text"), harmless(-2)) == ("plain = text", -2)
