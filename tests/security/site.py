"""The whole site as a production server has it, and everybody who may request from it."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from flask import Flask
from werkzeug.test import Client as Browser
from werkzeug.test import TestResponse

import app
from api.auth.embeds import issue_embed_token
from api.catalog import KEY_HEADER
from api.client import Credential
from api.embeds import EmbedDefinition
from api.insight.alerts import management
from api.insight.alerts.model import Condition, Episode
from api.insight.alerts.rules import Rule, StoredRule
from api.roles import Role
from api.settings import Settings
from api.store.base import Annotation, AnnotationKind, BillingRow, Grant
from api.store.base.alerts import AlertChanges, ReceiverRow, SilenceRow
from api.store.open import open_web_store
from api.store.sql import findings as sql
from api.store.web.base import Embed, Maker, WebStore
from api.timez import now_ms
from tests.world import ACME, FOREIGN, NORTH, SECRET, TWIN, World, ms, opened
from web.auth.session_cookie import Seal, Session

HOST = "weir.example"
COOKIE = "weir-session"
NOTHING = frozenset[str]()


@dataclass(frozen=True)
class Who:
    """A principal's headers, and its access: devices by the interface (``api``) and by the
    dashboard (``site``), None without access; ``refused`` is the interface's status then."""

    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    api: frozenset[str] | None = None
    site: frozenset[str] | None = None
    refused: int = 401
    may_embed: bool = False
    role: Role = Role.VIEWER
    sends: bool = False  # readings
    framed: bool = False  # by the token of the embed


@dataclass
class Whole:
    """``apps`` are all Flask applications of the site, recorded while it was built."""

    world: World
    web: WebStore
    settings: Settings
    apps: list[Flask]
    browser: Browser
    people: dict[str, Who]
    embed_id: str
    _addresses: Iterator[int] = field(default_factory=itertools.count)

    def ask(self, who: str, method: str, path: str, **more: Any) -> TestResponse:
        """From a new address each time, over the network."""
        number = next(self._addresses)
        peer = f"198.{18 + number // 65_536}.{number // 256 % 256}.{number % 256}"
        return self.browser.open(
            path,
            method=method,
            base_url=f"http://{HOST}",
            environ_base={"REMOTE_ADDR": peer},
            headers=dict(self.people[who].headers),
            buffered=True,
            **more,
        )

    def new_finding(self, *, dismissed: bool = False) -> str:
        """A finding of the twin; returns its id."""
        store, key = self.world.store, self.world.devices[TWIN].key
        number, id = next(self._addresses), str(uuid4())
        row: list[Any] = [key, "stuck", number, id, "notice", 2, number, None, 12.0, "h", None]
        row += [None, None, "The same 7 gal for 12 h", 0, 0.0, *(None,) * 4]
        if dismissed:
            row[-4:] = [number, "key_of_somebody", "", "not-a-problem"]
        with store.transaction() as transaction:  # pyright: ignore[reportAttributeAccessIssue]
            transaction.run(sql.keep(row))
        return id

    def new_alerting(self, what: str) -> str:
        """An alert or silence of the twin, or a rule or receiver of its organization."""
        store, id = self.world.store, str(uuid4())
        if what in ("alert", "taken"):
            store.mark_alerts([self.world.devices[TWIN].key])
            condition = Condition("burst", id, 1, 2, None, "critical", 0, "Words of it.")
            episode = Episode(
                id, ACME, "none", self.world.devices[TWIN].key, "burst", "firing", condition, 3,
                fired_ms=now_ms(), acknowledged_ms=4 if what == "taken" else None,
            )  # fmt: skip
            changes = AlertChanges([episode.row()])
            store.decide_alerts(ACME, store.due_alerts(1_000), 0, lambda book: changes)
        elif what == "rule":
            store.keep_rule(StoredRule(id, ACME, Rule("Rule"), "key", 0, 0).row(), ())
        elif what in ("tariff", "budget", "schedule"):
            kind: Any = "report" if what == "schedule" else what
            receiver = self.new_alerting("receiver") if what == "schedule" else ""
            definition = {
                "schedule": '{"every": "week", "timezone": "UTC", "receivers":'
                f' ["{receiver}"], "devices": [], "group": null, "paused": true}}',
                "tariff": '{"name": "T", "currency": "USD", "versions": [{"from": "2026-01-01",'
                ' "rates": [{"perGallon": "0.01"}]}], "organization": false, "groups": [],'
                ' "devices": []}',
                "budget": '{"measure": "volume", "amount": "5"}',
            }[what]
            name = f"device:{TWIN}" if what == "budget" else "T"
            store.keep_billing_row(
                BillingRow(id, ACME, kind, name, definition, None, "key", 0, 0), ()
            )
        elif what == "receiver":
            row = ReceiverRow(
                id, ACME, "Desk", "email", '{"to": ["a@b.example"]}', "", 1, "", "key", 0, 0
            )
            store.keep_receiver(row, ())
        else:
            row = SilenceRow(id, ACME, None, TWIN, None, None, 0, now_ms() + 9_000, "", "key", 0)
            store.keep_silence(row, ())
        return id

    def new_annotation(self, kind: str) -> str:
        """An annotation of the twin, by another author."""
        twin, at_ms = self.world.devices[TWIN], ms("2026-03-08T12:00Z")
        made = Annotation(
            str(uuid4()), ACME, AnnotationKind(kind), twin.key, None, at_ms, at_ms + 60_000,
            f"{TWIN} alpha", at_ms, "key_of_somebody",
            metrics=("quality",) if kind == "correction" else (),
        )  # fmt: skip
        if kind == "correction":
            self.world.store.correct(made, [])
        else:
            self.world.store.keep_annotation(made, [])
        return made.id

    def new_embed(self) -> str:
        """An embed of the twin."""
        everything = Grant(everything=True)
        id = f"emb_{uuid4().hex}"
        definition = EmbedDefinition("chart", (TWIN,))
        self.web.create_embed(
            Embed(id, ACME, Maker("command", granted=everything), definition, now_ms())
        )
        return id


@contextmanager
def whole(folder: Path, **more: str) -> Iterator[Whole]:
    """``more`` are settings by name."""
    url = f"sqlite:///{folder / 'weir.sqlite'}"
    settings = Settings.from_env(
        {
            "WEIR_SECRET_KEY": SECRET,
            "WEIR_DATABASE": url,
            "WEIR_INSTANCE": str(folder),
            "WEIR_RATE_LIMIT": "0",
            **more,
        }
    )
    with opened(url) as world, pytest.MonkeyPatch.context() as patch:
        web = open_web_store(url)
        web.upgrade()
        apps: list[Flask] = []
        made = Flask.__init__

        def noted(self: Flask, *args: Any, **more: Any) -> None:
            made(self, *args, **more)
            apps.append(self)

        patch.setattr(Flask, "__init__", noted)
        browser = Browser(app.site(settings), use_cookies=False)
        patch.undo()
        patch.setattr(management, "TEST_S", 0.1)  # no writer runs here that would send
        site = Whole(world, web, settings, apps, browser, {}, "")
        site.embed_id = site.new_embed()
        site.people |= _people(site)
        yield site
        web.close()


def _people(site: Whole) -> dict[str, Who]:
    """Everyone with a credential, and without one, by a name for people."""
    everything = Grant(everything=True)
    administers, _ = site.world.new_key(everything, role=Role.ADMINISTRATOR)
    revoked, revoked_id = site.world.new_key(everything)
    site.world.store.revoke_key(revoked_id, now_ms())
    return {
        "nobody": Who(),
        **_with_keys(site, administers, revoked),
        **_with_tokens(site),
        **_with_sessions(site, administers, revoked),
    }


def _text_of(site: Whole, name: str) -> str:
    """The key of that credential."""
    return site.world.credentials[name].headers[KEY_HEADER]


def _with_keys(site: Whole, administers: str, revoked: str) -> dict[str, Who]:
    world, everything, of = site.world, Grant(everything=True), partial(_text_of, site)
    credentials = world.credentials
    sends, _ = world.new_key(everything, ingest=True)
    looks, _ = world.new_key(everything, role=Role.VIEWER)
    of_group, _ = world.new_key(Grant(groups=frozenset({"north"})), role=Role.ADMINISTRATOR)
    expired, _ = world.new_key(everything, expires_ms=now_ms() - 1)
    mine, theirs = frozenset(credentials["all"].sees), frozenset({FOREIGN})

    def key(text: str, **more: Any) -> Who:
        return Who({KEY_HEADER: text}, **{"role": Role.OPERATOR, **more})

    return {
        "a key": key(of("all"), api=mine, may_embed=True),
        "a viewer's key": key(looks, api=mine, role=Role.VIEWER),
        "an administrator's key": key(
            administers, api=mine, may_embed=True, role=Role.ADMINISTRATOR
        ),
        "a key of other devices": key(
            of("devices"), api=credentials["devices"].sees, may_embed=True
        ),
        "a key of a group": key(of("group"), api=NORTH, may_embed=True),
        "an administrator's key of a group": key(
            of_group, api=NORTH, may_embed=True, role=Role.ADMINISTRATOR
        ),
        "a key of nothing": key(of("nothing"), api=NOTHING, may_embed=True),
        "a foreign key": key(of("foreign"), api=theirs, may_embed=True),
        "an ingest key": key(sends, refused=403, sends=True),
        "an expired key": key(expired),
        "a revoked key": key(revoked),
        "an unknown key": key(str(uuid4())),
        "a key id": key("key_of_somebody", refused=403),
        "two keys": key(f"{of('all')}, {of('all')}"),
    }


def _with_tokens(site: Whole) -> dict[str, Who]:
    credentials = site.world.credentials
    embed = site.web.embed(site.embed_id)
    assert embed is not None
    of_embed = issue_embed_token(site.settings, embed, now_ms())[0]
    mine = frozenset(credentials["all"].sees)
    return {
        "a token": Who(credentials["token"].headers, api=mine),
        "a token for one": Who(credentials["token for one"].headers, api=frozenset({TWIN})),
        "a token that is none": Who({"Authorization": "Bearer x.y.z"}),
        "an embed's token": Who({"Authorization": f"Bearer {of_embed}"}, framed=True),
    }


def _with_sessions(site: Whole, administers: str, revoked: str) -> dict[str, Who]:
    credentials, of = site.world.credentials, partial(_text_of, site)
    mine, theirs = frozenset(credentials["all"].sees), frozenset({FOREIGN})

    def session(text: str, secret: str = SECRET, age_s: int = 0, **more: Any) -> Who:
        begun = Session.begin(Credential.key(text), int(time.time()) - age_s)
        return Who({"Cookie": f"{COOKIE}={Seal(secret).close(begun)}"}, **more)

    return {
        "a session": session(of("all"), site=mine),
        "an administrator's session": session(administers, site=mine, role=Role.ADMINISTRATOR),
        "a session of other devices": session(of("devices"), site=credentials["devices"].sees),
        "a foreign session": session(of("foreign"), site=theirs),
        "a session of a revoked key": session(revoked),
        "an old session": session(of("all"), age_s=86_400),
        "a session of another secret": session(of("all"), secret="another secret, long enough too"),
        "a key as a cookie": Who({"Cookie": f"{COOKIE}={of('all')}"}),
    }
