"""The service whose OpenAPI document is tested."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests import citus
from tests.world import World, opened


@pytest.fixture(scope="package", params=citus.FILE_OR_CLUSTER)
def world(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[World]:
    """Read only, like that of the contract."""
    with (
        citus.place(request.param, tmp_path_factory.mktemp("world")) as url,
        opened(url) as world,
    ):
        yield world
