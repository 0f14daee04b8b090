"""The audit log."""

from __future__ import annotations

import importlib
from typing import Any

import pytest

from api.client.annotations import AuditEntry
from components.audit_queries import AuditFilter, read_filter
from components.html_json import as_nodes
from tests.dashboards import Site
from tests.world import ms


@pytest.fixture
def page(looking: Site) -> Any:
    return importlib.import_module("pages.audit")


def test_an_invalid_filter_is_ignored() -> None:
    assert read_filter({"kind": "nonsense", "from": "soon", "page": "-1"}) == AuditFilter()
    requests = read_filter({"kind": "key", "q": "Ann", "from": "2026-03-08", "to": "2026-03-08"})
    assert requests.bounds == (ms("2026-03-08T00:00Z"), ms("2026-03-09T00:00Z") - 1)
    assert requests.query() == {"kind": "key", "q": "Ann", "from": "2026-03-08", "to": "2026-03-08"}


def test_only_changed_fields_are_listed(page: Any) -> None:
    entry = AuditEntry(
        ms("2026-03-08T12:00-06:00"), "key_1", "key", "change role", "key_2",
        {"role": "viewer", "name": "Ann"}, {"role": "operator", "name": "Ann"}, "",
    )  # fmt: skip
    text = str(as_nodes(page.table([entry])))
    assert "viewer" in text
    assert "operator" in text
    assert "name: " not in text  # unchanged
    assert text.count("Ann") == 1  # which key it is
