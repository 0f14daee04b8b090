"""What receivers get over real connections (HTTP, SMTP, MQTT), and which addresses are refused."""

from __future__ import annotations

import base64
import hashlib
import hmac
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from email import message_from_bytes, policy
from email.message import EmailMessage
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from typing import Any

import httpx
import orjson
import pytest
from aiosmtpd.controller import Controller

from api.insight.receivers import KIND_BY_NAME, KINDS
from api.insight.receivers import guarded_http as guard
from api.insight.receivers.kind import Answer, Means, Message
from api.insight.receivers.sealed_secrets import ReceiverSeal
from api.insight.receivers.webhook import sign
from api.settings import Settings
from api.store.base.alerts import MessageRow
from api.timez import DAY_MS, HOUR_MS, MINUTE_MS, now_ms, stamp
from tests.servers import alertmanager
from tests.tables import cases

ALERT = {
    "id": "a-1", "deviceId": "d-1", "serialNumber": "M-1", "label": "Tenant 2 <main>",
    "zone": "America/Denver", "subject": "continuous-flow", "kind": "Leak",
    "severity": "critical", "words": "At least 54.4 gal/h.", "value": 54.4, "unit": "gal/h",
    "costPerDay": 15.67, "startsAt": "2026-03-08T06:00:00Z", "endsAt": None,
}  # fmt: skip
PNG = b"\x89PNG\r\n\x1a\n" + b"0" * 64


def settings(**text: str) -> Settings:
    local = {"WEIR_SECRET_KEY": "s" * 40, "WEIR_ALERT_NETWORKS": "127.0.0.0/8"}
    return Settings.from_env(local | text)


def a_message(
    event: str = "fire", *, config: Any = None, secret: Any = None, size: int = 0, **fields: Any
) -> Message:
    row = MessageRow(
        "msg-1" if event == "fire" else "msg-2", "acme", "r-1", "thread-1",
        0 if event == "fire" else 9, event, "queued", 1, 1, 0, None, "", "",
    )  # fmt: skip
    body = {
        "event": event, "thread": "thread-1", "organizationId": "acme",
        "rule": {"id": "rule-1", "name": "Leaks"}, "note": "", "at": "2026-03-08T07:00:00Z",
        "group": {"name": "East", "size": size} if size else None,
        "alerts": [{**ALERT, **fields}], "units": fields.pop("units", "us"),
    }  # fmt: skip
    return Message(row, body, config or {}, secret or {}, "https://weir.example", event == "fire")


# --- HTTP ----------------------------------------------------------------------------------------


class Hook(ThreadingHTTPServer):
    """A web server for webhooks. ``answers`` are its statuses in turn, the last one repeated; 0
    hangs, 302 redirects to itself."""

    def __init__(self, *answers: int) -> None:
        self.answers, self.got = list(answers), list[tuple[Any, bytes]]()
        self.go_on = Event()
        super().__init__(("127.0.0.1", 0), _Handler)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/hook?token=hush"


class _Handler(BaseHTTPRequestHandler):
    server: Hook  # pyright: ignore[reportIncompatibleVariableOverride]

    def do_POST(self) -> None:
        body = self.rfile.read(size := int(self.headers["Content-Length"]))
        if len(body) < size:
            return  # the sender was killed
        self.server.got.append((self.headers, body))
        answers = self.server.answers
        status = answers.pop(0) if len(answers) > 1 else answers[0]
        if status == 0:
            self.server.go_on.wait(10)
            return
        with suppress(OSError):
            self.send_response(status)
            self.send_header("Location", self.server.url)
            self.end_headers()
            self.wfile.write(b"said the hook")

    def log_message(self, format: str, *args: Any) -> None:
        pass


@contextmanager
def hook(*answers: int) -> Iterator[Hook]:
    server = Hook(*answers)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server
    finally:
        server.go_on.set()
        server.shutdown()
        server.server_close()


def sent(kind: str, message: Message, **text: str) -> Answer:
    return KIND_BY_NAME[kind].send(message, Means(settings(**text)))


def test_a_webhook_is_signed_and_has_alertmanagers_body() -> None:
    with hook(200) as server:
        config, secret = KIND_BY_NAME["webhook"].check({"url": server.url})
        assert config == {"shown": f"http://127.0.0.1:{server.server_port}/…"}
        answer = sent("webhook", a_message(config=config, secret=secret))
    assert answer == Answer(True, "200 said the hook")
    ((headers, raw),) = server.got
    key = base64.b64decode(secret["secret"].removeprefix("whsec_"))
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + raw
    digest = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    assert headers["webhook-id"] == "msg-1"
    assert headers["webhook-signature"] == f"v1,{digest}"
    body = orjson.loads(raw)
    assert {"version", "groupKey", "status", "receiver", "groupLabels", "commonLabels",
            "commonAnnotations", "externalURL", "truncatedAlerts", "alerts",
            } <= set(body)  # fmt: skip
    (alert,) = body["alerts"]
    assert (body["version"], body["status"], alert["status"]) == ("4", "firing", "firing")
    assert alert["labels"]["alertname"] == "Leaks"
    assert alert["startsAt"] == ALERT["startsAt"]
    assert alert["generatorURL"] == "https://weir.example/devices/d-1"


def test_the_signature_is_that_of_the_standards_own_example() -> None:
    secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    body = b'{"test": 2432232314}'
    wanted = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
    assert sign(secret, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, body) == wanted


def test_a_redirect_is_not_followed() -> None:
    with hook(302) as server:
        _, secret = KIND_BY_NAME["webhook"].check({"url": server.url})
        answer = sent("webhook", a_message(secret=secret))
    assert (answer.ok, answer.text[:3], len(server.got)) == (False, "302", 1)


def test_status_410_means_the_receiver_is_gone() -> None:
    with hook(410) as server:
        _, secret = KIND_BY_NAME["webhook"].check({"url": server.url})
        assert sent("webhook", a_message(secret=secret)).gone


def test_a_hanging_receiver_times_out() -> None:
    with hook(0) as server, pytest.raises(guard.FAILURES) as caught:
        guard.post(server.url, b"{}", {}, settings().alert_networks, within_s=0.3)
    assert guard.failure(caught.value) == "No response in time."


@cases(
    ("address", "public"),
    [
        ("93.184.216.34", True),
        ("2606:2800:220:1::1", True),
        *((each, False) for each in (
            "127.0.0.1", "10.1.2.3", "192.168.1.1", "172.16.0.1", "169.254.169.254", "0.0.0.0",
            "100.64.0.1", "224.0.0.1", "::1", "fe80::1%eth0", "fd00::1", "::ffff:10.0.0.1",
            "64:ff9b::a00:1", "2002:a00:1::",
        )),
    ],
)  # fmt: skip
def test_private_addresses_are_refused(address: str, public: bool) -> None:
    assert guard.is_public(address) is public


def test_allowed_networks_are_not_refused() -> None:
    networks = settings(WEIR_ALERT_NETWORKS="10.0.0.0/8,fd00::/8").alert_networks
    assert guard.is_public("10.1.2.3", networks)
    assert guard.is_public("::ffff:10.1.2.3", networks)
    assert guard.is_public("fd00::1", networks)
    assert not guard.is_public("192.168.0.1", networks)


def test_a_name_is_checked_at_the_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    """A public name that resolves to this machine is refused, even if it resolved elsewhere
    before."""
    with hook(200) as server:
        where = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", server.server_port))]
        monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: where)
        url = f"http://rebound.example:{server.server_port}/"
        _, secret = KIND_BY_NAME["webhook"].check({"url": url})
        answer = sent("webhook", a_message(secret=secret), WEIR_ALERT_NETWORKS="")
        assert not answer.ok
        assert "private address" in answer.text
        assert server.got == []


@cases(
    ("kind", "fields"),
    [
        ("webhook", {}),
        ("webhook", {"url": "ftp://a.example"}),
        ("webhook", {"url": "https://user:pw@a.example"}),
        ("webhook", {"url": "https://a.example", "secret": "short"}),
        ("email", {"to": []}),
        ("email", {"to": ["nobody"]}),
        ("email", {"to": ["a@b.example\r\nBcc: c@d.example"]}),
        ("mqtt", {"topic": "weir/#"}),
        ("mqtt", {"topic": "$SYS/x"}),
        ("apprise", {"url": "nothing"}),
    ],
)
def test_an_invalid_receiver_is_refused(kind: str, fields: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"url|secret|to|topic|made"):
        KIND_BY_NAME[kind].check(fields)


@pytest.mark.slow
def test_debians_alertmanager_shows_an_alert_until_its_resolve(tmp_path: Path) -> None:
    started = stamp(now_ms() - HOUR_MS)
    with alertmanager(tmp_path) as url, httpx.Client(base_url=f"{url}/api/v2") as http:
        _, secret = KIND_BY_NAME["alertmanager"].check({"url": f"{url}/"})
        deadline = time.monotonic() + 20
        while http.get("/status").status_code != 200:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        assert sent("alertmanager", a_message(secret=secret, startsAt=started)).ok
        (shown,) = http.get("/alerts").json()
        assert shown["labels"]["alertname"] == "Leaks"
        assert shown["labels"]["severity"] == "critical"
        assert shown["annotations"]["description"] == ALERT["words"]
        assert shown["generatorURL"] == "https://weir.example/devices/d-1"
        assert shown["startsAt"] == started.replace("Z", ".000Z")
        # It doesn't resolve without the message.
        assert shown["endsAt"] > stamp(now_ms() + 20 * DAY_MS)
        assert sent("alertmanager", a_message("reminder", secret=secret, startsAt=started)).ok
        assert len(http.get("/alerts").json()) == 1  # the same alert
        ended = stamp(now_ms() - MINUTE_MS)
        over = a_message("resolve", secret=secret, startsAt=started, endsAt=ended)
        assert sent("alertmanager", over).ok
        assert http.get("/alerts").json() == []
        refused = sent("alertmanager", a_message(secret=secret, startsAt="soon"))
        assert (refused.ok, refused.text[:3]) == (False, "400")


@pytest.mark.slow  # apprise takes seconds to load
@pytest.mark.filterwarnings("ignore:'imghdr' is deprecated")  # by apprise itself
def test_apprise_sends_by_its_own_services() -> None:
    with hook(200) as server:
        url = f"json://127.0.0.1:{server.server_port}/hush"
        config, secret = KIND_BY_NAME["apprise"].check({"url": url})
        assert config == {"shown": "json://…"}
        assert sent("apprise", a_message(secret=secret)) == Answer(True, "Apprise sent it.")
        private = sent("apprise", a_message(secret=secret), WEIR_ALERT_NETWORKS="")
        assert "private address" in private.text
    ((_, raw),) = server.got
    body = orjson.loads(raw)
    assert body["title"] == "Firing: Leak · Tenant 2 <main>"
    assert ALERT["words"] in body["message"]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:'imghdr' is deprecated")  # by apprise itself
def test_a_service_that_apprise_cannot_reach_is_a_failure() -> None:
    with hook(500) as server:
        url = f"json://127.0.0.1:{server.server_port}"
        _, secret = KIND_BY_NAME["apprise"].check({"url": url})
        assert sent("apprise", a_message(secret=secret)) == Answer(
            False, "The service didn't take it."
        )


# --- E-mail --------------------------------------------------------------------------------------


class Mailbox:
    def __init__(self, refusal: str = "") -> None:
        self.mails, self._refusal = list[EmailMessage](), refusal

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:
        if self._refusal:
            return self._refusal
        self.mails.append(message_from_bytes(envelope.content, policy=policy.default))  # pyright: ignore[reportArgumentType]
        return "250 taken"


@contextmanager
def mail_server(box: Mailbox) -> Iterator[str]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = Controller(box, hostname="127.0.0.1", port=port)
    server.start()
    try:
        yield f"smtp://127.0.0.1:{port}"
    finally:
        server.stop()


def mailed(url: str, message: Message, picture: bytes | None = PNG) -> Answer:
    options = settings(WEIR_SMTP_URL=url, WEIR_ALERT_SENDER="weir@acme.example")
    return KIND_BY_NAME["email"].send(message, Means(options, picture=lambda alert: picture))


def test_an_e_mail_has_text_html_and_the_chart_and_its_resolve_is_in_the_thread() -> None:
    box, to = Mailbox(), {"to": ["night@acme.example"]}
    with mail_server(box) as url:
        assert mailed(url, a_message(config=to)).ok
        assert mailed(url, a_message("resolve", config=to, endsAt="2026-03-09T00:00:00Z")).ok
    fire, resolve = box.mails
    assert fire["Subject"] == "Leak · Tenant 2 <main>"
    assert resolve["Subject"] == f"Re: {fire['Subject']}"
    assert resolve["References"] == resolve["In-Reply-To"] == fire["Message-ID"]
    kinds = [part.get_content_type() for part in fire.walk() if not part.is_multipart()]
    assert kinds == ["text/plain", "text/html", "image/png"]
    plain, html = (fire.get_body((kind,)) for kind in ("plain", "html"))
    assert plain is not None
    assert html is not None
    assert "Since: Sat 07 Mar 2026, 23:00 (America/Denver)" in plain.get_content()
    assert "Tenant 2 &lt;main&gt;" in html.get_content()
    assert "cid:chart" in html.get_content()


def test_a_mail_is_sent_without_a_chart_that_cannot_be_drawn() -> None:
    box = Mailbox()
    with mail_server(box) as url:
        message = a_message(config={"to": ["a@b.example"]}, units="metric")
        assert mailed(url, message, None).ok
    assert "cid:chart" not in box.mails[0].as_string()
    plain = box.mails[0].get_body(("plain",))
    assert plain is not None
    assert "Value: 206 L/h" in plain.get_content()


def test_a_mail_server_that_refuses_is_quoted() -> None:
    with mail_server(Mailbox("451 later")) as url:
        answer = mailed(url, a_message(config={"to": ["a@b.example"]}))
    assert answer == Answer(False, "The mail server responded 451 later")


def test_an_unreachable_mail_server_is_named() -> None:
    answer = mailed("smtp://127.0.0.1:1", a_message(config={"to": ["a@b.example"]}))
    assert answer == Answer(False, "The mail server can't be reached.")


# --- MQTT, and all of them -----------------------------------------------------------------------


def test_mqtt_has_a_topic_for_each_device() -> None:
    got: list[tuple[str, Any]] = []

    def publish(topic: str, payload: bytes) -> str:
        got.append((topic, orjson.loads(payload)))
        return ""

    means = Means(settings(), publish=publish)
    for event in ("fire", "resolve"):
        assert (
            KIND_BY_NAME["mqtt"].send(a_message(event, config={"topic": "weir/alerts"}), means).ok
        )
    assert [topic for topic, _ in got] == ["weir/alerts/d-1/continuous-flow"] * 2
    assert [text["status"] for _, text in got] == ["firing", "resolved"]


def test_secrets_are_encrypted_and_another_key_opens_none() -> None:
    secret = {"url": "https://a.example/hush"}
    sealed = ReceiverSeal("a" * 40).close(secret)
    assert "hush" not in sealed
    assert ReceiverSeal("a" * 40).open(sealed) == secret
    assert ReceiverSeal("b" * 40).open(sealed) is None


@cases("kind", KINDS)
def test_every_kind_names_its_required_fields(kind: Any) -> None:
    assert kind.label
    assert kind.fields
    assert isinstance(kind.missing(settings()), str)
