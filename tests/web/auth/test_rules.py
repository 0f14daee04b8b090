"""The decisions of authentication, request by request."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.tables import cases
from web.auth import rules
from web.auth.rules import Because, Facts, Kind, Verdict

HERE = "weir.example"
PASS, TO_SIGN_IN, OUT = Verdict.PASS, Verdict.TO_SIGN_IN, Verdict.SIGNED_OUT
METHOD, CROSS = Verdict.METHOD, Verdict.CROSS_SITE

# method, path, verdict without a reader, verdict with one
VERDICTS = (
    ("GET", "/", TO_SIGN_IN, PASS),
    ("HEAD", "/", TO_SIGN_IN, PASS),
    ("POST", "/", OUT, PASS),
    ("GET", "/devices", TO_SIGN_IN, PASS),
    ("GET", "/devices/M-1", TO_SIGN_IN, PASS),
    ("GET", "/devices/sign-in", TO_SIGN_IN, PASS),
    ("GET", "/no-such-page", TO_SIGN_IN, PASS),
    ("GET", "//devices", TO_SIGN_IN, PASS),
    ("GET", "/sign-in/", TO_SIGN_IN, PASS),
    ("GET", "/SIGN-IN", TO_SIGN_IN, PASS),
    ("PUT", "/devices", OUT, PASS),
    ("DELETE", "/devices", OUT, PASS),
    ("OPTIONS", "/devices", OUT, PASS),
    ("GET", "/_dash-layout", OUT, PASS),
    ("GET", "/_dash-dependencies", OUT, PASS),
    ("POST", "/_dash-update-component", OUT, PASS),
    ("OPTIONS", "/_dash-update-component", OUT, PASS),
    ("GET", "/_dash-anything-new", OUT, PASS),
    ("GET", "/_reload-hash", OUT, PASS),
    ("GET", "/_alive", TO_SIGN_IN, PASS),
    ("GET", "/_dash-component-suites/dash/deps/react.js", PASS, PASS),
    ("HEAD", "/_dash-component-suites/dash/deps/react.js", PASS, PASS),
    ("POST", "/_dash-component-suites/dash/deps/react.js", OUT, PASS),
    ("GET", "/assets/style.css", PASS, PASS),
    ("POST", "/assets/style.css", OUT, PASS),
    ("GET", "/assets", TO_SIGN_IN, PASS),
    ("GET", "/assetsx/style.css", TO_SIGN_IN, PASS),
    ("GET", "/_favicon.ico", PASS, PASS),
    ("GET", "/sign-in", PASS, PASS),
    ("HEAD", "/sign-in", PASS, PASS),
    ("POST", "/sign-in", PASS, PASS),
    ("PUT", "/sign-in", METHOD, METHOD),
    ("GET", "/sign-out", METHOD, METHOD),
    ("HEAD", "/sign-out", METHOD, METHOD),
    ("POST", "/sign-out", PASS, PASS),
    ("GET", "/session", OUT, PASS),
)


@cases(("method", "path", "stranger", "with_reader"), VERDICTS)
def test_each_path_has_its_verdicts(
    method: str, path: str, stranger: Verdict, with_reader: Verdict
) -> None:
    facts = Facts(method=method, path=path, host=HERE)
    assert rules.judge(facts, has_reader=False) is stranger
    assert rules.judge(facts, has_reader=True) is with_reader


@given(st.text(max_size=30), st.sampled_from(["GET", "POST", "PUT", "HEAD", "PROPFIND"]))
def test_no_other_path_is_open_without_a_session(tail: str, method: str) -> None:
    path = "/" + tail
    own = (rules.SIGN_IN, rules.SIGN_OUT)
    if path in own or rules.kind_of(method, path) is Kind.STATIC:
        return
    assert rules.judge(Facts(method=method, path=path, host=HERE), has_reader=False) is not PASS


# method, Host, Sec-Fetch-Site, Origin, refused
CROSS_SITES = (
    ("POST", HERE, "same-origin", f"https://{HERE}", False),
    ("POST", HERE, "none", "", False),
    ("POST", HERE, "same-site", f"https://other.{HERE}", True),
    ("POST", HERE, "cross-site", "https://evil.example", True),
    ("POST", HERE, "cross-site", f"https://{HERE}", True),  # the browser's header counts first
    ("POST", HERE, "SAME-ORIGIN", "", True),  # and is taken literally
    ("POST", HERE, "same-origin", "https://evil.example", False),
    ("POST", HERE, "", f"https://{HERE}", False),
    ("POST", HERE, "", f"http://{HERE}", False),  # TLS may end at a proxy
    ("POST", HERE, "", f"https://{HERE.upper()}", False),
    ("POST", HERE.upper(), "", f"https://{HERE}", False),
    ("POST", f"{HERE}:8050", "", f"http://{HERE}:8050", False),
    ("POST", f"{HERE}:8050", "", f"http://{HERE}:8051", True),
    ("POST", f"{HERE}:8050", "", f"http://{HERE}", True),
    ("POST", HERE, "", "https://evil.example", True),
    ("POST", HERE, "", f"https://{HERE}.evil.example", True),
    ("POST", HERE, "", f"https://evil.example/{HERE}", True),
    ("POST", HERE, "", "null", True),
    ("POST", "", "", "null", False),  # no Host: HTTP/1.0, not a browser
    ("POST", HERE, "", "", False),  # not a browser: it has nobody's cookie
    ("PUT", HERE, "cross-site", "", True),
    ("DELETE", HERE, "", "https://evil.example", True),
    ("GET", HERE, "cross-site", "", True),
    ("GET", HERE, "same-site", "", True),
    ("HEAD", HERE, "cross-site", "", True),
    ("GET", HERE, "none", "", False),
    ("GET", HERE, "same-origin", "", False),
    ("GET", HERE, "", "", False),  # an old browser, or none
    ("OPTIONS", HERE, "cross-site", "https://evil.example", False),
)


@cases(("method", "host", "fetch_site", "origin", "refused"), CROSS_SITES)
def test_requests_of_other_sites_are_refused(
    method: str, host: str, fetch_site: str, origin: str, refused: bool
) -> None:
    facts = Facts(method=method, host=host, fetch_site=fetch_site, origin=origin)
    assert rules.cross_site(facts) is refused


# method, Sec-Fetch-Mode, Sec-Fetch-Dest, refused if another site caused it
CAUSED = (
    ("GET", "navigate", "document", False),  # a link, a bookmark manager, a mail
    ("GET", "navigate", "iframe", True),
    ("GET", "navigate", "object", True),
    ("GET", "navigate", "", True),
    ("GET", "no-cors", "image", True),
    ("GET", "no-cors", "script", True),
    ("GET", "cors", "empty", True),
    ("HEAD", "navigate", "document", True),
    ("POST", "navigate", "document", True),
)


@cases("path", ["/", "/devices/M-1", "/export/fleet.png", "/assets/style.css"])
@cases("site", ["cross-site", "same-site"])
@cases(("method", "mode", "dest", "refused"), CAUSED)
def test_another_site_may_link_but_load_nothing(
    path: str, site: str, method: str, mode: str, dest: str, refused: bool
) -> None:
    facts = Facts(method, path, host=HERE, fetch_site=site, fetch_mode=mode, fetch_dest=dest)
    assert (rules.judge(facts, has_reader=True) is CROSS) is refused


@cases("path", ["/_dash-update-component", "/sign-in", "/sign-out", "/devices"])
@cases("is_known", [True, False])
def test_a_cross_site_post_is_refused_before_anything_else(path: str, is_known: bool) -> None:
    facts = Facts(method="POST", path=path, host=HERE, fetch_site="cross-site")
    assert rules.judge(facts, has_reader=is_known) is CROSS


# local settings, from this machine, from another site; may be chosen, opens
DEMO = (
    (True, True, False, True, True),
    (True, True, True, True, False),
    (True, False, False, False, False),
    (False, True, False, False, False),
)


@cases(("local_only", "here", "foreign", "may", "opens"), DEMO)
def test_the_demo_opens_locally_unless_another_site_led_there(
    local_only: bool, here: bool, foreign: bool, may: bool, opens: bool
) -> None:
    facts = Facts(here=here, foreign=foreign)
    assert rules.may_open_demo(facts, local_only=local_only) is may
    assert rules.opens_demo(facts, local_only=local_only) is opens


ENVIRON = {
    "REQUEST_METHOD": "GET",
    "PATH_INFO": "/",
    "REMOTE_ADDR": "127.0.0.1",
    "HTTP_HOST": "localhost:8050",
}


@cases(
    ("changes", "here", "secure"),
    [
        ({}, True, False),
        ({"SERVER_PROTOCOL": "HTTP/1.1"}, True, False),
        ({"SERVER_PROTOCOL": "HTTP/1.0"}, False, False),
        ({"SERVER_PROTOCOL": "HTTP/2"}, True, False),
        ({"HTTP_X_FORWARDED_FOR": "127.0.0.1"}, False, False),
        ({"HTTP_X_FORWARDED_PROTO": "https"}, False, True),
        ({"HTTP_X_FORWARDED_PROTO": "HTTPS, http"}, False, True),
        ({"HTTP_X_FORWARDED_PROTO": "http"}, False, False),
        ({"wsgi.url_scheme": "https"}, True, True),
    ],
)
def test_a_proxys_headers_are_noticed_and_never_taken_for_the_peer(
    changes: dict[str, str], here: bool, secure: bool
) -> None:
    facts = Facts.of({**ENVIRON, **changes})
    assert (facts.here, facts.secure, facts.peer) == (here, secure, "127.0.0.1")


KEPT_NEXTS = (
    "/devices",
    "/devices?status=all&page=2",
    "/devices/M-1?range=7d&zone=Asia%2FKolkata",
    "/devices/a%2Fb",
    "/?theme=dark",
    "/devices?next=//evil.example",
    "/http://evil.example",
    "/@evil.example",
)
REFUSED_NEXTS = (
    "",
    "devices",
    "//evil.example",
    "///evil.example",
    "/\\evil.example",
    "\\\\evil.example",
    "/devices\\..\\x",
    "https://evil.example",
    "https:/evil.example",
    "javascript:alert(1)",
    " /devices",
    "/devices ",
    "/\t/evil.example",
    "/\n/evil.example",
    "/devices\r\nSet-Cookie: a=b",
    "/devices\x00",
    "/devices\x7f",
    "/devices\u2028",
    "/dévices",
    "/" + "a" * 2_000,
    "/sign-in",
    "/sign-in?next=/sign-in",
    "/sign-out",
    "/session",
    "/assets/style.css",
    "/_dash-layout",
    "/_dash-layout#x",
)


@cases("text", KEPT_NEXTS)
def test_a_page_of_this_site_is_a_valid_next_page(text: str) -> None:
    assert rules.safe_next(text) == text


@cases("text", REFUSED_NEXTS)
def test_nothing_else_is_a_valid_next_page(text: str) -> None:
    assert rules.safe_next(text) == "/"


@given(st.text(max_size=40))
def test_the_next_page_is_always_a_path_of_this_site(path: str) -> None:
    where = rules.safe_next(path)
    assert where.startswith("/")
    assert not where.startswith(("//", "/\\"))
    assert all(0x20 < ord(sign) < 0x7F for sign in where)


@cases(
    ("path", "query", "address"),
    [
        ("/devices", "", "/devices"),
        ("/devices", "a=b&c", "/devices?a=b&c"),
        ("/devices/ü ß", "", "/devices/%C3%BC%20%C3%9F"),
        ("/devices/50%", "", "/devices/50%25"),
        ("/devices/a?b", "", "/devices/a%3Fb"),
        ("/devices/\r\nX: y", "", "/devices/%0D%0AX:%20y"),
        ("//evil.example", "", "/"),
    ],
)
def test_the_address_to_return_to_is_the_requested_one(path: str, query: str, address: str) -> None:
    assert rules.requested_address(Facts(path=path, query=query)) == address


@cases(
    ("because", "next_path", "address"),
    [
        (None, "/", "/sign-in"),
        (None, "/devices?a=b", "/sign-in?next=%2Fdevices%3Fa%3Db"),
        (Because.IDLE, "/", "/sign-in?because=idle"),
        (Because.REFUSED, "/devices", "/sign-in?because=refused&next=%2Fdevices"),
    ],
)
def test_the_sign_in_address_has_the_reason_and_the_next_page(
    because: Because | None, next_path: str, address: str
) -> None:
    assert rules.sign_in_address(because=because, next_path=next_path) == address
