from __future__ import annotations

from pathlib import Path

import pytest

from api.store.open import open_store
from tests.commands.conftest import CommandLine
from tests.ingest.imports.site import Site


@pytest.fixture
def site(sqlite_url: str, tmp_path: Path) -> Site:
    weir = CommandLine({"WEIR_DATABASE": sqlite_url, "WEIR_INSTANCE": str(tmp_path / "instance")})
    weir.ask("db", "upgrade")
    org = weir.ask("orgs", "create", "Stadtwerk")["id"]
    return Site(weir, open_store(sqlite_url), tmp_path / "instance", org)
