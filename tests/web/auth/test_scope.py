"""No principal sees data of another: not by warm caches, not by forged requests."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from flask import Flask

from api.client import Client
from api.server import create_service
from api.store.base import Grant, OrganizationChange
from components import session
from components.device.cards import CARDS
from components.device.kpi_cards import KPI_ROWS
from tests.web.auth import wire
from tests.web.auth.conftest import Open, Site
from tests.web.auth.remote import serving
from tests.world import ACME, EVERYTHING, FOREIGN, LONE, METER, NORTH, OLD, OTHER, TWIN, World

COMPONENTS = Path(session.__file__).parent
ROOT = COMPONENTS.parent
ALL_IDS = sorted(EVERYTHING | {FOREIGN})
SPAN = ("2026-03-08T06:00:00Z", "2026-03-08T18:00:00Z")


def ids_in(text: str) -> set[str]:
    return {id for id in ALL_IDS if id in text}


def listed(site: Site) -> set[str]:
    answer = wire.rows(site, {"status": "all"})
    assert answer.status_code == 200
    return ids_in(answer.text)


# --- Warm caches ---------------------------------------------------------------------------------

SCOPES = {
    "all": EVERYTHING,
    "group": NORTH,
    "devices": frozenset({LONE}),
    "foreign": frozenset({FOREIGN}),
    "nothing": frozenset[str](),
}


def test_readers_with_warm_caches_see_their_own_data(
    open_site: Open, world: World, keys: dict[str, str]
) -> None:
    """Through one dashboard, in turn and then concurrently, each twice."""
    site = open_site()
    readers = {name: Site(site.browser.application) for name in SCOPES}
    for name, reader in readers.items():
        assert reader.sign_in(keys[name]).status_code == 303
    expected = {name: listed(reader) for name, reader in readers.items()}
    walls = {name: ids_in(wire.wall(reader).text) for name, reader in readers.items()}
    assert walls == {name: seen - {OLD} for name, seen in expected.items()}
    for name, seen in expected.items():
        assert seen <= world.credentials[name].sees | {FOREIGN}, name
        assert seen >= SCOPES[name] - {FOREIGN} if name != "foreign" else seen == {FOREIGN}

    def again(name: str) -> tuple[str, set[str], set[str], str]:
        own = Site(site.browser.application)
        own.sign_in(keys[name])
        page = wire.page(own, "/devices").text
        return name, listed(own), ids_in(wire.wall(own).text), _organization(page)

    with ThreadPoolExecutor(4) as pool:
        for name, seen, tiles, organization in pool.map(again, list(SCOPES) * 6):
            assert (seen, tiles) == (expected[name], walls[name]), name
            assert organization == ("Org-Other" if name == "foreign" else "Org-Acme"), name


def test_each_reader_sees_their_organization_s_units(open_site: Open, world: World) -> None:
    """At the same addresses of one dashboard, by turns; who names others gets those."""
    keys = [world.new_key(Grant(everything=True), name)[0] for name in (ACME, OTHER)]
    change = OrganizationChange("Org-Other", None, {"units": "metric"})
    world.store.change_organization(OTHER, change)
    try:
        site = open_site()
        readers = [Site(site.browser.application) for _ in keys]
        for reader, key in zip(readers, keys, strict=True):
            reader.sign_in(key)
        for query, units in (("", ["gal", "L"]), ("?units=us", ["gal", "gal"])):
            files = [reader.open(f"/download/devices.csv{query}").text for reader in readers]
            heads = [re.findall(r"flow_now \((\w+)/min\)", file) for file in files]
            assert heads == [[unit] for unit in units]
        pages = [wire.page(reader, "/").text for reader in readers]
        usual = [re.findall(r'"data-default":"(us|metric)"', page) for page in pages]
        assert usual == [["us"], ["metric"]]
    finally:
        world.store.change_organization(OTHER, replace(change, settings={"units": None}))


def _organization(page: str) -> str:
    result = re.search(r'"children":"(Org-\w+)"', page)
    return result.group(1) if result else ""


def test_cache_entries_belong_to_their_principal(open_site: Open, keys: dict[str, str]) -> None:
    """The same query of two readers gives two cache entries."""
    query: list[str] = []

    def ask(client: Client) -> str:
        query.append(client.principal)
        return client.organizations()[0].name

    def application(environ: Any, start: Any) -> Any:
        with flask_app.request_context(environ):
            body = str(session.remembered("the same question", ask)).encode()
        start("200 OK", [("Content-Type", "text/plain")])
        return [body]

    flask_app = Flask(__name__)
    session.install(flask_app)
    site = open_site(application)
    readers = [Site(site.browser.application) for _ in range(2)]
    for reader, name in zip(readers, ("all", "foreign"), strict=True):
        reader.sign_in(keys[name])
    answers = [reader.open("/x", headers={"Accept": "*/*"}).text for reader in readers * 3]
    assert answers == ["Org-Acme", "Org-Other"] * 3
    assert len(query) == len(set(query)) == 2


# Caches of the process without any reply of the service, each checked by hand.
HARMLESS = {
    "components/formatting.py:day_text": "of a date",
    "components/formatting.py:local_date": "of a day's number",
    "components/compare/queries.py:scale": "of the one chart, as long as it is drawn",
    **{
        f"components/device/kpi_cards.py:{name}": "of one question, made for one answer"
        for name in ("access", "meter", "row", "status", "gallons")
    },
    "components/concurrent_queries.py:_pool": "threads",
}
CACHING = ("cache", "lru_cache", "cached_property", "memoize", "cached")
CONTAINERS = ("dict", "list", "set", "OrderedDict", "defaultdict", "WeakKeyDictionary")


def keepers(file: Path) -> Iterator[str]:
    """Decorated functions and empty module globals of a file: possible places of a cache."""
    tree = ast.parse(file.read_text("utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and any(
            _called(decorator) in CACHING for decorator in node.decorator_list
        ):
            yield node.name
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and _is_empty_container(node.value):
            yield ast.unparse(node.targets[0] if isinstance(node, ast.Assign) else node.target)


def _called(node: ast.expr) -> str:
    """The last part of the name of what is called, or decorates."""
    node = node.func if isinstance(node, ast.Call) else node
    node = node.value if isinstance(node, ast.Subscript) else node
    return ast.unparse(node).rpartition(".")[2]


def _is_empty_container(node: ast.expr | None) -> bool:
    if isinstance(node, ast.Dict):
        return not node.keys
    if isinstance(node, ast.List):
        return not node.elts
    return isinstance(node, ast.Call) and not node.args and _called(node) in CONTAINERS


def test_nothing_else_in_the_dashboard_caches_replies() -> None:
    """Any cache besides the session's would need the principal in its key. A new one must be
    checked, and is listed above only if it never has a reply of the service."""
    rooms = [*COMPONENTS.rglob("*.py"), *(ROOT / "pages").rglob("*.py")]
    results = {f"{file.relative_to(ROOT)}:{name}" for file in rooms for name in keepers(file)}
    assert results - set(HARMLESS) == set()


def test_a_cache_would_be_found(tmp_path: Path) -> None:
    file = tmp_path / "page.py"
    file.write_text(
        "import functools\nKEPT = {}\nSEEN: dict[str, str] = dict()\nTABLE = {1: 2}\n"
        "@functools.lru_cache(maxsize=5)\ndef one(): ...\n@cache.memoize(5)\ndef two(): ...\n"
        "def three(): ...\n"
    )
    assert set(keepers(file)) == {"one", "two", "KEPT", "SEEN"}


# --- Forged requests -----------------------------------------------------------------------------


def test_a_forged_request_reveals_nothing_of_a_foreign_device(
    site: Site, keys: dict[str, str]
) -> None:
    site.sign_in(keys["all"])
    own = wire.chart(site, TWIN, *SPAN)
    assert own.status_code == 200
    assert len(own.json["response"]["chart-graph"]["figure"]["data"]) > 0
    unknown = "99999999-9999-4999-8999-999999999999"
    answers = [wire.chart(site, device, *SPAN) for device in (FOREIGN, unknown)]
    foreign, missing = (answer.json["response"] for answer in answers)
    assert "chart-graph" not in foreign
    assert foreign == missing  # not even that it exists
    documents = [site.open(f"/devices/{device}") for device in (TWIN, FOREIGN, unknown)]
    assert [document.status_code for document in documents] == [200, 404, 404]
    texts = [re.sub(r'"end_id":"[^"]+"', "", each.text) for each in documents]  # of each document
    assert texts[1] == texts[2]
    assert wire.page(site, f"/devices/{FOREIGN}").text == wire.page(
        site, f"/devices/{unknown}"
    ).text.replace(unknown, FOREIGN)


@pytest.mark.parametrize("held", [[FOREIGN], [FOREIGN, TWIN], [FOREIGN] * 60])
def test_a_wall_does_not_return_a_foreign_device(
    site: Site, keys: dict[str, str], held: list[str]
) -> None:
    site.sign_in(keys["all"])
    usual = wire.wall(site).json["response"]["fleet-board"]["data"]
    forged = wire.wall(site, {"window": "24h", "held": held})
    assert FOREIGN not in forged.text
    assert forged.json["response"]["fleet-board"]["data"]["count_text"] == usual["count_text"]
    body = wire.wall(site, {"window": "24h", "q": FOREIGN}).json["response"]["fleet-board"]["data"]
    assert body["tiles"] == []  # the searched words are the reader's own


def test_a_searched_or_filtered_list_has_no_foreign_device(
    site: Site, keys: dict[str, str]
) -> None:
    site.sign_in(keys["all"])
    assert METER in _rows_of(wire.rows(site, {"status": "all"}))
    for text in ({"q": FOREIGN}, {"q": OTHER}, {"q": "-", "status": "all"}, {"group": OTHER}):
        assert FOREIGN not in _rows_of(wire.rows(site, text)), text


def _rows_of(answer: Any) -> str:
    """Without the searched words, which the page repeats."""
    return str(answer.json["response"]["devices-grid"]["getRowsResponse"])


@pytest.mark.parametrize("name", ["group", "devices"])
def test_a_device_outside_the_grant_is_hidden_too(
    site: Site, keys: dict[str, str], world: World, name: str
) -> None:
    site.sign_in(keys[name])
    for device in sorted(EVERYTHING - world.credentials[name].sees):
        assert "chart-graph" not in wire.chart(site, device, *SPAN).json["response"], device


_DUE = ["range", "refresh", "steady", "hourly"]


def test_no_kpi_of_a_device_outside_the_grant(open_site: Open, keys: dict[str, str]) -> None:
    """Also right after another principal with access has filled every cache."""
    shown = {"from": SPAN[0], "to": SPAN[1], "due": _DUE}
    sheets: dict[str, Any] = {}
    for name in ("all", "devices"):
        site = open_site()
        site.sign_in(keys[name])
        subject = {"device_id": TWIN, "time_zone": "UTC"}
        state = {"chart-question.data": {}, "chart-subject.data": subject}
        answer = wire.callback(site, ["chart-due-parts.data"], {"chart-due.data": shown}, state)
        assert answer.status_code == 200, answer.text
        sheets[name] = answer.json["response"]["chart-due-parts"]["data"]["nodes"]
    assert "Not found" not in str(sheets["all"])
    bodies = [row.id for row in (*KPI_ROWS, *CARDS)]
    assert all("Not found" in str(sheets["devices"][f"{id}-trouble"]) for id in bodies)
    assert not {*bodies, "device-state", "device-finding-chips"} & set(sheets["devices"])


def test_no_file_of_a_device_outside_the_grant(site: Site, keys: dict[str, str]) -> None:
    path = f"/download/devices/{TWIN}/rows.csv?from={SPAN[0]}&to={SPAN[1]}"
    outside = site.open(path)
    assert outside.status_code == 303
    assert outside.headers["Location"].startswith("/sign-in")
    site.sign_in(keys["devices"])
    refused = site.open(path)
    assert refused.status_code == 404
    assert "time_utc" not in refused.text
    site.sign_in(keys["all"])
    assert site.open(path).text.startswith("serial_number,time_utc,")


def test_a_key_without_devices_gets_a_message(site: Site, keys: dict[str, str]) -> None:
    site.sign_in(keys["nothing"])
    assert "No active device yet, or none that you have access to." in wire.rows(site).text
    assert "Org-Acme" in wire.page(site, "/devices").text


# --- Remote mode ---------------------------------------------------------------------------------


def test_sign_in_checks_the_key_at_the_remote_server(
    open_site: Open, world: World, keys: dict[str, str]
) -> None:
    with serving(create_service(world.store, world.settings)) as url:
        site = open_site(through=Client.remote(url))
        assert site.sign_in("11111111-2222-4333-8444-555555555555").status_code == 401
        assert site.sign_in(f"key_abc.{keys['all']}").status_code == 403
        assert site.sign_in(keys["foreign"]).status_code == 303
        assert listed(site) == {FOREIGN}
        assert OTHER.title() in wire.page(site, "/devices").text
