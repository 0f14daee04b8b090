"""The import page: for administrators, with what its script needs."""

from __future__ import annotations

import importlib
import json

import pytest

from api.catalog import IMPORT_PIECE_BYTES
from api.client.credential import Me
from api.roles import Role
from components import session
from tests.dashboards import Site
from tests.pages.elements import text, walk


@pytest.mark.parametrize("role", list(Role))
def test_the_page_is_for_administrators(
    looking: Site, monkeypatch: pytest.MonkeyPatch, role: Role
) -> None:
    monkeypatch.setattr(session, "me", lambda: Me("k", "key", "", role, may_embed=False))
    page = importlib.import_module("pages.imports").layout()
    results = [each for each in walk(page) if getattr(each, "id", "") == "import-page"]
    if role is not Role.ADMINISTRATOR:
        assert "for administrators" in text(page)
        assert results == []
        return
    settings = json.loads(getattr(results[0], "data-settings"))
    assert settings["files"] == "/import/files"
    assert settings["pieceBytes"] == IMPORT_PIECE_BYTES
