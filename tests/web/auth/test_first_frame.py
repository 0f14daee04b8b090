"""What readers see before the service has responded: the frame, and nothing waits twice."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask

from api.client import Client
from api.errors import Unreachable
from components import session, shell
from components.session import READER, EntryMethod, Reader
from tests.web.auth.conftest import Open


class Away:
    """A client of a service that is away. Counts the requests."""

    principal = "away"

    def __init__(self) -> None:
        self.requests = 0

    def __getattr__(self, name: str) -> Any:
        def method(*args: Any, **params: Any) -> Any:
            self.requests += 1
            raise Unreachable("The service can't be reached.")

        return method


def test_the_first_layout_has_the_frame_without_data(open_site: Open, keys: dict[str, str]) -> None:
    site = open_site()
    site.sign_in(keys["all"])
    layout = site.open("/_dash-layout").text
    assert "first-frame" in layout
    assert all(place.label in layout for place in shell.PLACES)
    assert "Org-Acme" not in layout


def test_a_page_waits_once_for_a_service_that_is_away() -> None:
    server, client = Flask("away"), Away()
    session.install(server)
    reader = Reader(_as_client(client), EntryMethod.SESSION, [])
    with server.test_request_context(environ_overrides={READER: reader}):
        for part in (session.organization_name, session.count_of_urgent_findings):
            with pytest.raises(Unreachable):
                part()
        assert not session.me().role.may_administer
    assert client.requests == 1


def _as_client(away: Away) -> Client:
    stand_in: Any = away
    return stand_in
