"""One site with embeds for all tests of a file."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.dashboards import Fleet, make_fleet
from tests.web.embed.frames import Embeds, serving_embeds


@pytest.fixture(scope="module")
def small_fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    made = make_fleet(tmp_path_factory.mktemp("fleet"), many=4)
    yield made
    made.store.close()


@pytest.fixture(scope="module")
def embeds(small_fleet: Fleet, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Embeds]:
    with serving_embeds(small_fleet, tmp_path_factory.mktemp("embeds")) as running:
        yield running
