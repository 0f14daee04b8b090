"""The instance folder, deleted while it is in use."""

from __future__ import annotations

import shutil
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.commands.shell import eventually
from tests.faults.conftest import Start
from tests.faults.loaded_server import WatchedServer

AFAR = {"Host": "weir.example"}  # not this machine's own name, so only a session gives access


def request(loaded: WatchedServer, method: str, path: str, **more: Any) -> httpx.Response:
    """A response to another browser, without the server's cookies."""
    url = loaded.http.base_url.join(path)
    return httpx.request(method, url, timeout=60, trust_env=False, **more)


def signed_in(loaded: WatchedServer) -> str:
    """The cookie of a new session."""
    answer = request(loaded, "POST", "/sign-in", data={"key": loaded.reader}, headers=AFAR)
    assert answer.status_code == 303
    return answer.headers["Set-Cookie"].split(";")[0]


def may_look(loaded: WatchedServer, cookie: str) -> bool:
    return request(loaded, "GET", "/devices", headers={**AFAR, "Cookie": cookie}).status_code == 200


@pytest.mark.slow
def test_a_lost_instance_folder_is_made_again(start: Start) -> None:
    loaded = start(history=True)
    loaded.begin()
    assert "error" not in loaded.wall()
    before = signed_in(loaded)
    assert may_look(loaded, before)
    time.sleep(1.1)  # sessions store their second
    folder = Path(loaded.shell.environ["WEIR_INSTANCE"])
    shutil.rmtree(folder)
    assert loaded.old_rates(0, 10).status_code == 200
    assert loaded.open("/devices").status_code == 303  # sessions went with the folder
    loaded.sign_in()
    assert "error" not in loaded.wall()
    assert not may_look(loaded, before)  # whether it was signed out is no longer known
    assert may_look(loaded, signed_in(loaded))
    loaded.await_more()
    eventually(lambda: (folder / "writer.sock").exists(), "the writer was found again")
    assert "error" not in loaded.wall()
    assert "writer.sock was deleted; created it again" in loaded.settled()
