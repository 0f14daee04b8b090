"""Access to the embeds' paths, over a real socket."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from werkzeug.test import Client

import app
from api.auth import issue_token
from api.auth.embeds import issue_embed_token
from api.catalog import EMBED_CONTROLS
from api.embeds import Fixed, Rolling
from api.settings import Settings
from api.store.open import open_store, open_web_store
from api.timez import DAY_MS, now_ms
from tests.dashboards import CLOCKS, LIVE, ORGANIZATION, TRICKY
from tests.tables import cases
from tests.web.embed.frames import Embeds
from tests.world import SECRET
from web.embed.middleware import CROWDED

PORTAL = "https://portal.example"
UPDATE = "_dash-update-component"


@pytest.fixture
def http(embeds: Embeds) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=embeds.url) as client:
        yield client


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def ask(http: httpx.Client, path: str, view: str, wishes: Any, token: str) -> httpx.Response:
    """A request to the callback of the chart or the wall, with the given options."""
    listed = http.get(f"{path}/_dash-dependencies").json()
    requests = f"{view}-question"
    result = next(each for each in listed if [i["id"] for i in each["inputs"]] == [requests])
    names = result["output"]
    parts = names.strip(".").split("...") if names.startswith("..") else [names]
    outputs = [dict(zip(("id", "property"), part.rsplit(".", 1), strict=True)) for part in parts]
    body = {
        "output": names,
        "outputs": outputs if names.startswith("..") else outputs[0],
        "changedPropIds": [f"{requests}.data"],
        "inputs": [{"id": requests, "property": "data", "value": wishes}],
        "state": [],
    }
    return http.post(f"{path}/{UPDATE}", json=body, headers=bearer(token))


# --- The shell -----------------------------------------------------------------------------------


def test_the_shell_names_allowed_sites_and_has_no_data(embeds: Embeds, http: httpx.Client) -> None:
    embed = embeds.make("chart", LIVE, origins=(PORTAL,), title="A secret title", theme="dark")
    answer = http.get(embed.path)
    policy = answer.headers["Content-Security-Policy"]
    assert answer.status_code == 200
    assert policy.endswith(f"frame-ancestors 'self' {PORTAL}")
    assert "'unsafe-eval'" not in policy
    assert answer.headers["Referrer-Policy"] == "no-referrer"
    assert answer.headers["Cache-Control"] == "no-cache"
    assert "X-Frame-Options" not in answer.headers
    assert "Set-Cookie" not in answer.headers
    for secret in (embeds.fleet.ids[LIVE], "A secret title", "Tenant", LIVE, ORGANIZATION):
        assert secret not in answer.text
    assert 'data-theme="dark"' in answer.text


def test_the_layout_is_the_same_for_every_embed_and_has_no_data(
    embeds: Embeds, http: httpx.Client
) -> None:
    one = embeds.make("chart", LIVE, title="A secret title")
    other = embeds.make("wall", LIVE, TRICKY)
    for part in ("_dash-layout", "_dash-dependencies"):
        texts = {http.get(f"{embed.path}/{part}").text for embed in (one, other)}
        assert len(texts) == 1
        assert embeds.fleet.ids[LIVE] not in texts.pop()


def test_a_cached_shell_is_not_sent_again(embeds: Embeds, http: httpx.Client) -> None:
    path = embeds.make("chart", LIVE).path
    tag = http.get(path).headers["ETag"]
    assert http.get(path, headers={"If-None-Match": tag}).status_code == 304


def test_scripts_and_styles_of_the_shell_are_cached_for_a_year(
    embeds: Embeds, http: httpx.Client
) -> None:
    text = http.get(embeds.make("chart", LIVE).path).text
    addresses = re.findall(r'(?:src|href)="(/[^"]+)"', text)
    assert len(addresses) >= 8
    assert not [a for a in addresses if "ag_grid" in a or "mantine" in a or "dash_table" in a]
    for address in addresses:
        answer = http.get(address)
        assert (answer.status_code, address) == (200, address)
        assert "immutable" in answer.headers["Cache-Control"], address


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/embed/emb_nobodys", 404),
        ("GET", "/embed/", 404),
        ("GET", "/embed/../../etc", 404),
        ("GET", "/embed/<script>", 404),
        ("GET", f"/embed/{'x' * 65}", 404),
        ("GET", "/embed/emb_nobodys/_reload-hash", 404),
        ("POST", "/embed/emb_nobodys/_dash-layout", 405),
        ("GET", f"/embed/emb_nobodys/{UPDATE}", 405),
        ("GET", "/embed/assets/none.js", 404),
    ],
)
def test_other_paths_may_not_be_framed(
    http: httpx.Client, method: str, path: str, status: int
) -> None:
    answer = http.request(method, path)
    assert answer.status_code == status
    assert "Set-Cookie" not in answer.headers
    if "html" in answer.headers.get("Content-Type", ""):
        assert "frame-ancestors 'none'" in answer.headers["Content-Security-Policy"]
        assert "nobodys" not in answer.text
        assert "<script>" not in answer.text


# --- Tokens --------------------------------------------------------------------------------------


def _tokens(embeds: Embeds, good: str) -> dict[str, tuple[str, str | None]]:
    """By its defect: the sent credential, and the returned reason."""
    head, claims, signature = good.split(".")
    flipped = claims[:-2] + ("A" if claims[-2] != "A" else "B") + claims[-1]
    return {
        "not a token": ("x", None),
        "a changed claim": (f"{head}.{flipped}.{signature}", None),
        "no signature": (f"{head}.{claims}.", None),
        "a key": (embeds.fleet.key, None),
        "a bearer of the interface": (issue_token(embeds.settings, ORGANIZATION, None, 60), None),
    }


@pytest.mark.parametrize(
    "what",
    ["not a token", "a changed claim", "no signature", "a key", "a bearer of the interface"],
)
def test_only_an_embeds_token_gives_data(embeds: Embeds, http: httpx.Client, what: str) -> None:
    embed = embeds.make("chart", LIVE)
    token, reason = _tokens(embeds, embeds.token(embed))[what]
    for answer in (
        http.get(f"{embed.path}/standing", headers=bearer(token)),
        ask(http, embed.path, "chart", {"width_px": 600}, token),
    ):
        assert answer.status_code == 401
        assert answer.json()["reason"] == reason
        assert "WWW-Authenticate" in answer.headers
        assert answer.headers["Cache-Control"] == "no-store"


def test_a_valid_token_is_confirmed(embeds: Embeds, http: httpx.Client) -> None:
    embed = embeds.make("chart", LIVE)
    for token in (embeds.token(embed), embeds.token(embed, 10)):
        assert http.get(f"{embed.path}/standing", headers=bearer(token)).status_code == 204


def test_a_key_header_or_a_cookie_gives_no_access(embeds: Embeds, http: httpx.Client) -> None:
    embed = embeds.make("chart", LIVE)
    for headers in ({}, {"service-api-key": embeds.fleet.key}, {"Cookie": "session=x"}):
        answer = http.get(f"{embed.path}/standing", headers=headers)
        assert (answer.status_code, answer.json()["reason"]) == (401, "no-token")


def test_an_expired_token_gets_its_reason(embeds: Embeds, http: httpx.Client) -> None:
    embed = embeds.make("chart", LIVE)
    stored = embeds.web.embed(embed.id)
    assert stored is not None
    old, _ = issue_embed_token(embeds.settings, stored, now_ms() - 60_000, 30)
    answer = http.get(f"{embed.path}/standing", headers=bearer(old))
    assert (answer.status_code, answer.json()["reason"]) == (401, "token-expired")


def test_another_embeds_token_does_not_open_this_frame(embeds: Embeds, http: httpx.Client) -> None:
    """Otherwise its data would be on a site that only this embed allows."""
    narrow, wide = embeds.make("chart", LIVE), embeds.make("chart", TRICKY, origins=(PORTAL,))
    answer = http.get(f"{wide.path}/standing", headers=bearer(embeds.token(narrow)))
    assert (answer.status_code, answer.json()["reason"]) == (401, "other-embed")


def test_an_unavailable_service_is_not_a_refusal(embeds: Embeds, http: httpx.Client) -> None:
    embed = embeds.make("chart", LIVE)
    token = embeds.token(embed)
    embeds.broken.set()
    try:
        answer = http.get(f"{embed.path}/standing", headers=bearer(token))
    finally:
        embeds.broken.clear()
    assert answer.status_code == 503
    assert "on fire" in answer.json()["detail"]


def test_a_limited_client_gets_retry_after_and_may_check_its_token(
    embeds: Embeds, http: httpx.Client
) -> None:
    embed = embeds.make("chart", LIVE)
    token = embeds.token(embed)
    embeds.crowded.set()
    try:
        answer = ask(http, embed.path, "chart", {"width_px": 600}, token)
        standing = http.get(f"{embed.path}/standing", headers=bearer(token))
    finally:
        embeds.crowded.clear()
    assert (answer.status_code, answer.headers["Retry-After"]) == (429, "1")
    assert answer.json() == {"detail": CROWDED, "reason": "too-often"}
    assert standing.status_code == 204
    assert ask(http, embed.path, "chart", {"width_px": 600}, token).status_code == 200


# --- Options -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def every(embeds: Embeds) -> dict[str, tuple[str, str]]:
    """By view: the path and the token of an embed whose viewers may change everything."""
    made = {view: embeds.make(view, LIVE, controls=EMBED_CONTROLS) for view in ("chart", "wall")}
    return {view: (embed.path, embeds.token(embed)) for view, embed in made.items()}


def _figure(answer: httpx.Response) -> dict[str, Any]:
    return answer.json()["response"]["chart-graph"]["figure"]


def test_a_forged_request_gets_the_embeds_own_device_and_window(
    embeds: Embeds, http: httpx.Client
) -> None:
    end = embeds.fleet.started_ms - DAY_MS
    window = Fixed(end - DAY_MS, end)
    embed = embeds.make("chart", LIVE, metric="flow_rate", window=window, theme="light")
    token = embeds.token(embed)
    plain = ask(http, embed.path, "chart", {"width_px": 600}, token)
    foreign = {
        "device": embeds.fleet.ids[CLOCKS],
        "device_id": embeds.fleet.ids[CLOCKS],
        "devices": [embeds.fleet.ids[CLOCKS]],
        "view": "wall",
        "metric": "quality",
        "range": "1y",
        "from": "2026-03-01T00:00:00Z",
        "to": "2026-03-10T00:00:00Z",
        "zone": "Asia/Tokyo",
        "units": "metric",
        "theme": "dark",
        "width_px": 600,
        "settled": True,
    }
    hand_made = ask(http, embed.path, "chart", foreign, token)
    assert (plain.status_code, hand_made.status_code) == (200, 200)
    assert _figure(hand_made) == _figure(plain)
    assert len(_figure(plain)["data"][2]["x"]) > 300


@pytest.mark.parametrize(
    ("view", "other_view"), [("chart", "wall"), ("wall", "chart"), ("tile", "chart")]
)
def test_an_embed_shows_no_other_view(
    embeds: Embeds, http: httpx.Client, view: str, other_view: str
) -> None:
    embed = embeds.make(view, LIVE)
    answer = ask(http, embed.path, other_view, {"width_px": 600}, embeds.token(embed))
    assert "This embed shows another view." in answer.text
    assert "Tenant" not in answer.text
    assert "chart-graph" not in answer.json()["response"]


def test_a_wall_always_has_its_own_devices_in_their_order(
    embeds: Embeds, http: httpx.Client
) -> None:
    embed = embeds.make("wall", TRICKY, LIVE, window=Rolling(3600))
    wishes = {"held": [embeds.fleet.ids[CLOCKS]], "q": "tower", "window": "30d"}
    answer = ask(http, embed.path, "wall", wishes, embeds.token(embed))
    board = answer.json()["response"]["wall-board"]["data"]
    assert [tile["serial"] for tile in board["tiles"]] == [TRICKY, LIVE]
    assert all(tile["href"] == "" for tile in board["tiles"])
    assert "Last 1 h" in board["line"]


@pytest.mark.parametrize("view", ["chart", "wall"])
@pytest.mark.parametrize(
    "question",
    [None, [], "x", 7, *({name: odd} for name in ("range", "window", "zone", "units", "theme",
     "from", "drawn", "width_px", "other_view") for odd in ([], {}, 7, "\x00", None))],
    ids=repr,
)  # fmt: skip
def test_a_meaningless_request_gets_the_default_reply(
    embeds: Embeds, http: httpx.Client, every: dict[str, tuple[str, str]], view: str, question: Any
) -> None:
    path, token = every[view]
    answer = ask(http, path, view, question, token)
    assert answer.status_code == 200, answer.text
    assert "can’t" not in answer.text


def test_an_oversized_request_is_refused(embeds: Embeds, http: httpx.Client) -> None:
    embed = embeds.make("chart", LIVE)
    answer = ask(http, embed.path, "chart", {"q": "x" * 100_000}, embeds.token(embed))
    assert answer.status_code == 413


# --- Frames without an origin --------------------------------------------------------------------


@pytest.mark.parametrize("name", ["_dash-layout", "_dash-dependencies", UPDATE, "standing"])
@pytest.mark.parametrize(("origin", "allowed"), [("null", "null"), (PORTAL, None)])
def test_only_a_frame_without_an_origin_may_request_cross_origin(
    embeds: Embeds, http: httpx.Client, name: str, origin: str, allowed: str | None
) -> None:
    path = f"{embeds.make('chart', LIVE, origins=(PORTAL,)).path}/{name}"
    asking = {
        "Origin": origin,
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization,content-type",
    }
    preflight = http.options(path, headers=asking)
    assert preflight.status_code == 204
    refused = http.request("POST" if name == UPDATE else "GET", path, headers={"Origin": origin})
    for answer in (preflight, refused):
        assert answer.headers.get("Access-Control-Allow-Origin") == allowed
        assert "Access-Control-Allow-Credentials" not in answer.headers
        assert "Origin" in answer.headers["Vary"]
    if allowed:
        assert "Authorization" in preflight.headers["Access-Control-Allow-Headers"]


# --- The whole site ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Client:
    folder = tmp_path_factory.mktemp("site")
    database = f"sqlite:///{folder / 'weir.sqlite'}"
    for store in (open_store(database), open_web_store(database)):
        store.upgrade()
    fields = {"WEIR_DATABASE": database, "WEIR_SECRET_KEY": SECRET, "WEIR_INSTANCE": str(folder)}
    return Client(app.site(Settings.from_env(fields)))


@cases("path", ["/sign-in", "/embed", "/embed/emb_x", "/embed/emb_x/y/z"])
def test_no_other_page_of_the_site_may_be_framed(site: Client, path: str) -> None:
    answer = site.get(path)
    assert "frame-ancestors 'none'" in answer.headers["Content-Security-Policy"]


def test_the_site_serves_embeds_and_dashboard(site: Client) -> None:
    layout = site.get("/embed/emb_x/_dash-layout")
    assert (layout.status_code, b"embed-view" in layout.data) == (200, True)
    assert site.get("/embeds/v1/embeds").status_code == 401
    assert site.get("/embedded").status_code == 303  # the dashboard's, without a session
    no_token = site.post(f"/embed/emb_x/{UPDATE}", json={})
    assert (no_token.status_code, no_token.json) == (
        401,
        {"detail": "This needs an embed's token.", "reason": "no-token"},
    )
