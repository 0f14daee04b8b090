"""Signed addresses of images over HTTP: made by a signed-in reader, opened by anybody."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from werkzeug.test import Client as Browser
from werkzeug.test import TestResponse

from api.auth import issue_token, key_digest
from api.auth.signed import SignedAddresses
from api.client import Client
from api.server import create_service
from api.store.base import Grant, Key
from tests.dashboards import CLOCKS, LIVE, ORGANIZATION, Fleet, make_fleet
from tests.pictures import decoded
from tests.tables import cases
from tests.world import SETTINGS
from web.auth import Access
from web.dashboard import create_dashboard
from web.rendering import Renderer

DAY_S = 86_400


class Site:
    """``here`` requests from this machine, which is signed in; ``afar`` without any session."""

    def __init__(
        self, fleet: Fleet, folder: Path, *, links: bool = True, public_url: str = ""
    ) -> None:
        self.fleet = fleet
        service = Client.in_process(create_service(fleet.store, SETTINGS))
        self.signs = SignedAddresses(fleet.store, SETTINGS)
        access = Access(
            "a secret of the tests that is long enough",
            folder,
            demo_key=lambda: fleet.key,
            local_only=True,
            proxy_bearer=True,
        )
        app = create_dashboard(service, access, folder, self.signs if links else None, public_url)
        self.browser = Browser(app.server)

    def here(self, path: str, method: str = "GET", **more: Any) -> TestResponse:
        return self.browser.open(path, method=method, base_url="http://localhost",
                                 environ_base={"REMOTE_ADDR": "127.0.0.1"}, **more)  # fmt: skip

    def afar(self, path: str, method: str = "GET", **more: Any) -> TestResponse:
        return self.browser.open(path, method=method, base_url="http://weir.example",
                                 environ_base={"REMOTE_ADDR": "192.0.2.7"}, **more)  # fmt: skip

    def sign(self, address: object, days: object = 30, **more: Any) -> TestResponse:
        return self.here("/export/links", "POST", json={"address": address, "days": days}, **more)

    def chart(self, serial: str = LIVE, query: str = "range=7d&width=400&height=300") -> str:
        return f"/export/devices/{self.fleet.ids[serial]}/chart.svg?{query}"


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    made = make_fleet(tmp_path_factory.mktemp("fleet"), many=3)
    yield made
    made.store.close()


@pytest.fixture(scope="module")
def site(fleet: Fleet, tmp_path_factory: pytest.TempPathFactory) -> Site:
    return Site(fleet, tmp_path_factory.mktemp("site"))


@pytest.fixture(scope="module")
def href(site: Site) -> str:
    answer = site.sign(site.chart())
    assert answer.status_code == 200, answer.text
    return answer.get_json()["href"]


def same_refusal(answer: TestResponse) -> bytes:
    assert answer.status_code == 403
    assert answer.content_type == "application/problem+json"
    return answer.get_data()


def test_the_address_alone_opens_the_image(site: Site, href: str) -> None:
    answer = site.afar(href)
    assert (answer.status_code, answer.content_type) == (200, "image/svg+xml")
    assert b"Tenant 12 main" in answer.data
    assert answer.headers["Cache-Control"] == "private, max-age=60"
    assert site.fleet.key not in href
    assert site.afar(href, "HEAD").status_code == 200


def test_it_has_the_chosen_lifetime(site: Site) -> None:
    ends = []
    for days in (1, 30, 365):
        body = parse_qs(urlsplit(site.sign(site.chart(), days).get_json()["href"]).query)
        ends.append(int(body["exp"][0]))
    assert [round((end - ends[0]) / DAY_S) for end in ends] == [0, 29, 364]


def test_a_serial_number_is_signed_as_the_devices_id(site: Site) -> None:
    href = site.sign(f"/export/devices/{CLOCKS}/chart.png").get_json()["href"]
    assert f"/devices/{site.fleet.ids[CLOCKS]}/" in href


def test_the_address_is_the_sites_public_one(fleet: Fleet, tmp_path: Path) -> None:
    site = Site(fleet, tmp_path, public_url="https://weir.example")
    href = site.sign(site.chart()).get_json()["href"]
    assert href.startswith("https://weir.example/export/devices/")
    assert site.afar(href.removeprefix("https://weir.example")).status_code == 200


def test_every_invalid_address_has_the_same_refusal(site: Site, href: str) -> None:
    path, _, query = href.partition("?")
    spent = site.signs.sign(path, [], "key_test", -1)
    nobody = site.signs.sign("/export/devices/nobody/chart.svg", [], "key_test", DAY_S)
    other = path.replace(site.fleet.ids[LIVE], site.fleet.ids[CLOCKS])
    refused = {
        same_refusal(site.afar(address))
        for address in (
            href + "&width=401",
            href + "&theme=dark",
            href.replace("range=7d", "range=30d"),
            href[:-2],
            f"{other}?{query}",
            f"{path.replace('svg', 'png')}?{query}",
            f"/export/fleet.svg?{query}",
            f"{path}?{spent}",
            f"/export/devices/nobody/chart.svg?{nobody}",
            f"{path}?sig=",
            f"{path}?sig=x&key=key_test&exp=9999999999",
        )
    }
    assert len(refused) == 1


def test_a_signature_opens_nothing_but_its_image(site: Site, href: str) -> None:
    device, query = site.fleet.ids[LIVE], href.partition("?")[2]
    for path in (
        "/",
        f"/devices/{device}",
        "/_dash-layout",
        f"/download/devices/{device}/rows.csv",
        "/export/links",
    ):
        assert site.afar(f"{path}?{query}").status_code in (303, 401)
    assert site.afar(f"/export/links?{query}", "POST", json={}).status_code == 401
    same_refusal(site.afar(href, "POST"))


def test_a_wrong_parameter_in_a_signed_address_is_named(site: Site) -> None:
    path = site.chart().partition("?")[0]
    answer = site.afar(f"{path}?{site.signs.sign(path, [('width', '9')], 'key_test', DAY_S)}")
    assert (answer.status_code, answer.get_json()["errors"][0]["parameter"]) == (400, "width")


def test_revoking_a_key_ends_its_addresses_at_once(site: Site) -> None:
    key = Key("key_gone", ORGANIZATION, "gone", key_digest("k"), Grant(everything=True), 0)
    site.fleet.store.create_key(key)
    path = site.chart().partition("?")[0]
    address = f"{path}?{site.signs.sign(path, [], 'key_gone', DAY_S)}"
    assert site.afar(address).status_code == 200
    site.fleet.store.revoke_key("key_gone", 1)
    same_refusal(site.afar(address))


def test_a_wall_can_be_signed_and_has_its_keys_scope(site: Site) -> None:
    href = site.sign("/export/fleet.png?width=500").get_json()["href"]
    assert decoded(site.afar(href).data).width == 500
    only = Grant(devices=frozenset({site.fleet.ids[CLOCKS]}))
    site.fleet.store.create_key(Key("key_one", ORGANIZATION, "one", key_digest("o"), only, 0))
    svg = site.afar(
        f"/export/fleet.svg?{site.signs.sign('/export/fleet.svg', [], 'key_one', DAY_S)}"
    )
    assert b"Clock tower" in svg.data
    assert b"Tenant 12 main" not in svg.data


@cases(
    ("address", "days", "named"),
    [
        ("/export/devices/{live}/chart.svg?range=8d", 30, ["range"]),
        ("/export/fleet.svg?height=9", 30, ["height"]),
        ("/export/fleet.svg?sig=x", 30, ["sig"]),
        ("/management/v1/device", 30, ["address"]),
        ("https://elsewhere.example/", 30, ["address"]),
        (None, 30, ["address"]),
        ("/export/fleet.svg", 2, ["days"]),
        ("/export/fleet.svg", True, ["days"]),
        ("/export/fleet.svg", "30", ["days"]),
    ],
)
def test_only_addresses_of_images_are_signed(
    site: Site, address: str | None, days: object, named: list[str]
) -> None:
    result = address and address.format(live=site.fleet.ids[LIVE])
    answer = site.sign(result, days)
    assert answer.status_code == 400
    assert [each["parameter"] for each in answer.get_json()["errors"]] == named


def test_a_device_out_of_scope_isnt_signed(site: Site) -> None:
    assert site.sign("/export/devices/nobody/chart.svg").status_code == 404


def test_signing_needs_a_session(site: Site) -> None:
    fields = {"address": site.chart(), "days": 1}
    assert site.afar("/export/links", "POST", json=fields).status_code == 401
    foreign = {"Sec-Fetch-Site": "cross-site"}
    assert site.sign(site.chart(), headers=foreign).status_code == 403


def test_a_bearer_token_cannot_sign(site: Site) -> None:
    token = issue_token(SETTINGS, ORGANIZATION, None, 60)
    answer = site.sign(site.chart(), headers={"Authorization": f"Bearer {token}"})
    assert answer.status_code == 403
    assert "API key" in answer.get_json()["detail"]


def test_without_a_store_there_are_images_but_no_signed_ones(fleet: Fleet, tmp_path: Path) -> None:
    site = Site(fleet, tmp_path, links=False)
    answer = site.sign(site.chart())
    assert (answer.status_code, answer.get_json()["type"]) == (
        501,
        "urn:weir:problem:no-signed-links",
    )
    path = site.chart().partition("?")[0]
    same_refusal(site.afar(f"{path}?{site.signs.sign(path, [], 'key_test', DAY_S)}"))


def test_a_scheduled_reports_link_opens_its_pdf_alone(
    site: Site, href: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only schedules sign reports; a reader's own request for one is refused."""
    monkeypatch.setattr(Renderer, "render_page", lambda *_, **__: b"%PDF-")
    monkeypatch.setattr(Renderer, "render_figure", lambda *_, **__: b"<svg/>")
    pairs = [("range", "2026-11-09..2026-11-15"), ("devices", site.fleet.ids[LIVE])]
    signed = f"/export/report.pdf?{site.signs.sign('/export/report.pdf', pairs, 'key_test', DAY_S)}"
    answer = site.afar(signed)
    assert (answer.status_code, answer.data) == (200, b"%PDF-")
    refused = same_refusal(site.afar(href.replace("range=7d", "range=30d")))
    other = site.fleet.ids[CLOCKS]
    for wrong in (signed.replace(site.fleet.ids[LIVE], other), f"{signed}&units=si", signed[:-1]):
        assert same_refusal(site.afar(wrong)) == refused
    assert site.sign("/export/report.pdf?range=7d").status_code == 400
