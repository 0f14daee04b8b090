"""Authentication over HTTP: signing in and out, sessions, proxies."""

from __future__ import annotations

import re
from html import unescape

import pytest
from werkzeug.test import TestResponse

from api.client import Client
from api.store.base import Grant
from tests.web.auth import wire
from tests.web.auth.conftest import AT_LARGE, COOKIE, Clock, Open, Site
from tests.world import METER, World
from web.auth.middleware import OUTAGE_HEADER
from web.auth.session_cookie import ABSOLUTE_S, IDLE_S, RENEWED_S
from web.auth.sign_in import BURST
from web.static import content_security_policy

EVERYTHING = Grant(everything=True)
UNKNOWN_KEY = "11111111-2222-4333-8444-555555555555"


def cookies(answer: TestResponse) -> dict[str, str]:
    """Set-Cookie headers by the cookie's name."""
    return {line.partition("=")[0]: line for line in answer.headers.getlist("Set-Cookie")}


def notice(answer: TestResponse) -> str:
    output = re.search(r'id="notice"[^>]*>([^<]*)<', answer.text)
    return unescape(output.group(1)) if output else ""


# --- Without a session ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "where"),
    [
        ("/devices", "/sign-in?next=%2Fdevices"),
        ("/devices?status=all&page=2", "/sign-in?next=%2Fdevices%3Fstatus%3Dall%26page%3D2"),
        ("/no-such-page", "/sign-in?next=%2Fno-such-page"),
    ],
)
def test_a_page_redirects_to_sign_in_and_back(site: Site, path: str, where: str) -> None:
    answer = site.open(path)
    assert (answer.status_code, answer.headers["Location"]) == (303, where)
    assert answer.data == b""


@pytest.mark.parametrize(
    "path", ["/_dash-layout", "/_dash-dependencies", "/_reload-hash", "/session"]
)
def test_a_script_without_a_session_gets_the_sign_in_address(site: Site, path: str) -> None:
    answer = site.open(path)
    assert answer.status_code == 401
    assert answer.json == {"error": "signed out", "signIn": "/sign-in"}
    assert answer.headers["Weir-Sign-In"] == "/sign-in"
    assert answer.headers["WWW-Authenticate"] == 'Session realm="weir"'
    assert answer.headers["Cache-Control"] == "private, no-store"


def test_a_callback_without_a_session_is_not_run(site: Site) -> None:
    assert wire.rows(site).status_code == 401
    assert wire.chart(site, METER, "2026-03-08T00:00Z", "2026-03-09T00:00Z").status_code == 401


@pytest.mark.parametrize("path", ["/assets/style.css", "/assets/session.js", "/_favicon.ico"])
def test_static_files_need_no_session(site: Site, path: str) -> None:
    assert site.open(path).status_code == 200


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Sec-Fetch-Site": "same-origin"}, 200),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Origin": f"http://{AT_LARGE}"}, 200),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({}, 200),
    ],
)
def test_a_cross_site_callback_is_refused_with_any_session(
    site: Site, keys: dict[str, str], headers: dict[str, str], status: int
) -> None:
    site.sign_in(keys["all"])
    answer = wire.rows(site, headers=headers)
    assert answer.status_code == status
    assert (METER in answer.text) is (status == 200)


@pytest.mark.parametrize("path", ["/sign-in", "/sign-out"])
def test_a_cross_site_form_changes_nobodys_session(
    site: Site, keys: dict[str, str], path: str
) -> None:
    headers = {"Sec-Fetch-Site": "cross-site"}
    answer = site.open(path, "POST", data={"key": keys["all"]}, headers=headers)
    assert answer.status_code == 403
    assert not cookies(answer)


# --- The sign-in page ----------------------------------------------------------------------------


def test_the_sign_in_page_is_plain_html_under_the_pages_policy(site: Site) -> None:
    answer = site.open("/sign-in?next=/devices")
    assert answer.status_code == 200
    assert answer.mimetype == "text/html"
    policy = answer.headers["Content-Security-Policy"]
    assert policy.split("; ")[0] == content_security_policy([]).split("; ")[0]
    assert "frame-ancestors 'none'" in policy
    assert answer.headers["Cache-Control"] == "no-store"
    assert not re.search(r"<script(?![^>]*\bsrc=\"/assets/)", answer.text)
    assert not re.search(r"\son\w+=|style=", answer.text)
    for address in re.findall(r'(?:src|href)="([^"]+)"', answer.text):
        assert site.open(address).status_code in (200, 303), address


def test_what_comes_next_is_written_as_text(site: Site) -> None:
    answer = site.open('/sign-in?next=/devices/"><script>alert(1)</script>')
    assert "<script>alert" not in answer.text
    assert 'value="/devices/&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;"' in answer.text


@pytest.mark.parametrize(
    ("because", "sentence"),
    [
        ("refused", "You were signed out: your key was revoked or has expired."),
        ("idle", "Your session has ended. Sign in again."),
        ("signed-out", "You are signed out."),
        ("<b>anything</b>", ""),
        ("", ""),
    ],
)
def test_the_sign_in_page_has_the_reason(site: Site, because: str, sentence: str) -> None:
    assert notice(site.open("/sign-in", query_string={"because": because})) == sentence


def wrong_keys(world: World, keys: dict[str, str]) -> dict[str, tuple[str, int, str]]:
    _, key_id = world.new_key(EVERYTHING)
    now_ms = 1
    expired, _ = world.new_key(EVERYTHING, expires_ms=now_ms)
    revoked, revoked_id = world.new_key(EVERYTHING)
    world.store.revoke_key(revoked_id, now_ms)
    unknown = (401, "This key is unknown, has expired or was revoked.")
    only_after = "This is a Key ID, or a Key ID and the key. Paste only the part after the dot."
    return {
        "unknown": (UNKNOWN_KEY, *unknown),
        "expired": (expired, *unknown),
        "revoked": (revoked, *unknown),
        "no key at all": ("hunter2", *unknown),
        "not ASCII": ("schlüssel", *unknown),
        "a line break in it": (f"{keys['all'][:8]}\n{keys['all'][8:]}", *unknown),
        "far too long": ("a" * 1_000, *unknown),
        "the Key ID": (key_id, 403, only_after),
        "Key ID and key": (f"{key_id}.{keys['all']}", 403, only_after),
        "a key that sends readings": (
            world.new_key(EVERYTHING, ingest=True)[0],
            403,
            "This key can only send readings. Paste a reading key.",
        ),
        "nothing": ("", 400, "Paste a service API key."),
        "blanks": ("  \t ", 400, "Paste a service API key."),
    }


def test_a_wrong_key_gets_a_message_with_the_next_step(
    open_site: Open, world: World, keys: dict[str, str]
) -> None:
    for name, (pasted, status, sentence) in wrong_keys(world, keys).items():
        site = open_site()
        answer = site.sign_in(pasted, "/devices?page=2")
        assert (answer.status_code, notice(answer)) == (status, sentence), name
        assert not cookies(answer), name
        assert 'value="/devices?page=2"' in answer.text, name
        assert not pasted.strip() or pasted.strip() not in answer.text, name
        assert site.open("/devices").status_code == 303, name


@pytest.mark.parametrize("dress", ["{}", "  {} ", "\t{}\r\n"])
def test_a_valid_key_signs_in_and_opens_the_requested_page(
    site: Site, keys: dict[str, str], dress: str
) -> None:
    answer = site.sign_in(dress.format(keys["all"]), "/devices?page=2")
    assert (answer.status_code, answer.headers["Location"]) == (303, "/devices?page=2")
    assert site.open("/devices?page=2").status_code == 200
    assert METER in wire.rows(site).text


def test_an_upper_case_key_signs_in_too(site: Site, keys: dict[str, str]) -> None:
    assert site.sign_in(keys["all"].upper()).status_code == 303


@pytest.mark.parametrize("evil", ["//evil.example", "https://evil.example", "/\\evil.example"])
def test_sign_in_redirects_to_no_other_site(site: Site, keys: dict[str, str], evil: str) -> None:
    assert site.sign_in(keys["all"], evil).headers["Location"] == "/"
    assert site.open("/sign-in", query_string={"next": evil}).headers["Location"] == "/"


def test_an_unreachable_service_has_a_message_and_counts_no_attempt(
    open_site: Open, keys: dict[str, str]
) -> None:
    down = Client.remote("http://127.0.0.1:9", sleep=lambda _: None)
    site = open_site(through=down)
    for _ in range(BURST + 2):
        answer = site.sign_in(keys["all"])
        assert (answer.status_code, notice(answer)) == (
            503,
            "The service can't be reached now. Try again in a moment.",
        )


def test_an_address_that_fails_too_often_waits_and_no_other_does(
    site: Site, keys: dict[str, str], clock: Clock
) -> None:
    for _ in range(BURST):
        assert site.sign_in(UNKNOWN_KEY).status_code == 401
    assert site.sign_in(UNKNOWN_KEY).status_code == 429
    spoofed = {"X-Forwarded-For": "198.51.100.1"}
    refused = site.sign_in(keys["all"], headers=spoofed)
    assert (refused.status_code, notice(refused)) == (
        429,
        "Too many invalid keys. Try again in 2 s.",
    )
    assert site.sign_in(keys["all"], peer="198.51.100.1").status_code == 303
    clock.now_s += 2
    assert site.sign_in(keys["all"]).status_code == 303


def test_a_huge_form_is_refused(site: Site) -> None:
    answer = site.open("/sign-in", "POST", data={"key": "a" * 100_000})
    assert answer.status_code == 413


# --- The cookie ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scheme", "headers", "name", "secure"),
    [
        ("http", {}, "weir-session", False),
        ("https", {}, "__Host-weir-session", True),
        ("http", {"X-Forwarded-Proto": "https"}, "__Host-weir-session", True),
    ],
)
def test_the_sessions_cookie_is_as_strict_as_the_connection_allows(
    site: Site, keys: dict[str, str], scheme: str, headers: dict[str, str], name: str, secure: bool
) -> None:
    cookie = cookies(site.sign_in(keys["all"], scheme=scheme, headers=headers))[name]
    attributes = set(cookie.split("; ")[1:])
    expected = {"Path=/", "HttpOnly", "SameSite=Lax", f"Max-Age={IDLE_S}"}
    assert attributes == expected | ({"Secure"} if secure else set())
    assert keys["all"] not in cookie


def sealed(answer: TestResponse) -> str:
    return cookies(answer)[COOKIE].split(";")[0].partition("=")[2]


def test_a_cookie_is_valid_on_every_server_with_the_same_secret(
    open_site: Open, keys: dict[str, str]
) -> None:
    value = sealed(open_site().sign_in(keys["all"]))
    assert open_site().carrying(value).open("/devices").status_code == 200
    other = open_site(secret="another secret that is long enough, too")
    refused = other.carrying(value).open("/devices")
    assert refused.status_code == 303
    assert "Max-Age=0" in cookies(refused)[COOKIE]


def test_a_changed_or_cut_cookie_is_no_session(open_site: Open, keys: dict[str, str]) -> None:
    value = sealed(open_site().sign_in(keys["all"]))
    assert open_site().carrying(value).open("/_dash-layout").status_code == 200
    flipped = value[:50] + ("A" if value[50] != "A" else "B") + value[51:]
    for broken in (flipped, value[:-6], value[6:], "", "x", "%00", keys["all"]):
        answer = open_site().carrying(broken).open("/_dash-layout")
        assert answer.status_code == 401, broken


# seconds between sign-in and the request, interval of requests in between; status
LIVES = (
    (IDLE_S - 1, IDLE_S, 200),
    (IDLE_S, IDLE_S, 303),
    (3 * IDLE_S, IDLE_S - 1, 200),
    (ABSOLUTE_S - 1, 3_600, 200),
    (ABSOLUTE_S, 3_600, 303),
)


@pytest.mark.parametrize(("after_s", "every_s", "status"), LIVES)
def test_a_session_ends_after_12_idle_hours_or_7_days(
    site: Site, keys: dict[str, str], clock: Clock, after_s: int, every_s: int, status: int
) -> None:
    site.sign_in(keys["all"])
    start_s = clock.now_s
    while clock.now_s + every_s < start_s + after_s:
        clock.now_s += every_s
        assert site.open("/devices").status_code == 200
    clock.now_s = start_s + after_s
    # The session alone decides, whatever age the browser gives its cookie.
    answer = site.open("/devices")
    assert answer.status_code == status
    if status == 303:
        assert answer.headers["Location"].startswith("/sign-in?")


def test_an_idle_session_gets_its_message(
    open_site: Open, keys: dict[str, str], clock: Clock
) -> None:
    value = sealed(open_site().sign_in(keys["all"]))
    clock.now_s += IDLE_S
    answer = open_site().carrying(value).open("/devices")
    assert answer.headers["Location"] == "/sign-in?because=idle&next=%2Fdevices"
    assert "Max-Age=0" in cookies(answer)[COOKIE]


def test_an_open_pages_checks_do_not_extend_the_session(
    site: Site, keys: dict[str, str], clock: Clock
) -> None:
    site.sign_in(keys["all"])
    clock.now_s += RENEWED_S
    assert not cookies(site.open("/session"))
    assert not cookies(site.open("/assets/style.css"))
    assert COOKIE in cookies(site.open("/devices"))
    assert not cookies(site.open("/devices"))
    clock.now_s += RENEWED_S
    assert COOKIE in cookies(wire.rows(site))


def test_a_pages_data_shows_that_its_session_is_valid(site: Site, keys: dict[str, str]) -> None:
    site.sign_in(keys["all"])
    assert OUTAGE_HEADER in wire.rows(site).headers
    assert OUTAGE_HEADER in site.open("/session").headers
    site.carrying("spoilt")
    for path in ("/session", "/_dash-layout", "/sign-in", "/assets/session.js"):
        assert OUTAGE_HEADER not in site.open(path).headers


# --- Signing out ---------------------------------------------------------------------------------


def test_signing_out_ends_the_session_and_every_copy_of_its_cookie(
    open_site: Open, keys: dict[str, str]
) -> None:
    site = open_site()
    value = sealed(site.sign_in(keys["all"]))
    other = open_site()
    other.sign_in(keys["all"])
    answer = site.open("/sign-out", "POST")
    assert answer.headers["Location"] == "/sign-in?because=signed-out"
    assert "Max-Age=0" in cookies(answer)[COOKIE]
    assert site.open("/devices").status_code == 303
    copied = open_site().carrying(value).open("/devices")
    assert copied.status_code == 303
    assert other.open("/devices").status_code == 200


def test_a_link_cannot_sign_out(site: Site, keys: dict[str, str]) -> None:
    site.sign_in(keys["all"])
    assert site.open("/sign-out").status_code == 405
    assert site.open("/devices").status_code == 200


def test_signing_out_needs_no_session(site: Site) -> None:
    assert site.open("/sign-out", "POST").status_code == 303
