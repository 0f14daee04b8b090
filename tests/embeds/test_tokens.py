"""An embed's token opens its own embed while both are valid, and nothing else."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import jwt
import pytest

from api.auth import EmbedAuthenticator, issue_embed_token, issue_token
from api.auth.embeds import FAR_S
from api.catalog import CREDENTIAL_CACHE_S, EMBEDS_PREFIX, KEY_HEADER, PATH_PREFIX
from api.embeds import EmbedDefinition
from api.errors import Unauthorized
from api.store.base import Grant, NewDevice
from api.store.query import Query
from api.store.web.base import Embed, Maker
from api.timez import now_ms, parse_instant
from tests.embeds.conftest import Stage, forged
from tests.tables import cases
from tests.world import ACME, CLOSED, FOREIGN, LONE, METER, OLD, QUIET, SECRET, TWIN

INVALID = "The bearer token is not valid."


class Clock:
    """The two clocks, which a test moves."""

    def __init__(self) -> None:
        self.s = 0.0
        self.ms = now_ms()

    def pass_s(self, seconds: float) -> None:
        self.s += seconds
        self.ms += round(seconds * 1000)


class Gate:
    """The service that checks embeds' tokens, with a clock of its own."""

    def __init__(self, stage: Stage) -> None:
        self.clock, self.stage = Clock(), stage
        self.authenticator = EmbedAuthenticator(
            stage.world.store,
            stage.web,
            stage.world.settings,
            clock_s=lambda: self.clock.s,
            now_ms=lambda: self.clock.ms,
        )

    def embed(self, maker: Maker, *devices: str, **details: Any) -> Embed:
        definition = EmbedDefinition("wall", devices or (METER,), **details)
        embed = Embed(f"emb_{now_ms()}{len(self.made)}", ACME, maker, definition, self.clock.ms)
        self.stage.web.create_embed(embed)
        self.made.append(embed)
        return embed

    @property
    def made(self) -> list[Embed]:
        return self.__dict__.setdefault("_made", [])

    def token(self, embed: Embed, ttl_s: int | None = None) -> str:
        return issue_embed_token(self.stage.world.settings, embed, self.clock.ms, ttl_s)[0]

    def sees(self, token: str) -> frozenset[str]:
        return self.authenticator.principal(None, f"Bearer {token}").scope.grant.devices

    def refusal(self, token: str) -> Unauthorized:
        with pytest.raises(Unauthorized) as caught:
            self.sees(token)
        return caught.value


@pytest.fixture
def gate(stage: Stage) -> Gate:
    return Gate(stage)


COMMAND = Maker("command", granted=Grant(everything=True))


# --- Valid tokens --------------------------------------------------------------------------------


def test_a_link_token_gives_its_embeds_definition(stage: Stage) -> None:
    made = stage.make(title="Lobby", devices=[METER])
    answer = stage.own(stage.token(made["id"]))
    assert answer.status_code == 200
    assert answer.json == made
    assert answer.headers["Cache-Control"] == "no-store"


def test_it_reads_its_devices_and_no_others(stage: Stage) -> None:
    token = stage.token(stage.make(view="wall", devices=[METER, OLD])["id"])
    for device, status in ((METER, 200), (OLD, 200), (TWIN, 404), (FOREIGN, 404), ("T-1", 404)):
        path = f"{PATH_PREFIX}/flow/datapoints/{device}?resolution=total"
        assert stage.view(path, token).status_code == status
    latest = stage.view(
        f"{PATH_PREFIX}/flow/latest?ids={METER},{TWIN},{LONE}&metrics=lastSeen", token
    )
    assert [entry["deviceId"] for entry in latest.json["data"]] == [METER]  # pyright: ignore[reportOptionalSubscript]
    listed = stage.view(f"{PATH_PREFIX}/device?active=null", token).json
    assert {device["id"] for device in listed or []} == {METER, OLD}


def test_a_short_token_has_the_requested_lifetime(gate: Gate) -> None:
    embed = gate.embed(COMMAND)
    token, longer = gate.token(embed, 60), gate.token(embed, 600)
    claims = jwt.decode(token, SECRET, algorithms=["HS256"], audience="embed")
    assert claims["exp"] - claims["iat"] == 60
    assert gate.sees(token) == {METER}
    gate.clock.pass_s(61)
    refused = gate.refusal(token)
    assert refused.reason == "token-expired"
    assert gate.sees(longer) == {METER}


@cases("ttl", [9, 601, 0, -1, 10**9, "60", True, 60.5])
def test_a_short_token_has_bounds(stage: Stage, ttl: Any) -> None:
    made = stage.make()
    answer = stage.ask("POST", f"/embeds/{made['id']}/tokens", {"ttl": ttl})
    assert answer.status_code == 400
    assert answer.json["errors"][0]["parameter"] == "ttl"  # pyright: ignore[reportOptionalSubscript]


def test_no_token_outlives_its_embed(gate: Gate) -> None:
    embed = gate.embed(COMMAND, expires_ms=gate.clock.ms // 1000 * 1000 + 30_000)
    for ttl in (None, 600):
        _, ends_ms = issue_embed_token(gate.stage.world.settings, embed, gate.clock.ms, ttl)
        assert ends_ms == embed.definition.expires_ms
    token = gate.token(embed)
    gate.clock.pass_s(31)
    assert gate.refusal(token).reason == "embed-expired"


def test_an_embed_without_expiry_has_a_link_token_without_one(stage: Stage) -> None:
    made = stage.make()
    answer = stage.ask("POST", f"/embeds/{made['id']}/tokens", {}).json
    assert answer is not None
    assert answer["expiresAt"] is None
    assert jwt.decode(answer["token"], options={"verify_signature": False})["exp"] == FAR_S
    short = stage.ask("POST", f"/embeds/{made['id']}/tokens", {"ttl": 600}).json
    assert short is not None
    assert abs(parse_instant(short["expiresAt"]) - now_ms() - 600_000) < 60_000


# --- Invalid tokens ------------------------------------------------------------------------------


NOW_S = int(time.time())
BAD: dict[str, Callable[[str, str], str]] = {
    "nothing": lambda good, other: "",
    "garbage": lambda good, other: "abc",
    "no signature": lambda good, other: good.rpartition(".")[0] + ".",
    "another's signature": lambda good, other: (
        good.rpartition(".")[0] + "." + other.rpartition(".")[2]
    ),
    "another's body": lambda good, other: ".".join(
        [good.split(".")[0], other.split(".")[1], good.split(".")[2]]
    ),
    "alg none": lambda good, other: forged(good, key="", algorithm="none"),
    "alg HS512": lambda good, other: forged(good, key=SECRET * 2, algorithm="HS512"),
    "another secret": lambda good, other: forged(good, key="x" * 40),
    "wrong audience": lambda good, other: forged(good, aud="weir"),
    "no audience": lambda good, other: forged(good, aud=None),
    "another issuer": lambda good, other: forged(good, iss="elsewhere"),
    "no jti": lambda good, other: forged(good, jti=None),
    "no end": lambda good, other: forged(good, exp=None),
    "no embed": lambda good, other: forged(good, sub=None),
    "an embed that is not there": lambda good, other: forged(good, sub="emb_nothing"),
    "an embed with a NUL": lambda good, other: forged(good, sub="emb_\0"),
    "from the future": lambda good, other: forged(good, iat=NOW_S + 3_600),
    "endless": lambda good, other: good + "x" * 10_000,
}


@cases("what", BAD)
def test_an_invalid_token_gets_no_reason(stage: Stage, what: str) -> None:
    good, other = (stage.token(stage.make()["id"]) for _ in range(2))
    answer = stage.own(BAD[what](good, other))
    assert answer.status_code == 401
    body = answer.json
    assert body is not None
    assert "reason" not in body
    assert body["detail"] == INVALID


def test_an_expired_forgery_gets_no_reason_either(stage: Stage) -> None:
    token = stage.token(stage.make()["id"])
    mine = stage.own(forged(token, exp=1_000_000_000)).json
    foreign = stage.own(forged(token, exp=1_000_000_000, key="x" * 40)).json
    assert mine is not None
    assert foreign is not None
    assert mine["reason"] == "token-expired"
    assert "reason" not in foreign


def test_other_credentials_open_no_embed(stage: Stage) -> None:
    key = stage.world.credentials["all"].headers[KEY_HEADER]
    token = issue_token(stage.world.settings, ACME, None, 3600, may_embed=True)
    own = stage.token(stage.make()["id"])
    for headers in ({KEY_HEADER: key}, {"Authorization": f"Bearer {token}"}, {},
                    {KEY_HEADER: key, "Authorization": f"Bearer {own}"}):  # fmt: skip
        for path in (f"{EMBEDS_PREFIX}/self", f"{PATH_PREFIX}/device"):
            assert stage.shown.get(path, headers=headers).status_code == 401


def test_the_public_service_takes_no_embeds_token(stage: Stage) -> None:
    own = {"Authorization": f"Bearer {stage.token(stage.make()['id'])}"}
    for path in ("/organizations/mine", "/device", f"/flow/datapoints/{METER}?resolution=raw",
                 f"/flow/latest?ids={METER}&metrics=lastSeen", "/api-json"):  # fmt: skip
        answer = stage.service.get(PATH_PREFIX + path, headers=own)
        assert answer.status_code == 401
        assert answer.json is not None
        assert "reason" not in answer.json


# --- Expiry and revocation -----------------------------------------------------------------------

FORGOTTEN_S = CREDENTIAL_CACHE_S + 0.1


def test_revoking_takes_effect_when_the_credential_cache_expires(gate: Gate) -> None:
    embed = gate.embed(COMMAND)
    link, short = gate.token(embed), gate.token(embed, 600)
    assert gate.sees(link) == {METER}
    gate.stage.web.revoke_embed(embed.id, gate.clock.ms)
    gate.clock.pass_s(FORGOTTEN_S)
    for token in (link, short):
        refused = gate.refusal(token)
        assert (refused.reason, refused.detail) == ("embed-revoked", "This embed was revoked.")


def test_an_embed_ends_with_the_key_that_made_it(gate: Gate) -> None:
    world = gate.stage.world
    for ended in ("revoked", "expired"):
        expires_ms = gate.clock.ms + 20_000 if ended == "expired" else None
        _, key_id = world.new_key(Grant(everything=True), expires_ms=expires_ms)
        token = gate.token(gate.embed(Maker(key_id, key_id=key_id)))
        assert gate.sees(token) == {METER}
        if ended == "revoked":
            world.store.revoke_key(key_id, gate.clock.ms)
        gate.clock.pass_s(21)
        assert gate.refusal(token).reason == "embed-stopped"


def test_an_embed_follows_the_present_access_of_its_key(gate: Gate) -> None:
    world = gate.stage.world
    _, key_id = world.new_key(Grant(groups=frozenset({"north"}), devices=frozenset({LONE})))
    token = gate.token(gate.embed(Maker(key_id, key_id=key_id), METER, QUIET, LONE, TWIN))
    before = gate.authenticator.principal(None, f"Bearer {token}")
    assert before.scope.grant.devices == {METER, QUIET, LONE, TWIN}
    world.store.import_devices(ACME, [NewDevice("Q 1", groups=()), NewDevice("T-1", groups=())])
    try:
        gate.clock.pass_s(FORGOTTEN_S)
        after = gate.authenticator.principal(None, f"Bearer {token}")
        assert after.scope.grant.devices == {METER, LONE}
        assert after.id != before.id  # cached rows belong to another principal
    finally:
        world.store.import_devices(
            ACME,
            [NewDevice("Q 1", groups=("north",)), NewDevice("T-1", groups=("north", "all floors"))],
        )


def test_an_embed_of_a_bearer_keeps_the_bearers_grant(gate: Gate) -> None:
    granted = Grant(groups=frozenset({"all floors"}))
    token = gate.token(gate.embed(Maker("token", granted=granted), METER, TWIN))
    assert gate.sees(token) == {TWIN}


def test_embeds_of_a_closed_organization_are_closed(gate: Gate) -> None:
    store, organization = gate.stage.world.store, CLOSED
    embed = Embed("emb_closed", organization, COMMAND, EmbedDefinition("tile", (METER,)), 0)
    gate.stage.web.create_embed(embed)
    assert gate.sees(gate.token(embed)) == frozenset()
    _close(store, organization)
    gate.clock.pass_s(FORGOTTEN_S)
    assert gate.refusal(gate.token(embed)).reason == "embed-stopped"


def _close(store: Any, organization_id: str) -> None:
    with store.transaction() as transaction:
        transaction.run(
            Query("UPDATE organization SET active = 0 WHERE id = ?", (organization_id,))
        )


def test_the_list_marks_ended_embeds(stage: Stage) -> None:
    secret, key_id = stage.world.new_key(Grant(everything=True))
    made = stage.make(by={KEY_HEADER: secret})
    stage.world.store.revoke_key(key_id, now_ms())
    listed = stage.ask("GET", "/embeds").json or []
    assert next(each["state"] for each in listed if each["id"] == made["id"]) == "stopped"
