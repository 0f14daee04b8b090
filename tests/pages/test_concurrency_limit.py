"""Concurrent files and images of one reader."""

from __future__ import annotations

from typing import Any

import pytest
from werkzeug.test import Client as Browser
from werkzeug.test import TestResponse

from tests.dashboards import Site
from web.downloads import routes
from web.images import routes as images_routes

FILE = "/download/devices.csv"
IMAGE = "/export/fleet.svg"


def get(site: Site, path: str) -> TestResponse:
    """A response whose body isn't read yet, as with a slow client."""
    return Browser(site.app.server).get(
        path, base_url="http://localhost", environ_base={"REMOTE_ADDR": "127.0.0.1"}
    )


def test_a_readers_concurrent_files_are_limited_and_finished_ones_free_a_place(site: Site) -> None:
    under_way = [get(site, FILE) for _ in range(routes.MOST_EACH)]
    assert {answer.status_code for answer in under_way} == {200}
    refused = get(site, FILE)
    assert (refused.status_code, refused.headers["Retry-After"]) == (429, "5")
    assert "You already have 3 files in progress" in refused.text
    assert get(site, IMAGE).status_code == 200  # images have a limit of their own
    under_way.pop().close()
    last = get(site, FILE)
    assert last.status_code == 200
    for answer in (*under_way, last):
        answer.close()


@pytest.mark.parametrize(
    "path", ["/download/devices/none/rows.csv", "/download/devices/none/days.xlsx"]
)
def test_a_failed_file_frees_its_place_too(site: Site, path: str) -> None:
    for _ in range(routes.MOST_EACH + 1):
        with get(site, path) as answer:
            assert answer.status_code in (400, 404)


def test_a_readers_concurrent_images_are_limited(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each image requests another while it is being made."""
    access, begun, statuses = images_routes.current_access, [0], list[int]()

    def with_another() -> Any:
        begun[0] += 1
        statuses.append(get(site, IMAGE).status_code)
        return access()

    monkeypatch.setattr(images_routes, "current_access", with_another)
    assert get(site, IMAGE).status_code == 200
    assert begun == [images_routes.MOST_EACH]
    assert statuses == [429, *[200] * (images_routes.MOST_EACH - 1)]
    monkeypatch.undo()
    assert get(site, IMAGE).status_code == 200
