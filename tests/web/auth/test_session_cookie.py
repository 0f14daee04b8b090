"""Sessions: their lifetimes, and that a browser can neither read nor change a cookie."""

from __future__ import annotations

import shutil
import time
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.client import Credential
from tests.tables import cases
from web.auth.session_cookie import (
    ABSOLUTE_S,
    IDLE_S,
    RENEWED_S,
    CookieJar,
    Seal,
    Session,
    SignedOutSessions,
)
from web.auth.sign_in import BURST, SECONDS_EACH, Throttle

KEY = "5f0c2a52-6c1e-4b8e-9d52-0d6c7a9b1e11"
NOW_S = 1_770_000_000
HOUR_S = 3_600
SEAL = Seal("one secret for the tests of sessions")
SESSION = Session("ab" * 16, Credential.key(KEY), NOW_S, NOW_S)


def test_a_sealed_session_opens_unchanged() -> None:
    assert SEAL.open(SEAL.close(SESSION)) == SESSION
    bearer = Session("cd" * 16, Credential.bearer("a.b.c"), NOW_S, NOW_S + 5)
    assert SEAL.open(SEAL.close(bearer)) == bearer


def test_another_process_with_the_same_secret_opens_it() -> None:
    assert Seal("one secret for the tests of sessions").open(SEAL.close(SESSION)) == SESSION


def test_another_secret_opens_nothing() -> None:
    assert Seal("one secret for the tests of sessionz").open(SEAL.close(SESSION)) is None


def test_the_key_cannot_be_read_in_the_sealed_text() -> None:
    text = SEAL.close(SESSION)
    raw = urlsafe_b64decode(text + "=" * (-len(text) % 4))
    for part in (KEY, KEY.split("-")[0], "service-api-key", SESSION.id, str(NOW_S)):
        assert part not in text
        assert part.encode() not in raw


def test_sealing_a_session_twice_gives_different_texts() -> None:
    assert len({SEAL.close(SESSION) for _ in range(100)}) == 100


def test_the_cookie_fits_a_browser() -> None:
    token = Session("ab" * 16, Credential.bearer("x" * 2_500), NOW_S, NOW_S)
    assert len(SEAL.close(SESSION)) < 300
    assert SEAL.open(SEAL.close(token)) == token


SEALED = SEAL.close(SESSION)
BROKEN = {
    "empty": "",
    "cut at the end": SEALED[:-4],
    "cut at the start": SEALED[4:],
    "only the nonce": SEALED[:16],
    "shorter than a nonce": "AAAA",
    "no base64": "!" * 40,
    "not ASCII": "ü" + SEALED,
    "far too long": "A" * 5_000,
    "twice": SEALED + SEALED,
    "another alphabet's letter": SEALED[:20] + "*" + SEALED[21:],
}


@cases("text", BROKEN.values())
def test_a_broken_cookie_does_not_open(text: str) -> None:
    assert SEAL.open(text) is None


@cases("at", range(len(urlsafe_b64decode(SEALED + "=" * (-len(SEALED) % 4)))))
def test_no_bit_of_it_can_be_changed(at: int) -> None:
    raw = bytearray(urlsafe_b64decode(SEALED + "=" * (-len(SEALED) % 4)))
    raw[at] ^= 1 << (at % 8)
    assert SEAL.open(urlsafe_b64encode(raw).decode().rstrip("=")) is None


@given(st.text(max_size=200))
def test_other_text_does_not_open(text: str) -> None:
    assert SEAL.open(text) is None


# issued, last used (hours ago); alive
AGES = (
    (0.0, 0.0, True),
    (11.99, 11.99, True),
    (12.0, 12.0, False),
    (20.0, 11.99, True),
    (20.0, 12.01, False),
    (7 * 24 - 0.01, 0.0, True),
    (7 * 24, 0.0, False),
    (8 * 24, 0.0, False),
    (-0.05, -0.05, True),  # clocks differ by a few minutes
    (-1.0, -1.0, False),  # a clock that was set back
)


@cases(("issued_h", "used_h", "alive"), AGES)
def test_a_session_ends_by_idleness_or_age(issued_h: float, used_h: float, alive: bool) -> None:
    issued_s, used_s = (round(NOW_S - hours * HOUR_S) for hours in (issued_h, used_h))
    session = Session("ab" * 16, Credential.key(KEY), issued_s, used_s)
    assert session.alive(NOW_S) is alive


def test_the_limits_are_the_documented_ones() -> None:
    assert (IDLE_S, ABSOLUTE_S) == (12 * HOUR_S, 7 * 24 * HOUR_S)


@pytest.mark.parametrize("since_s", [0, 1, RENEWED_S - 1])
def test_a_recent_cookie_is_not_renewed(since_s: int) -> None:
    assert SESSION.renewed(NOW_S + since_s) is None


@pytest.mark.parametrize("since_s", [RENEWED_S, HOUR_S, IDLE_S - 1])
def test_an_older_cookie_is_renewed_with_its_start_unchanged(since_s: int) -> None:
    renewed = SESSION.renewed(NOW_S + since_s)
    assert renewed is not None
    assert (renewed.issued_s, renewed.used_s) == (NOW_S, NOW_S + since_s)
    assert (renewed.id, renewed.credential) == (SESSION.id, SESSION.credential)


def test_a_session_in_use_ends_after_a_week() -> None:
    session, now_s = SESSION, NOW_S
    while session.alive(now_s):
        session = session.renewed(now_s) or session
        now_s += 60 * 60
    assert now_s - NOW_S == ABSOLUTE_S


@pytest.mark.parametrize(("secure", "prefix"), [(False, ""), (True, "__Host-")])
def test_the_cookie_is_for_this_server_and_no_script(secure: bool, prefix: str) -> None:
    jar = CookieJar(secure)
    name, *attributes = jar.set_cookie(jar.session, "value", 60).split("; ")
    assert name == f"{prefix}weir-session=value"
    expected = {"Path=/", "HttpOnly", "SameSite=Lax", "Max-Age=60"}
    assert set(attributes) == expected | ({"Secure"} if secure else set())


def test_dropping_a_cookie_uses_its_name_and_attributes() -> None:
    jar = CookieJar(secure=True)
    assert jar.dropped(jar.session).startswith("__Host-weir-session=; Path=/")
    assert "Max-Age=0" in jar.dropped(jar.session)


# --- Signed-out sessions and failed attempts ------------------------------------------------------


def session(id: str, issued_s: int = NOW_S) -> Session:
    return replace(SESSION, id=id, issued_s=issued_s)


def test_a_sign_out_holds_in_every_process(tmp_path: Path) -> None:
    here, there = (SignedOutSessions(tmp_path / "ended", NOW_S) for _ in range(2))
    assert not here.has(SESSION, NOW_S)
    here.add(SESSION, NOW_S)
    assert there.has(SESSION, NOW_S)
    assert not there.has(session("0" * 32), NOW_S)


def test_without_the_record_of_sign_outs_earlier_sessions_end(
    tmp_path: Path,
) -> None:
    here, there = (SignedOutSessions(tmp_path / "ended", NOW_S) for _ in range(2))
    here.add(SESSION, NOW_S)
    shutil.rmtree(tmp_path / "ended")
    later_s = NOW_S + 60
    for ended in (here, there, SignedOutSessions(tmp_path / "ended", later_s)):
        assert ended.has(SESSION, later_s)
        assert ended.has(session("another"), later_s)
        assert not ended.has(session("newer", later_s), later_s)
        # The clock was set back.
        assert not ended.has(session("newer", later_s - 3600), later_s - 3600)


def test_a_folder_of_an_older_version_was_never_lost(tmp_path: Path) -> None:
    (tmp_path / "ended").mkdir()
    (tmp_path / "ended" / "somebody").touch()
    ended = SignedOutSessions(tmp_path / "ended", NOW_S + 60)
    assert not ended.has(SESSION, NOW_S + 60)
    assert ended.has(session("somebody"), NOW_S + 60)
    assert {path.name for path in tmp_path.rglob("*")} == {"ended", "somebody", "since"}


def test_ended_sessions_are_deleted_once_no_cookie_can_have_them(tmp_path: Path) -> None:
    ended, now_s = SignedOutSessions(tmp_path, NOW_S), int(time.time())
    ended.add(session("old"), NOW_S)
    ended.add(session("new"), now_s + ABSOLUTE_S - 60)
    assert ended.has(session("old"), NOW_S)
    ended.add(session("newer"), now_s + ABSOLUTE_S + 60)
    assert not ended.has(session("old"), NOW_S)
    assert ended.has(session("newer"), NOW_S)


def test_concurrent_clean_ups_keep_no_session_alive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If another process has just deleted a file, the others are still deleted."""
    listed = [tmp_path / "gone", *(tmp_path / name for name in ("old", "older"))]
    for file in listed[1:]:
        file.touch()
    monkeypatch.setattr(Path, "iterdir", lambda _: iter(listed))
    ended = SignedOutSessions(tmp_path, NOW_S)
    ended.add(SESSION, int(time.time()) + ABSOLUTE_S + 60)
    assert ended.has(SESSION, NOW_S)
    assert not any(file.exists() for file in listed)


def test_an_unwritable_folder_is_logged_and_stops_nobody(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").touch()
    ended = SignedOutSessions(tmp_path / "file" / "folder", NOW_S)
    ended.add(SESSION, NOW_S)
    assert not ended.has(SESSION, NOW_S)
    assert "can't be recorded" in caplog.text


class Clock:
    def __init__(self) -> None:
        self.now_s = 1_000.0

    def __call__(self) -> float:
        return self.now_s


def test_an_address_may_fail_a_few_times_and_then_waits() -> None:
    clock = Clock()
    attempts = Throttle(clock)
    for _ in range(BURST):
        assert attempts.wait_s("192.0.2.7") == 0
        attempts.failed("192.0.2.7")
    assert attempts.wait_s("192.0.2.7") == SECONDS_EACH
    assert attempts.wait_s("192.0.2.8") == 0
    clock.now_s += SECONDS_EACH
    assert attempts.wait_s("192.0.2.7") == 0
    attempts.failed("192.0.2.7")
    assert attempts.wait_s("192.0.2.7") > 0
    clock.now_s += BURST * SECONDS_EACH
    assert attempts.wait_s("192.0.2.7") == 0
