"""The folder for what Weir makes itself, lost while it is in use."""

from __future__ import annotations

import shutil
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.commands.shell import eventually
from tests.faults.conftest import Start
from tests.faults.plant import Looked

AFAR = {"Host": "weir.example"}  # not by this machine's own name, so by a session alone


def asked(plant: Looked, method: str, path: str, **more: Any) -> httpx.Response:
    """By a browser of somebody else's, which has none of the plant's cookies."""
    url = plant.http.base_url.join(path)
    return httpx.request(method, url, timeout=60, trust_env=False, **more)


def signed_in(plant: Looked) -> str:
    """A session's cookie."""
    answer = asked(plant, "POST", "/sign-in", data={"key": plant.reader}, headers=AFAR)
    assert answer.status_code == 303
    return answer.headers["Set-Cookie"].split(";")[0]


def may_look(plant: Looked, cookie: str) -> bool:
    return asked(plant, "GET", "/devices", headers={**AFAR, "Cookie": cookie}).status_code == 200


@pytest.mark.slow
def test_a_lost_instance_folder_costs_a_moment_and_nothing_more(start: Start) -> None:
    plant = start(history=True)
    plant.begin()
    assert "error" not in plant.wall()
    before = signed_in(plant)
    assert may_look(plant, before)
    time.sleep(1.1)  # sessions know their second
    folder = Path(plant.shell.environ["WEIR_INSTANCE"])
    shutil.rmtree(folder)
    assert plant.old_rates(0, 10).status_code == 200
    assert plant.open("/devices").status_code == 303  # sessions went with the folder
    plant.sign_in()
    assert "error" not in plant.wall()
    assert not may_look(plant, before)  # nobody knows any more whether it was signed out
    assert may_look(plant, signed_in(plant))
    plant.await_more()
    eventually(lambda: (folder / "writer.sock").exists(), "the writer was found again")
    assert "error" not in plant.wall()
    assert "writer.sock was deleted; created it again" in plant.settled()
