"""One-time sign-in links: valid once, for a quarter of an hour, and soon removed from the
address."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from api.auth.sign_in_links import LASTS_S, SignInLinks
from tests.web.auth import wire
from tests.web.auth.conftest import NOW_S, Clock, Open, Site
from tests.web.auth.test_middleware import cookies, notice
from tests.world import METER
from web.auth.sign_in import BURST


@pytest.fixture
def links(tmp_path: Path, clock: Clock) -> SignInLinks:
    return SignInLinks(tmp_path / "links", clock_s=clock)


@pytest.fixture
def site(open_site: Open, links: SignInLinks, keys: dict[str, str]) -> Site:
    return open_site(links=links, link_key=keys["all"], local_only=True)


def new(links: SignInLinks) -> str:
    """Path and query of a new link."""
    parts = urlsplit(links.make("https://weir.example/"))
    assert (parts.scheme, parts.netloc) == ("https", "weir.example")
    return f"{parts.path}?{parts.query}"


def test_a_link_starts_a_session_and_redirects_without_the_token(
    site: Site, links: SignInLinks
) -> None:
    answer = site.open(new(links))
    assert (answer.status_code, answer.headers["Location"], answer.data) == (303, "/", b"")
    assert answer.headers["Cache-Control"] == "private, no-store"
    assert answer.headers["Referrer-Policy"] == "same-origin"
    assert site.open("/devices").status_code == 200
    assert METER in wire.rows(site).text


@pytest.mark.parametrize("at", [{}, {"host": "localhost", "peer": "127.0.0.1"}])
def test_without_a_link_local_readers_sign_in_too(site: Site, at: dict[str, str]) -> None:
    assert site.open("/devices", **at).headers["Location"] == "/sign-in?next=%2Fdevices"
    page = site.open("/sign-in", **at)
    assert ("weir sign-in link" in page.text) is bool(at)


def test_a_link_works_once(open_site: Open, links: SignInLinks, keys: dict[str, str]) -> None:
    first, second = (open_site(links=links, link_key=keys["all"]) for _ in range(2))
    link = new(links)
    first.open(link)
    again = second.open(link)
    assert (again.status_code, again.headers["Location"]) == (303, "/sign-in?because=link")
    assert not cookies(again)
    assert "was used before or has expired" in notice(second.open("/sign-in?because=link"))
    assert second.open("/devices").status_code == 303
    assert first.open(link).headers["Location"] == "/"  # Back, or a restored tab


def test_of_many_concurrent_uses_one_succeeds(links: SignInLinks) -> None:
    for _ in range(20):
        token = new(links).partition("=")[2]
        with ThreadPoolExecutor(8) as pool:
            assert sum(pool.map(links.spend, [token] * 8)) == 1


@pytest.mark.parametrize(
    ("later_s", "good"),
    [(0, True), (LASTS_S - 1, True), (LASTS_S, False), (-1, True), (-LASTS_S, False)],
)
def test_a_link_is_valid_for_a_quarter_of_an_hour(
    site: Site, links: SignInLinks, clock: Clock, later_s: int, good: bool
) -> None:
    link = new(links)
    clock.now_s = NOW_S + later_s
    answer = site.open(link)
    assert answer.headers["Location"] == ("/" if good else "/sign-in?because=link")
    assert bool(cookies(answer)) is good
    clock.now_s = NOW_S
    assert not links.spend(link.partition("=")[2])


@pytest.mark.parametrize("token", ["", "x", "../since", "%00", "a" * 5_000, "%ff", "ü"])
def test_an_invalid_token_signs_nobody_in(site: Site, links: SignInLinks, token: str) -> None:
    new(links)
    answer = site.open(f"/sign-in?token={token}")
    assert (answer.status_code, cookies(answer)) == (303, {})


def test_guesses_are_limited(site: Site, links: SignInLinks) -> None:
    for _ in range(BURST):
        assert site.open("/sign-in?token=guess").status_code == 303
    link = new(links)
    assert site.open(link).status_code == 429
    assert site.open(link, peer="192.0.2.8").headers["Location"] == "/"


@pytest.mark.parametrize(
    ("method", "headers", "status"),
    [
        ("HEAD", {}, 200),
        ("GET", {"Sec-Purpose": "prefetch"}, 204),
        ("GET", {"Sec-Purpose": "prefetch;prerender"}, 204),
        ("GET", {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Dest": "image"}, 403),
    ],
)
def test_a_prefetch_uses_up_nothing(
    site: Site, links: SignInLinks, method: str, headers: dict[str, str], status: int
) -> None:
    link = new(links)
    answer = site.open(link, method, headers=headers)
    assert (answer.status_code, cookies(answer)) == (status, {})
    assert site.open(link).headers["Location"] == "/"


def test_a_link_replaces_the_session_of_another_key(
    site: Site, links: SignInLinks, keys: dict[str, str]
) -> None:
    site.sign_in(keys["foreign"])
    assert METER not in wire.rows(site).text
    site.open(new(links))
    assert METER in wire.rows(site).text


def test_without_a_key_a_link_opens_nothing(open_site: Open, links: SignInLinks) -> None:
    assert open_site(links=links).open(new(links)).headers["Location"] == "/sign-in?because=link"


def test_the_folder_has_no_token_and_no_old_files(
    links: SignInLinks, tmp_path: Path, clock: Clock
) -> None:
    folder = tmp_path / "links"
    token = new(links).partition("=")[2]
    (file,) = folder.iterdir()
    assert token not in file.name
    assert (folder.stat().st_mode & 0o777, file.stat().st_mode & 0o777) == (0o700, 0o600)
    clock.now_s += LASTS_S
    new(links)
    (young,) = folder.iterdir()
    assert young != file
    links.end_all()
    assert not list(folder.iterdir())
