"""The real server as its operator sees it: readiness, counts, log, limits, and the headers of every
kind of response. Two workers, so that state of only one process shows."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode, urlsplit
from uuid import uuid4

import pytest

from api.catalog import EMBED_PAGE_PREFIX, INGEST_PATH, KEY_HEADER, PATH_PREFIX
from api.server.rate_limits import BURST_S, FAILURES_BURST
from api.settings import Settings
from components.session import SIGN_OUT
from tests.commands.conftest import CommandLine
from tests.commands.shell import Shell, children, eventually, stopped
from tests.routes import routes
from tests.tables import cases
from web.auth.sign_in import BURST

METRICS_TOKEN = "open-the-metrics-please"
WORKERS = 2
pytestmark = pytest.mark.skipif(
    not Path("/proc/self/stat").exists(), reason="looks at processes in /proc"
)


class Answer(NamedTuple):
    status: int
    headers: http.client.HTTPMessage
    body: bytes


class Site:
    """`weir serve` with a device, and each kind of credential for it."""

    def __init__(self, folder: Path, workers: int = WORKERS, **environ: str) -> None:
        self.shell = Shell(folder)
        self.shell.environ |= {
            "WEIR_REQUEST_LOG": str(folder / "requests.log"),
            "WEIR_TRUSTED_PROXIES": "127.0.0.1",
            "WEIR_HSTS_S": "600",
            **environ,
        }
        ask = CommandLine(self.shell.environ).ask
        ask("db", "upgrade")
        self.org = str(ask("orgs", "create", "Acme")["id"])
        devices = folder / "d.json"
        devices.write_text('[{"serialNumber": "M-1"}]')
        ask("devices", "import", devices, "--org", self.org)
        made = ask("keys", "create", "--org", self.org)
        self.key, self.key_id = str(made["key"]), str(made["keyId"])
        self.ingest = str(ask("keys", "create", "--org", self.org, "--ingest")["key"])
        self.token = str(ask("tokens", "create", "--org", self.org)["token"])
        embed = ask("embeds", "create", "--org", self.org, "--view", "tile", "--device", "M-1")
        self.embed, self.embed_token = str(embed["id"]), str(embed["token"])
        self.link = str(ask("images", "link", "--key", self.key_id, "--device", "M-1")["address"])
        self.server = self.shell.start("serve", "--workers", str(workers))
        eventually(lambda: self.ask("/readyz?need=writer").status == 200, "the site was up")

    def ask(
        self, path: str, method: str = "GET", body: bytes | str | None = None, **headers: str
    ) -> Answer:
        """On a new connection, so that any worker may take it."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        with closing(http.client.HTTPConnection("127.0.0.1", self.shell.port, timeout=60)) as line:
            line.request(method, path, body, named)
            answer = line.getresponse()
            return Answer(answer.status, answer.headers, answer.read())

    def metrics(self) -> dict[str, float]:
        """Every sample's value by its name and labels."""
        lines = self.ask("/metrics", Authorization=f"Bearer {METRICS_TOKEN}").body.decode()
        pairs = (line.rsplit(" ", 1) for line in lines.splitlines() if not line.startswith("#"))
        return {name: float(value) for name, value in pairs}

    def lines(self) -> list[dict[str, Any]]:
        text = (self.shell.folder / "requests.log").read_text()
        return [json.loads(line) for line in text.splitlines()]

    def signed_in(self) -> str:
        """The cookie of a session."""
        form = urlencode({"key": self.key})
        kind = "application/x-www-form-urlencoded"
        answer = self.ask("/sign-in", "POST", form, Content_Type=kind, Host="weir.example")
        assert answer.status == 303
        return str(answer.headers["Set-Cookie"]).split(";")[0]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    site = Site(tmp_path_factory.mktemp("site"), WEIR_METRICS_TOKEN=METRICS_TOKEN)
    yield site
    site.shell.end_all()


# --- Headers -------------------------------------------------------------------------------------

# These routes have responses of other kinds too, with the request that causes them.
FURTHER = (
    f"{PATH_PREFIX}/flow/adaptive/M-1?from=2026-01-01&to=2026-01-02&maxDatapoints=10",
    f"{PATH_PREFIX}/flow/datapoints/M-1?resolution=raw", f"{PATH_PREFIX}/flow/latest?ids=M-1",
    f"{PATH_PREFIX}/no-such-path", "/download/none.csv", "/export/none.png",
)  # fmt: skip


def _all_responses(site: Site) -> Iterator[tuple[str, Answer]]:
    """Every route, without a credential and with each that may open it."""
    cookie = {"Host": "weir.example", "Cookie": site.signed_in()}
    key, embed = {KEY_HEADER: site.key}, {"Authorization": f"Bearer {site.embed_token}"}
    result = routes(Settings.from_env(site.shell.environ))
    for method, path in (*result, *(("GET", path) for path in FURTHER)):
        body = b"" if method in ("POST", "PUT", "PATCH") else None
        yield path, site.ask(path, method, body)
        if path.startswith(EMBED_PAGE_PREFIX):
            mine = path.replace("none", site.embed)
            yield mine, site.ask(mine, method, body, **embed)
        elif path.startswith(("/management/", "/embeds/v1")):
            yield path, site.ask(path, method, body, **key)
        elif path != SIGN_OUT:
            yield path, site.ask(path, method, body, **cookie)
    json_ = {"Content_Type": "application/json", KEY_HEADER: site.ingest}
    for body in ('[{"device": "M-1", "flowRate": 1}]', "[", "{}"):
        yield INGEST_PATH, site.ask(INGEST_PATH, "POST", body, **json_)


@pytest.fixture(scope="module")
def responses(site: Site) -> list[tuple[str, Answer]]:
    return list(_all_responses(site))


def test_every_kind_of_response_has_its_security_headers(
    responses: list[tuple[str, Answer]],
) -> None:
    statuses: set[int] = set()
    for path, answer in responses:
        statuses.add(answer.status)
        headers = answer.headers
        for name in ("X-Content-Type-Options", "Referrer-Policy", "Content-Security-Policy"):
            assert len(headers.get_all(name, [])) == 1, (path, name, answer.status)
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert "frame-ancestors" in headers["Content-Security-Policy"]
        assert "unsafe-eval" not in headers["Content-Security-Policy"]
        if path in ("/readyz", "/metrics") or path.startswith(("/management", "/insight")):
            assert headers["Cross-Origin-Resource-Policy"] == "same-origin", path
        assert re.fullmatch(r"[0-9a-f]{16}", headers["Request-Id"]), path
        assert "Strict-Transport-Security" not in headers, path
        assert answer.status != 500, path
    assert statuses >= {200, 303, 400, 401, 404, 405}


@cases("path", ["/healthz", "/sign-in", "/assets/favicon.svg", "/none"])
def test_over_tls_there_is_strict_transport_security(site: Site, path: str) -> None:
    answer = site.ask(path, X_Forwarded_For="203.0.113.9", X_Forwarded_Proto="https")
    assert answer.headers["Strict-Transport-Security"] == "max-age=600"


def test_every_route_has_its_own_count(site: Site, responses: list[tuple[str, Answer]]) -> None:
    there = {answer.headers["Request-Id"] for _, answer in responses if answer.status == 200}
    assert len(there) > 60
    named = {line["route"]: line for line in site.lines() if line["id"] in there}
    assert "other" not in named, [
        p for p, a in responses if a.headers["Request-Id"] == named["other"]["id"]
    ]
    assert len(named) < 150


# --- Counts --------------------------------------------------------------------------------------


def test_counts_are_those_of_all_workers_and_outlive_them(site: Site) -> None:
    name = 'weir_requests_total{method="GET",route="/healthz",status="200"}'
    before = site.metrics().get(name, 0)
    for _ in range(40):
        site.ask("/healthz")

    def are_counted() -> bool:
        """A response is counted after it was sent, so a client may see it before."""
        result = site.metrics()
        service_client = result["weir_requests_in_flight"] == 1
        return service_client and result[name] == before + 40

    eventually(are_counted, "all were counted")
    workers = _workers(site)
    assert {*workers, _writer(site)} <= _counting(site)
    os.kill(workers[0], signal.SIGKILL)
    eventually(
        lambda: len(there := set(_workers(site))) == WORKERS and there <= _counting(site),
        "another worker was there, and counted",
    )
    eventually(are_counted, "what the dead one had counted stayed, and nothing of it was under way")


def _counting(site: Site) -> set[int]:
    files = (site.shell.folder / "instance" / "metrics").glob("*/counter_*.db")
    return {int(f.stem.rpartition("_")[2]) for f in files}


def _workers(site: Site) -> list[int]:
    there = children(site.server.pid)
    return sorted(pid for pid, command in there.items() if "web-worker" in command)


def _writer(site: Site) -> int:
    [writer] = [pid for pid, command in children(site.server.pid).items() if "writer" in command]
    return writer


def test_readings_are_counted_by_the_writer(site: Site) -> None:
    def rows(result: str) -> float:
        return site.metrics().get(f'weir_ingest_rows_total{{result="{result}"}}', 0)

    before = {result: rows(result) for result in ("stored", "repeated", "refused")}
    at = "2026-03-08T12:00:00Z"
    sent = [{"device": "M-1", "recordedAt": at, "flowRate": n} for n in (1, 2, 2)]
    body = json.dumps([*sent, {"device": "M-9", "recordedAt": at, "flowRate": 1}])
    kind = {"Content_Type": "application/json", KEY_HEADER: site.ingest}
    assert site.ask("/ingest/v1/readings", "POST", body, **kind).status == 200
    fields = {result: rows(result) - before[result] for result in before}
    assert fields == {"stored": 2, "repeated": 1, "refused": 1}
    samples = site.metrics()
    assert samples["weir_commit_seconds_count"] >= 1
    assert samples["weir_store_fetch_seconds_count"] > 0
    assert samples["weir_last_commit_age_seconds"] < 90
    assert samples['weir_check{check="writer"}'] == 1
    assert not [name for name in samples if "M-1" in name or site.key_id in name]


# --- The log -------------------------------------------------------------------------------------


def test_a_line_names_the_principal_and_never_the_credential(tmp_path: Path) -> None:
    site = Site(tmp_path, 1, WEIR_METRICS_TOKEN=METRICS_TOKEN)
    try:
        cookie = site.signed_in()
        wrong = str(uuid4())
        mine = "trace-0123456789"
        headers = {KEY_HEADER: site.key, "X_Request_Id": mine}
        answer = site.ask(f"{PATH_PREFIX}/flow/latest?ids=M-1", **headers)
        assert answer.headers["Request-Id"] == answer.headers["X-Request-Id"] == mine
        site.ask(f"{PATH_PREFIX}/device", Authorization=f"Bearer {site.token}")
        site.ask(f"{PATH_PREFIX}/device", **{KEY_HEADER: wrong})
        site.ask(f"{PATH_PREFIX}/device?key={wrong}&token={site.token}")
        site.ask(f"/{wrong}")
        site.ask("/devices", Cookie=cookie, Host="weir.example")
        site.ask(f"/embed/{site.embed}/standing", Authorization=f"Bearer {site.embed_token}")
        link = urlsplit(site.link)
        assert site.ask(f"{link.path}?{link.query}").status in (200, 503)  # 503: no browser
        site.ask("/ingest/v1/readings", "POST", "[]", **{KEY_HEADER: site.ingest})
        site.metrics()
        forwarded = site.ask("/healthz", X_Forwarded_For="198.51.100.1, 203.0.113.9")
        assert forwarded.status == 200
        last = forwarded.headers["Request-Id"]  # the line is written after the response is sent
        eventually(lambda: any(line["id"] == last for line in site.lines()), "it was noted")
        lines = site.lines()
        body = site.ask("/metrics", Authorization=f"Bearer {METRICS_TOKEN}").body.decode()
    finally:
        code, out, err = stopped(site.server, signal.SIGTERM)
        site.shell.end_all()
    assert code == 0
    by_id = {line["id"]: line for line in lines}
    assert by_id[mine]["key"] == site.key_id
    assert by_id[mine]["route"] == f"{PATH_PREFIX}/flow/latest"
    principals = {line["principal"] for line in lines}
    assert principals == {"key", "token", "session", "embed", "signed address", None}
    assert by_id[last]["address"] == "203.0.113.9"
    entries = [
        p.read_text("utf-8", "replace")
        for p in tmp_path.rglob("*")
        if p.is_file() and (p.name == "requests.log" or p.suffix in (".db", ".pulse"))
    ]
    assert len(entries) > 3
    signature = site.link.rpartition("=")[2]
    cookie_value = cookie.partition("=")[2]
    secrets = (site.key, site.ingest, site.token, site.embed_token, wrong, signature, cookie_value)
    for secret in (*secrets, METRICS_TOKEN):
        assert len(secret) > 10
        assert not any(secret in text for text in (*entries, out, err, body))


# --- Readiness -----------------------------------------------------------------------------------


def test_a_missing_store_is_not_ready_until_it_is_back(tmp_path: Path) -> None:
    site = Site(tmp_path, 1)
    try:
        files = [tmp_path / f"weir.sqlite{part}" for part in ("", "-wal", "-shm")]
        away = [(f, f.with_name(f"away-{f.name}")) for f in files if f.exists()]
        for here, there in away:
            here.rename(there)
        gone = eventually(
            lambda: (a := site.ask("/readyz")).status == 503 and a, "it wasn't ready any more"
        )
        assert json.loads(gone.body)["checks"]["file"]["detail"] == "The store's file is missing."
        assert site.ask("/healthz").status == 200
        for here, there in reversed(away):
            there.rename(here)
        eventually(lambda: site.ask("/readyz").status == 200, "it was ready again")
    finally:
        site.shell.end_all()


# --- Limits --------------------------------------------------------------------------------------


def test_over_the_network_keys_guesses_and_sign_ins_are_limited(tmp_path: Path) -> None:
    """Each worker counts alone, so together they allow that many times as much."""
    site = Site(tmp_path, WEIR_RATE_LIMIT="1")
    try:
        answers = [
            site.ask(f"{PATH_PREFIX}/organizations/mine", **{KEY_HEADER: site.key})
            for _ in range(BURST_S * WORKERS * 2 + 10)
        ]
        statuses = [answer.status for answer in answers]
        assert set(statuses) == {200, 429}
        assert BURST_S <= statuses.count(200) <= (BURST_S + 30) * WORKERS
        refused = next(answer for answer in answers if answer.status == 429)
        assert int(refused.headers["Retry-After"]) >= 1

        def guess(address: str) -> int:
            headers = {KEY_HEADER: str(uuid4()), "X_Forwarded_For": address}
            return site.ask(f"{PATH_PREFIX}/device", **headers).status

        most = int(FAILURES_BURST * WORKERS * 3)
        number = next((n for n in range(most) if guess("203.0.113.7") == 429), most)
        assert FAILURES_BURST <= number < most
        assert guess("203.0.113.8") == 401  # another client of the same proxy

        def sign_in(address: str) -> int:
            form = urlencode({"key": str(uuid4())})
            kind = "application/x-www-form-urlencoded"
            return site.ask(
                "/sign-in", "POST", form,
                Content_Type=kind, Host="weir.example", X_Forwarded_For=address,
            ).status  # fmt: skip

        tried = [sign_in("203.0.113.20") for _ in range(BURST * WORKERS * 2 + 10)]
        assert 429 in tried
        assert tried.index(429) >= BURST
        assert sign_in("203.0.113.21") != 429
    finally:
        site.shell.end_all()
