"""The embeds page: its states, its requests, and its messages."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from dash import no_update

from api.client import EmbedDefinition
from api.errors import Forbidden, WeirError
from components.session import READER, EntryMethod, Reader
from tests.dashboards import CLOCKS, LIVE, TRICKY, Fleet
from tests.embeds.site import Managed, managing
from tests.pages.elements import links, of_kind, text

TEXTS = {
    "title": None, "first": "", "last": "", "zone": "", "origins": "", "ends_on": "",
    "view": "chart", "metric": "flow_rate", "window": "86400", "units": "us", "theme": "system",
    "ends": "",
}  # fmt: skip


def the_page() -> Any:
    """The page's module, which needs an app to register with."""
    return importlib.import_module("pages.embeds")


@pytest.fixture(scope="module")
def managed(fleet: Fleet, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Managed]:
    with managing(fleet, tmp_path_factory.mktemp("managed")) as running:
        yield running


@pytest.fixture
def here(managed: Managed) -> Iterator[Managed]:
    who = Reader(managed.client, EntryMethod.DEMO, [])
    with managed.app.server.test_request_context(environ_base={READER: who}):
        yield managed


def make(managed: Managed, *serials: str, **texts: Any) -> dict[str, Any]:
    devices = [managed.fleet.ids[serial] for serial in serials]
    lists = {"devices": devices} | {each: texts.pop(each, []) for each in ("controls", "notes")}
    return the_page().make(1, TEXTS | texts, lists)


def test_the_new_embed_has_the_forms_values(here: Managed) -> None:
    answer = make(
        here,
        LIVE,
        title="Lobby",
        origins="https://a.example",
        controls=["range"],
        notes=["1"],
        compare="week",
    )
    assert set(answer["problems"].values()) == {""}
    newest = here.client.embeds()[0]
    assert answer["go"] == f"/embeds?embed={newest.id}"
    assert newest.definition == EmbedDefinition(
        "chart",
        (here.fleet.ids[LIVE],),
        "flow_rate",
        ("https://a.example",),
        controls=("range",),
        title="Lobby",
        notes=True,
        compare="week",
    )


@pytest.mark.parametrize(
    ("texts", "field", "words"),
    [
        ({"origins": "http://a.example"}, "origins", "http is for localhost alone"),
        ({"origins": "https://a.example/wiki"}, "origins", "is not an origin"),
        ({"title": "x" * 200}, "title", "It has 200 characters"),
        ({"zone": "Mars"}, "zone", "Unknown time zone"),
        ({"window": "fixed", "first": "x"}, "window", "From: give a date"),
        ({"theme": "pink"}, "theme", "It must be one of"),
    ],
)
def test_a_problem_is_shown_at_its_field(
    here: Managed, texts: dict[str, str], field: str, words: str
) -> None:
    before = len(here.client.embeds())
    answer = make(here, LIVE, **texts)
    assert answer["go"] is no_update
    assert {name for name, given in answer["problems"].items() if given} == {field}
    assert words in answer["problems"][field]
    assert len(here.client.embeds()) == before


def test_a_device_outside_the_scope_is_refused_at_the_field(here: Managed) -> None:
    lists = {"devices": ["00000000-0000-4000-8000-00000000000f"], "controls": [], "notes": []}
    answer = the_page().make(1, TEXTS, lists)
    assert "not found, or you don't have access" in answer["problems"]["devices"]


def test_one_embed_is_shown_with_its_preview_and_snippet(here: Managed) -> None:
    embed = here.client.create_embed(
        EmbedDefinition("tile", (here.fleet.ids[LIVE],), title="T <b>")
    )
    shown = the_page().layout(embed=embed.id)
    (frame,) = of_kind(shown, "Iframe")
    (snippet,) = of_kind(shown, "Textarea")
    token = frame.src.partition("#t=")[2]  # pyright: ignore[reportAttributeAccessIssue]
    assert frame.src == f"/embed/{embed.id}#t={token}"  # pyright: ignore[reportAttributeAccessIssue]
    assert f'src="http://localhost/embed/{embed.id}#t=' in snippet.value  # pyright: ignore[reportAttributeAccessIssue]
    assert "T &lt;b&gt;" in snippet.value  # pyright: ignore[reportAttributeAccessIssue]
    assert "● Active" in text(shown)
    assert "New embed" in links(shown)


def test_a_revoked_embed_has_a_message_and_no_preview(here: Managed) -> None:
    embed = here.client.create_embed(EmbedDefinition("chart", (here.fleet.ids[LIVE],)))
    panel, rows, result = the_page().revoke(1, embed.id)
    assert result is no_update
    assert "■ Revoked" in text(panel)
    assert of_kind(panel, "Iframe") == of_kind(panel, "Textarea") == []
    assert "■ Revoked" in text(rows)
    assert here.client.embed(embed.id).state == "revoked"


def test_nothing_is_revoked_without_a_click(here: Managed) -> None:
    embed = here.client.create_embed(EmbedDefinition("chart", (here.fleet.ids[LIVE],)))
    assert the_page().revoke(None, embed.id) == (no_update, no_update, no_update)
    assert here.client.embed(embed.id).state == "active"


def test_an_unknown_embed_is_not_found(here: Managed) -> None:
    assert "Embed not found" in text(the_page().layout(embed="emb_nothing"))


def test_a_name_is_never_markup(here: Managed) -> None:
    embed = here.client.create_embed(EmbedDefinition("chart", (here.fleet.ids[TRICKY],)))
    assert "<img src=x onerror=alert(1)> & Sons" in text(the_page().layout(embed=embed.id))


def test_a_reader_without_permission_has_a_message(
    here: Managed, monkeypatch: pytest.MonkeyPatch
) -> None:
    embed = here.client.create_embed(EmbedDefinition("chart", (here.fleet.ids[LIVE],)))

    def refuse(*_: Any) -> None:
        raise Forbidden("The token's scope lacks weir:embed.")

    monkeypatch.setattr(type(here.client), "mint_embed_token", refuse)
    shown = the_page().layout(embed=embed.id)
    assert "lacks weir:embed" in text(shown)
    assert of_kind(shown, "Iframe") == []


def test_a_server_without_embeds_has_a_message(here: Managed) -> None:
    here.bare.set()
    try:
        assert "No embeds here" in text(the_page().layout())
        assert make(here, LIVE)["problem"] == the_page().NOT_OFFERED
    finally:
        here.bare.clear()


def test_a_remote_server_shows_its_own_embeds(
    here: Managed, monkeypatch: pytest.MonkeyPatch
) -> None:
    embed = here.client.create_embed(EmbedDefinition("chart", (here.fleet.ids[LIVE],)))
    monkeypatch.setattr(type(here.client), "site", "https://weir.example")
    shown = the_page().layout(embed=embed.id)
    assert of_kind(shown, "Iframe") == []
    assert "This embed opens on https://weir.example" in text(shown)
    (snippet,) = of_kind(shown, "Textarea")
    assert f'src="https://weir.example/embed/{embed.id}#t=' in snippet.value  # pyright: ignore[reportAttributeAccessIssue]


def test_the_snippet_has_the_public_address(here: Managed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(here.app.server.extensions, "weir-site", "https://weir.example")
    embed = here.client.create_embed(EmbedDefinition("tile", (here.fleet.ids[LIVE],)))
    (snippet,) = of_kind(the_page().layout(embed=embed.id), "Textarea")
    assert f'src="https://weir.example/embed/{embed.id}' in snippet.value  # pyright: ignore[reportAttributeAccessIssue]


def test_behind_a_proxy_the_snippet_has_its_scheme(managed: Managed) -> None:
    embed = managed.client.create_embed(EmbedDefinition("chart", (managed.fleet.ids[LIVE],)))
    who = Reader(managed.client, EntryMethod.DEMO, [])
    with managed.app.server.test_request_context(
        environ_base={READER: who},
        headers={"Host": "weir.example", "X-Forwarded-Proto": "https, http"},
    ):
        (snippet,) = of_kind(the_page().layout(embed=embed.id), "Textarea")
        assert f'src="https://weir.example/embed/{embed.id}' in snippet.value  # pyright: ignore[reportAttributeAccessIssue]


def test_a_failing_service_has_a_message(here: Managed) -> None:
    here.broken.set()
    try:
        shown = the_page().layout()
        assert "The embeds can’t be loaded" in text(shown)
        assert "Try again" in links(shown)
    finally:
        here.broken.clear()


def test_the_form_starts_with_the_view(here: Managed) -> None:
    shown = the_page().layout(
        view="chart", device=here.fleet.ids[CLOCKS], metric="quality", range="7d"
    )
    values = {each.id: each.value for kind in ("RadioItems", "Checklist")
              for each in of_kind(shown, kind)}  # fmt: skip  # pyright: ignore[reportAttributeAccessIssue]
    assert values["embed-metric"] == "quality"
    assert values["embed-window"] == "604800"
    assert values["embed-devices"] == [here.fleet.ids[CLOCKS]]


def test_a_search_offers_its_devices(here: Managed) -> None:
    options, chosen, note = the_page().find("zone 01", [here.fleet.ids[LIVE]], "chart")
    assert chosen == [here.fleet.ids[LIVE]]
    assert options[0]["label"].startswith("Tenant 12 main")
    assert all("Zone 01" in each["label"] for each in options[1:])
    assert note == ""
    assert the_page().find("xyzzy", [], "chart")[2] == "No other device matches."
    assert "more match" in the_page().find("zone", [], "wall")[2]


def test_choices_show_their_fields(here: Managed) -> None:
    assert the_page().for_choices("fixed", "on") == (False, False)
    assert the_page().for_choices("86400", "") == (True, True)
    options, value, no_metric, no_comparison = the_page().for_view("wall", "fixed")
    assert (value, no_metric, no_comparison) == ("86400", True, True)
    assert "fixed" not in [each["value"] for each in options]


def test_the_page_may_frame_this_site_alone(managed: Managed) -> None:
    with httpx.Client(base_url=managed.url) as http:
        answer = http.get("/embeds")
        assert answer.status_code == 200
        policy = answer.headers["Content-Security-Policy"]
        assert "frame-src 'self'" in policy
        assert "frame-ancestors 'none'" in policy
        crossing = http.post(
            "/_dash-update-component", json={}, headers={"Origin": "https://evil.example"}
        )
        assert crossing.status_code == 403


def test_an_error_of_the_service_is_shown(here: Managed, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> None:
        raise WeirError

    monkeypatch.setattr(type(here.client), "revoke_embed", fail)
    assert the_page().revoke(1, "emb_x")[2] == "Something went wrong."
