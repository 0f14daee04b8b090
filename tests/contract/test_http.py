"""The service's use of HTTP: problems, methods, paths, validators, caching."""

from __future__ import annotations

import re
from typing import Any

import orjson

from api.catalog import COLUMNS_TYPE, FLOW_RATE, KEY_HEADER, METRICS, QUALITY, RESOLUTION_BY_NAME
from api.routes import ROUTES, wanted_columns
from tests.contract.test_requests import ADAPTIVE, DATAPOINTS, NEEDED
from tests.tables import cases
from tests.world import METER, World

ID = re.compile(r"[0-9a-f]{16}")
DATA = [path for path in NEEDED if path not in ("/version", "/api-json")]
PUBLIC = ["/version", "/api-json"]

# --- Problems ------------------------------------------------------------------------------------

PROBLEMS: dict[
    str, tuple[str, str, str, Any, int, str]
] = {  # method, path, by, query → status, code
    "bad parameters": ("GET", DATAPOINTS, "all", {"limit": "0"}, 400, "bad-request"),
    "no credential": ("GET", DATAPOINTS, "nobody", {}, 401, "unauthorized"),
    "unknown device": ("GET", "/flow/datapoints/x", "all", NEEDED[DATAPOINTS], 404, "not-found"),
    "unknown path": ("GET", "/flow", "all", {}, 404, "not-found"),
    "unknown path, no credential": ("GET", "/flow", "nobody", {}, 404, "not-found"),
    "another method": ("POST", DATAPOINTS, "all", {}, 405, "method-not-allowed"),
    "another method, no credential": ("DELETE", "/device", "nobody", {}, 405, "method-not-allowed"),
}


@cases(("method", "path", "by", "query", "status", "code"), PROBLEMS.values())
def test_every_problem_has_one_shape(
    world: World, method: str, path: str, by: str, query: Any, status: int, code: str
) -> None:
    headers = dict(world.credentials[by].headers)
    answer = world.client.open(
        f"/management/v1{path}", method=method, query_string=query, headers=headers
    )
    assert answer.status_code == status
    assert answer.content_type == "application/problem+json"
    assert answer.headers["Cache-Control"] == "no-store"
    problem = orjson.loads(answer.data)
    members = ["type", "title", "status", "detail", "instance"]
    assert list(problem) == (members if status != 400 else [*members, "errors"])
    assert problem["type"] == f"urn:weir:problem:{code}"
    assert problem["status"] == status
    assert ID.fullmatch(problem["instance"])
    assert problem["instance"] == answer.headers["Request-Id"]


@cases(
    ("accept", "status"),
    [
        ("", 200),
        ("*/*", 200),
        ("application/json", 200),
        ("APPLICATION/JSON; charset=utf-8", 200),
        ("application/*;q=0.2", 200),
        ("text/csv, application/json;q=0.1", 200),
        ("text/html, image/gif, *; q=.2, */*; q=.2", 200),
        ("application/problem+json", 200),
        ("nonsense", 200),
        ("text/csv", 406),
        ("text/csv, text/html;q=0.5", 406),
        ("application/json;q=0", 406),
        ("application/xml", 406),
    ],
)
@cases("path", ["/device", "/version"])
def test_an_accept_header_that_excludes_json_is_refused(
    world: World, accept: str, status: int, path: str
) -> None:
    answer = world.get(path, Accept=accept)
    assert answer.status_code == status
    if status == 406:
        assert answer.json["type"] == "urn:weir:problem:not-acceptable"
        assert world.get("/device", by="nobody", Accept=accept).status_code == 401


DOUBTFUL_PATHS = ["//management/v1/version", "///healthz", "/management//v1/version",
                  "/management/v1/version/", "/management/v1//version"]  # fmt: skip


@cases("path", DOUBTFUL_PATHS)
def test_slashes_are_neither_merged_nor_redirected(world: World, path: str) -> None:
    environ = {"PATH_INFO": path}
    answer = world.client.get("/management/v1/version", environ_overrides=environ)
    assert (answer.status_code, answer.content_type) == (404, "application/problem+json")


def test_a_problem_never_echoes_a_credential(world: World) -> None:
    secret = "0d9f6a52-63a1-4f6c-9b0e-5f6f3b1c2d3e"
    for value in (secret, f"key_1.{secret}", "x" + secret):
        answer = world.client.get("/management/v1/device", headers={KEY_HEADER: value})
        assert answer.status_code in (401, 403)
        assert secret.encode() not in answer.data
    answer = world.client.get(
        "/management/v1/device", headers={"Authorization": f"Bearer {secret}"}
    )
    assert secret not in answer.text + str(answer.headers)


def test_credential_before_parameters_before_device(world: World) -> None:
    bad = {"limit": "0"}
    steps = [
        ("nobody", "no-such", bad, 401),
        ("all", "no-such", bad, 400),
        ("all", "no-such", NEEDED[DATAPOINTS], 404),
    ]
    for by, id, query, status in steps:
        assert world.get(f"/flow/datapoints/{id}", query, by=by).status_code == status


def test_every_request_has_an_id_of_ours(world: World) -> None:
    answers = [
        world.get("/version", X_Request_Id="mine", Request_Id="mine").headers["Request-Id"]
        for _ in range(2)
    ]
    assert len(set(answers)) == 2
    assert all(ID.fullmatch(answer) for answer in answers)


# --- Methods and paths ---------------------------------------------------------------------------


@cases("path", NEEDED)
def test_head_is_get_without_a_body(world: World, path: str) -> None:
    headers = dict(world.credentials["all"].headers)
    sent = {"query_string": NEEDED[path] | {"to": "2026-03-09"} if "flow" in path else {}}
    got = world.client.get(f"/management/v1{path}", headers=headers, **sent)
    head = world.client.head(f"/management/v1{path}", headers=headers, **sent)
    assert (head.status_code, head.data) == (200, b"")
    for name in ("Content-Type", "Content-Length", "ETag", "Vary", "Cache-Control"):
        assert head.headers[name] == got.headers[name]


@cases("path", NEEDED)
def test_options_needs_no_credential_and_lists_the_methods(world: World, path: str) -> None:
    answer = world.client.options(f"/management/v1{path}")
    assert answer.status_code == 200
    assert sorted(answer.headers["Allow"].split(", ")) == ["GET", "HEAD", "OPTIONS"]


@cases("method", ["POST", "PUT", "PATCH", "DELETE", "TRACE", "BREW"])
@cases("path", NEEDED)
def test_other_methods_are_refused(world: World, path: str, method: str) -> None:
    answer = world.client.open(f"/management/v1{path}", method=method)
    assert answer.status_code == 405
    assert sorted(answer.headers["Allow"].split(", ")) == ["GET", "HEAD", "OPTIONS"]


@cases(
    "path",
    [
        "/", "/management", "/management/v1", "/management/v1/", "/management/v1/version/",
        "/management/v1//version", "//management/v1/version", "/management/v1/device/",
        "/management/v1/Device", "/management/v2/version", "/management/v1/flow/datapoints",
        "/management/v1/flow/datapoints/", "/management/v1/flow/latest/x",
        "/management/v1/version/../version", "/static/x", "/management/v1/versio%6e%00",
    ],
)  # fmt: skip
def test_no_path_is_corrected_or_redirected(world: World, path: str) -> None:
    assert world.client.get(path).status_code == 404


def test_health_needs_nothing(world: World) -> None:
    answer = world.client.get("/healthz")
    assert (answer.status_code, answer.text) == (200, "ok\n")


# --- Caching -------------------------------------------------------------------------------------


@cases("path", DATA)
def test_data_is_private_and_always_revalidated(world: World, path: str) -> None:
    answer = world.get(path, NEEDED[path])
    assert answer.headers["Cache-Control"] == "private, no-cache"
    assert answer.headers["Vary"] == "service-api-key, Authorization, Accept-Encoding"


@cases("path", PUBLIC)
def test_version_and_document_may_be_cached_by_anyone(world: World, path: str) -> None:
    assert world.get(path).headers["Cache-Control"] == "public, max-age=300"


@cases("path", [*DATA, *PUBLIC])
def test_an_unchanged_response_is_304(world: World, path: str) -> None:
    query = NEEDED[path] | ({"to": "2026-03-09"} if "flow" in path else {})
    first = world.get(path, query)
    etag = first.headers["ETag"]
    assert re.fullmatch(r'W/"[0-9a-f]{32}"', etag)
    for validators in (etag, etag.removeprefix("W/"), f'"x", {etag}, W/"y"', "*", f" {etag} "):
        again = world.get(path, query, If_None_Match=validators)
        assert (again.status_code, again.data) == (304, b"")
        for name in ("ETag", "Vary", "Cache-Control"):
            assert again.headers[name] == first.headers[name]
    for validators in ('"x"', etag[:-2] + '"', etag.strip('W/"'), ""):
        assert world.get(path, query, If_None_Match=validators).status_code == 200


def test_a_validator_is_the_principal_s_own(world: World) -> None:
    query = NEEDED[DATAPOINTS]
    seen = {by: world.get(DATAPOINTS, query, by=by) for by in ("all", "group", "token")}
    assert len({answer.data for answer in seen.values()}) == 1
    assert len({answer.headers["ETag"] for answer in seen.values()}) == 3
    etag = seen["all"].headers["ETag"]
    assert world.get(DATAPOINTS, query, by="group", If_None_Match=etag).status_code == 200


@cases(
    ("by", "query", "status"),
    [("nobody", NEEDED[ADAPTIVE], 401), ("all", {}, 400), ("devices", NEEDED[ADAPTIVE], 404)],
)
def test_a_validator_gives_no_access(world: World, by: str, query: Any, status: int) -> None:
    assert world.get(ADAPTIVE, query, by=by, If_None_Match="*").status_code == status


@cases("path", [*DATA, *PUBLIC])
def test_every_response_is_safe_to_open(world: World, path: str) -> None:
    for query in (NEEDED[path], {"bad": "1"}):
        headers = world.get(path, query).headers
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
        assert headers["Content-Security-Policy"] == "default-src 'none'; frame-ancestors 'none'"
        assert "Access-Control-Allow-Origin" not in headers


# --- The columns of our own charts ---------------------------------------------------------------

COLUMNAR = [
    (DATAPOINTS, {"resolution": name, "timezone": "Asia/Kolkata"})
    for name in ("raw", "1min", "1hour", "day", "month", "total")
] + [(ADAPTIVE, NEEDED[ADAPTIVE]), (ADAPTIVE, NEEDED[ADAPTIVE] | {"maxDatapoints": "1"})]


@cases(("path", "query"), COLUMNAR)
def test_columns_equal_rows(world: World, path: str, query: dict[str, str]) -> None:
    rows = world.json(path, {**query, "timezone": "UTC"})
    answer = world.get(path, {**query, "timezone": "UTC"}, Accept=COLUMNS_TYPE)
    assert answer.content_type == COLUMNS_TYPE
    assert answer.headers["Vary"] == "service-api-key, Authorization, Accept-Encoding, Accept"
    reply = orjson.loads(answer.data)
    columns, data = reply.pop("columns"), rows.pop("data")
    assert reply == rows
    assert list(columns) == list(data[0])
    stamp = next((name for name in columns if name == "recorded_at" or "bucket" in name), None)
    for name, values in columns.items():
        if name == stamp:
            assert all(isinstance(value, int) for value in values)
            assert sorted(values) == values
        else:
            assert values == [row[name] for row in data]


@cases(("path", "query"), COLUMNAR)
def test_columns_of_some_metrics_are_those_of_all(
    world: World, path: str, query: dict[str, str]
) -> None:
    everything = orjson.loads(world.get(path, query, Accept=COLUMNS_TYPE).data)
    accept = f'{COLUMNS_TYPE};metrics="quality flow_rate", application/json;q=0.9'
    some = orjson.loads(world.get(path, query, Accept=accept).data)
    names = RESOLUTION_BY_NAME[some["resolution"]].columns_of((FLOW_RATE, QUALITY))
    assert some["columns"] == {name: everything["columns"][name] for name in names}
    assert len(some["columns"]) < len(everything["columns"])


@cases(
    ("accept", "names"),
    [
        ("application/json", None),
        ("*/*", None),
        (f'{COLUMNS_TYPE};metrics="quality"', ["quality"]),
        (f'{COLUMNS_TYPE} ; metrics="quality flow_rate", text/html', ["flow_rate", "quality"]),
        (f'{COLUMNS_TYPE};metrics="nonsense quality"', ["quality"]),
    ],
)
def test_an_accept_header_names_the_columns(accept: str, names: list[str] | None) -> None:
    wanted = wanted_columns(accept)
    assert (wanted if wanted is None else [metric.name for metric in wanted]) == names


@cases("metrics", ["", ';metrics=""', ';metrics="nonsense"', ";q=1"])
def test_without_a_valid_metric_there_are_all_columns(metrics: str) -> None:
    assert wanted_columns(COLUMNS_TYPE + metrics) == METRICS


def test_columns_of_nothing_are_empty(world: World) -> None:
    query = {"resolution": "raw", "from": "2030-01-01"}
    reply = orjson.loads(world.get(DATAPOINTS, query, Accept=COLUMNS_TYPE).data)
    assert set(map(len, reply["columns"].values())) == {0}


def test_columns_are_only_where_rows_are(world: World) -> None:
    for path, query in (("/device", {}), (DATAPOINTS, {"resolution": "raw", "count": "true"})):
        answer = world.get(path, query, Accept=COLUMNS_TYPE)
        assert answer.content_type == "application/json"


def test_every_route_is_tested_here() -> None:
    tried = {path.replace(METER, "{id}") for path in NEEDED}
    assert {f"/management/v1{path}" for path in tried} == {r.operation.path for r in ROUTES}
