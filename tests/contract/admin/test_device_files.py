"""Devices as a CSV file: what it would change, the import, its undo."""

from __future__ import annotations

from uuid import uuid4

import pytest

from api.store.base import NewDevice
from tests.contract.admin.conftest import Admin
from tests.world import ACME, LONE, QUIET, TWIN, World


def test_a_file_is_previewed_before_it_is_applied(world: World, admin: Admin) -> None:
    text = admin.ask("GET", "/devices/file")["csv"]
    assert admin.ask("POST", "/devices/file", {"csv": text})["unchanged"] == 6
    lines = text.splitlines()
    head = lines[0].split(",")
    file = "\n".join(
        [
            "serialNumber;label;price;updated",
            "T-1;Tower;0.02;",
            "NEW 1;;;",
            "M-1;x;dear;",
            "Q 1;x;;2020-01-01T00:00:00Z",
            "L/1;=cmd;;",
            "L/1;again;;",
        ]
    )
    seen = admin.ask("POST", "/devices/file", {"csv": file})
    assert (seen["created"], seen["changed"], seen["refused"]) == (1, 2, 3)
    assert [(row["line"], row["deed"]) for row in seen["rows"]] == [
        (2, "change"), (3, "create"), (4, "refused"), (5, "refused"), (6, "change"),
        (7, "refused"),
    ]  # fmt: skip
    assert admin.device(TWIN)["label"] == "alpha"  # nothing yet
    at = admin.ask("POST", "/devices/file", {"csv": file, "preview": False})["at"]
    assert (admin.device(TWIN)["label"], admin.device(TWIN)["price"]) == ("Tower", 0.02)
    assert admin.device(QUIET)["label"] == "epsilon"
    assert "'=cmd" in admin.ask("GET", "/devices/file")["csv"]
    assert head[0] == "serialNumber"
    admin.ask("PATCH", "/devices", {"devices": [LONE], "set": {"label": "own"}})
    done = admin.ask("DELETE", "/devices/file", {"at": at})
    assert done == {"restored": 1, "deleted": 1, "stay": ["L/1"]}
    assert (admin.device(TWIN)["label"], admin.device(LONE)["label"]) == ("alpha", "own")
    assert admin.ask("POST", "/devices/file", {"csv": text})["created"] == 0
    admin.ask("DELETE", "/devices/file", {"at": "2020-01-01T00:00:00Z"}, 404)


def test_a_file_has_the_organizations_units(admin: Admin) -> None:
    """Its headings name them; a file that comes back unchanged changes nothing."""
    admin.ask("PATCH", "/devices", {"devices": [TWIN], "set": {"price": 0.01, "highFlowLimit": 35}})
    admin.ask("PATCH", "/organization", {"units": "metric"})
    text = admin.ask("GET", "/devices/file")["csv"]
    row = dict(
        zip(*(line.split(",") for line in text.splitlines() if line[:1] in "sT"), strict=True)
    )
    assert (row["price (per m³)"], row["highFlowLimit (L/min)"]) == ("2.641721", "132.489412")
    assert admin.ask("POST", "/devices/file", {"csv": text})["unchanged"] == 6
    file = "serialNumber,price (per m³),highFlowLimit (gal/min)\nT-1,3.5,40"
    admin.ask("POST", "/devices/file", {"csv": file, "preview": False})
    assert admin.device(TWIN)["price"] == pytest.approx(0.013248941244, rel=1e-15)
    assert admin.device(TWIN)["highFlowLimit"] == 40
    assert ",3.5," in admin.ask("GET", "/devices/file")["csv"]
    for heading in ("price (per L)", "price,price (per m³)", "label (m³)"):
        admin.ask("POST", "/devices/file", {"csv": f"serialNumber,{heading}\nT-1,1"}, 400)


def test_a_file_that_comes_back_unchanged_changes_nothing(world: World, admin: Admin) -> None:
    """Whatever other systems have imported: more digits than a cell, texts that a form refuses."""
    odd = [
        NewDevice("E-1", {"label": " two  words ", "costPerGallon": {"value": 0.1 + 0.2}}),
        NewDevice("E-2", {"label": 'a,"b";c\nd', "costPerGallon": {"value": 1 / 3}}),
        NewDevice("E-3", {"label": "x" * 300, "config": {"highFlowLimit": 1 / 7}}),
        NewDevice("E-4", {"label": "=1+1", "config": {"registerDigits": "many"}}),
        NewDevice("O-1", {"id": str(uuid4()), "label": "in the place of the inactive one"}),
    ]
    world.store.import_devices(ACME, odd)
    for units in ("us", "metric"):
        admin.ask("PATCH", "/organization", {"units": units})
        text = admin.ask("GET", "/devices/file")["csv"]
        seen = admin.ask("POST", "/devices/file", {"csv": text})
        assert (seen["unchanged"], seen["rows"]) == (11, [])


def test_a_file_of_something_else_is_refused(admin: Admin) -> None:
    for text in ("label\nx", "serialNumber,colour\nM-1,red", "", 'serialNumber\n"' + "x" * 200_000):
        admin.ask("POST", "/devices/file", {"csv": text}, 400)
