"""The routes of the whole site: how each is asked for, and who may.

A route that is added needs its row here; `tests.security.test_matrix` tries all of them.
"""

from __future__ import annotations

from api.catalog import IMPORTS_PATH
from api.timez import DAY_MS, now_ms, stamp
from tests.security.expected import Ask

SPAN = "from=2026-03-08T06:00:00Z&to=2026-03-08T18:00:00Z"
DAYS = "range=2026-03-08..2026-03-08"

NEW_IMPORT = '{"name": "a.csv", "size": 1}'
_IMPORT = "/00000000deadbeef"
IMPORTS = (  # method, rule and path below those of the imports, body
    ("GET", "", "", None),
    ("POST", "", "", NEW_IMPORT),
    ("GET", "/<id>", _IMPORT, None),
    ("PATCH", "/<id>", _IMPORT, '{"settings": {}}'),
    ("DELETE", "/<id>", _IMPORT, None),
    ("PUT", "/<id>/content", f"{_IMPORT}/content?offset=0", "x"),
    ("GET", "/<id>/refused", f"{_IMPORT}/refused", None),
    *(("POST", f"/<id>/{deed}", f"{_IMPORT}/{deed}", None) for deed in ("begin", "pause", "undo")),
)
IMPORTS_OF_PAGE = (
    *IMPORTS[:2],
    ("GET", "/<rest>", _IMPORT, None),
    ("POST", "/<rest>", f"{_IMPORT}/begin", None),
    ("PUT", "/<rest>", f"{_IMPORT}/content?offset=0", "x"),
    ("PATCH", "/<rest>", _IMPORT, '{"settings": {}}'),
    ("DELETE", "/<rest>", _IMPORT, None),
)


ADMIN = (  # method, rule and path below /admin/v1, who may, body
    *(
        ("GET", rule, rule, "200 whole", None)
        for rule in ("/organization", "/groups", "/quality", "/reception", "/demo", "/keys")
    ),
    ("GET", "/devices", "/devices", "administrator", None),
    ("GET", "/devices/file", "/devices/file", "administrator", None),
    ("GET", "/devices/fields", "/devices/fields", "administrator", None),
    ("GET", "/devices/<id>/extent", "/devices/{device}/extent", "administrator", None),
    ("PATCH", "/devices", "/devices", "administrator", '{"devices": ["{device}"], "set": {}}'),
    ("DELETE", "/devices/<id>", "/devices/{device}", "400 of device", '{"serialNumber": "-"}'),
    ("POST", "/devices/<id>/exchanges", "/devices/{device}/exchanges", "400 of device", "{}"),
    ("DELETE", "/devices/<id>/exchanges", "/devices/{device}/exchanges", "404 of device",
     '{"at": "2026-01-01T00:00:00Z"}'),
    ("PATCH", "/organization", "/organization", "200 whole", "{}"),
    ("POST", "/demo", "/demo", "409 whole", "{}"),
    ("DELETE", "/demo", "/demo", "400 whole", "{}"),
    ("POST", "/devices", "/devices", "409 whole", '{"serialNumber": "T-1"}'),
    ("POST", "/devices/file", "/devices/file", "200 whole", '{"csv": "serialNumber"}'),
    ("DELETE", "/devices/file", "/devices/file", "404 whole", '{"at": "2020-01-01T00:00:00Z"}'),
    ("POST", "/groups", "/groups", "400 whole", '{"name": "a", "devices": []}'),
    ("PATCH", "/groups", "/groups", "200 whole", '{"name": "north"}'),
    ("DELETE", "/groups", "/groups", "404 whole", '{"name": "none"}'),
    ("POST", "/keys", "/keys", "400 whole", "{}"),
    ("PATCH", "/keys/<id>", "/keys/none", "404 whole", "{}"),
    ("POST", "/keys/<id>/revoke", "/keys/none/revoke", "404 whole", "{}"),
)  # fmt: skip


def of_interface(path: str) -> Ask:
    return Ask(f"/management/v1{path}", "api")


# The rules of every application, as Werkzeug writes them, but for the converters.
ROUTES: dict[str, Ask] = {
    # the service
    "GET /management/v1/organizations/mine": of_interface("/organizations/mine"),
    "GET /management/v1/version": Ask("/management/v1/version", "anybody"),
    "GET /management/v1/api-json": Ask("/management/v1/api-json", "api"),
    "GET /management/v1/device": of_interface("/device?active=null"),
    "GET /management/v1/flow/datapoints/<id>": of_interface(
        f"/flow/datapoints/{{device}}?resolution=1hour&{SPAN}"
    ),
    "GET /management/v1/flow/adaptive/<id>": of_interface(f"/flow/adaptive/{{device}}?{SPAN}"),
    "GET /management/v1/flow/latest": of_interface(
        f"/flow/latest?ids={{device}}&metrics=lastSeen,quality&{SPAN}"
    ),
    "GET /insight/v1/devices": Ask("/insight/v1/devices", "api"),
    "GET /insight/v1/devices/<id>": Ask("/insight/v1/devices/{device}", "api"),
    **{
        f"GET /insight/v1/devices/<id>/{what}": Ask(
            f"/insight/v1/devices/{{device}}/{what}{query}", "api"
        )
        for what, query in (
            ("usual", f"?{SPAN}"),
            ("forecast", ""),
            ("month-end", ""),
            ("balance", f"?{SPAN}"),
            ("registers", f"?{SPAN}"),
            ("comparison", f"?compare=week&{SPAN}"),
        )
    },
    "GET /insight/v1/volumes": Ask(f"/insight/v1/volumes?item=device:{{device}}&{SPAN}", "api"),
    "GET /insight/v1/groups": Ask("/insight/v1/groups", "api"),
    "GET /insight/v1/summary": Ask("/insight/v1/summary", "api"),
    "GET /insight/v1/me": Ask("/insight/v1/me", "api"),
    "GET /insight/v1/api-json": Ask("/insight/v1/api-json", "api"),
    "GET /insight/v1/findings": Ask("/insight/v1/findings?device={device}", "api"),
    "GET /insight/v1/findings/<id>": Ask("/insight/v1/findings/{finding}", "api"),
    **{
        f"POST /insight/v1/findings/<id>/{deed}": Ask(
            f"/insight/v1/findings/{{finding}}/{deed}", "operator", "POST", "{}"
        )
        for deed in ("dismiss", "restore")
    },
    "GET /insight/v1/settings": Ask("/insight/v1/settings?device={device}", "api"),
    "PATCH /insight/v1/settings": Ask(
        "/insight/v1/settings",
        "administrator",
        "PATCH",
        '{"device": "{device}", "kind": "burst", "set": {"score": 21}}',
    ),
    "GET /insight/v1/alerts": Ask("/insight/v1/alerts?device={device}", "api"),
    "GET /insight/v1/alerts/<id>": Ask("/insight/v1/alerts/{alert}", "api"),
    "POST /insight/v1/alerts/<id>/acknowledge": Ask(
        "/insight/v1/alerts/{alert}/acknowledge", "operator", "POST", "{}"
    ),
    "POST /insight/v1/alerts/<id>/unacknowledge": Ask(
        "/insight/v1/alerts/{taken}/unacknowledge", "operator", "POST", "{}"
    ),
    **{
        f"GET /insight/v1/{what}": Ask(f"/insight/v1/{what}", "api")
        for what in ("rules", "receivers", "silences", "messages")
    },
    "GET /insight/v1/rules/<id>": Ask("/insight/v1/rules/{rule}", "api"),
    "POST /insight/v1/rules": Ask("/insight/v1/rules", "administrator", "POST", '{"name": "R"}'),
    "POST /insight/v1/rules/preview": Ask("/insight/v1/rules/preview", "api", "POST", "{}"),
    "PATCH /insight/v1/rules/<id>": Ask(
        "/insight/v1/rules/{rule}", "administrator", "PATCH", '{"hold": 60}'
    ),
    "DELETE /insight/v1/rules/<id>": Ask("/insight/v1/rules/{rule}", "administrator", "DELETE"),
    "POST /insight/v1/receivers": Ask(
        "/insight/v1/receivers",
        "administrator",
        "POST",
        '{"name": "R", "kind": "email", "to": ["a@b.example"]}',
    ),
    "POST /insight/v1/receivers/<id>/test": Ask(
        "/insight/v1/receivers/{receiver}/test", "administrator", "POST", "{}"
    ),
    "PATCH /insight/v1/receivers/<id>": Ask(
        "/insight/v1/receivers/{receiver}", "administrator", "PATCH", '{"enabled": false}'
    ),
    "DELETE /insight/v1/receivers/<id>": Ask(
        "/insight/v1/receivers/{receiver}", "administrator", "DELETE"
    ),
    "POST /insight/v1/silences": Ask(
        "/insight/v1/silences",
        "silencer",
        "POST",
        '{"device": "{device}", "until": "' + stamp(now_ms() + DAY_MS) + '"}',
    ),
    "DELETE /insight/v1/silences/<id>": Ask("/insight/v1/silences/{silence}", "operator", "DELETE"),
    "GET /insight/v1/costs": Ask(f"/insight/v1/costs?ids={{device}}&{SPAN}", "api"),
    "GET /insight/v1/tariffs": Ask("/insight/v1/tariffs", "api"),
    "GET /insight/v1/tariffs/<id>": Ask("/insight/v1/tariffs/{tariff}", "api"),
    "POST /insight/v1/tariffs": Ask(
        "/insight/v1/tariffs",
        "administrator",
        "POST",
        '{"name": "T", "versions": [{"from": "2026-01-01", "rates": [{"perGallon": "0.01"}]}]}',
    ),
    "PATCH /insight/v1/tariffs/<id>": Ask(
        "/insight/v1/tariffs/{tariff}", "administrator", "PATCH", '{"name": "U"}'
    ),
    "DELETE /insight/v1/tariffs/<id>": Ask(
        "/insight/v1/tariffs/{tariff}", "administrator", "DELETE"
    ),
    "GET /insight/v1/reports": Ask("/insight/v1/reports", "api"),
    "GET /insight/v1/reports/<id>": Ask("/insight/v1/reports/{schedule}", "api"),
    "POST /insight/v1/reports": Ask(
        "/insight/v1/reports",
        "administrator",
        "POST",
        '{"name": "R", "receivers": ["{receiver}"]}',
    ),
    "POST /insight/v1/reports/<id>/send": Ask(
        "/insight/v1/reports/{schedule}/send", "administrator", "POST", "{}"
    ),
    "PATCH /insight/v1/reports/<id>": Ask(
        "/insight/v1/reports/{schedule}", "administrator", "PATCH", '{"paused": false}'
    ),
    "DELETE /insight/v1/reports/<id>": Ask(
        "/insight/v1/reports/{schedule}", "administrator", "DELETE"
    ),
    "GET /insight/v1/budgets": Ask("/insight/v1/budgets", "api"),
    "GET /insight/v1/budgets/<id>": Ask("/insight/v1/budgets/{budget}", "api"),
    "POST /insight/v1/budgets": Ask(
        "/insight/v1/budgets", "operator", "POST", '{"device": "{device}", "amount": 5}'
    ),
    "PATCH /insight/v1/budgets/<id>": Ask(
        "/insight/v1/budgets/{budget}", "operator", "PATCH", '{"amount": 6}'
    ),
    "DELETE /insight/v1/budgets/<id>": Ask("/insight/v1/budgets/{budget}", "operator", "DELETE"),
    "GET /insight/v1/annotations": Ask("/insight/v1/annotations?device={device}", "api"),
    "GET /insight/v1/audit": Ask("/insight/v1/audit", "administrator"),
    **{
        f"GET /insight/v1/{many}{end}": Ask(f"/insight/v1/{many}{path}", "api")
        for many, one in (
            ("notes", "note"),
            ("maintenance", "maintenance"),
            ("corrections", "correction"),
        )
        for end, path in (("", "?device={device}"), ("/<id>", f"/{{{one}}}"))
    },
    "GET /insight/v1/corrections/<id>/readings": Ask(
        "/insight/v1/corrections/{correction}/readings", "api"
    ),
    "POST /insight/v1/notes": Ask(
        "/insight/v1/notes",
        "operator",
        "POST",
        '{"device": "{device}", "from": "2026-03-08T12:00:00Z", "text": "x"}',
    ),
    "PATCH /insight/v1/notes/<id>": Ask(
        "/insight/v1/notes/{note}", "its author", "PATCH", '{"text": "y"}'
    ),
    "DELETE /insight/v1/notes/<id>": Ask("/insight/v1/notes/{note}", "its author", "DELETE", "{}"),
    "POST /insight/v1/maintenance": Ask(
        "/insight/v1/maintenance",
        "administrator",
        "POST",
        '{"device": "{device}", "from": "2026-03-08T12:00:00Z", "to": "2026-03-08T13:00:00Z",'
        ' "reason": "x"}',
    ),
    "PATCH /insight/v1/maintenance/<id>": Ask(
        "/insight/v1/maintenance/{maintenance}", "administrator", "PATCH", '{"reason": "y"}'
    ),
    "DELETE /insight/v1/maintenance/<id>": Ask(
        "/insight/v1/maintenance/{maintenance}", "administrator", "DELETE", "{}"
    ),
    **{
        f"POST /insight/v1/corrections{end}": Ask(
            f"/insight/v1/corrections{end}",
            "administrator",
            "POST",
            '{"device": "{device}", "from": "2026-03-08T06:00:00Z",'
            ' "to": "2026-03-08T18:00:00Z", "effect": "exclude", "metrics": ["quality"],'
            ' "reason": "x"}',
        )
        for end in ("", "/preview")
    },
    "POST /insight/v1/corrections/<id>/revoke": Ask(
        "/insight/v1/corrections/{correction}/revoke", "administrator", "POST", '{"reason": "y"}'
    ),
    "GET /healthz": Ask("/healthz", "anybody"),
    "GET /embeds/v1/embeds": Ask("/embeds/v1/embeds", "api"),
    "POST /embeds/v1/embeds": Ask(
        "/embeds/v1/embeds", "maker", "POST", '{"view": "tile", "devices": ["{device}"]}'
    ),
    "GET /embeds/v1/embeds/<embed_id>": Ask("/embeds/v1/embeds/{embed}", "api"),
    "DELETE /embeds/v1/embeds/<embed_id>": Ask("/embeds/v1/embeds/{embed}", "maker", "DELETE"),
    "POST /embeds/v1/embeds/<embed_id>/tokens": Ask(
        "/embeds/v1/embeds/{embed}/tokens", "maker", "POST", "{}"
    ),
    "GET /embeds/v1/self": Ask("/embeds/v1/self", "not over the network"),
    "POST /ingest/v1/readings": Ask("/ingest/v1/readings", "sender", "POST", "[]"),
    "GET /readyz": Ask("/readyz", "anybody"),
    "GET /metrics": Ask("/metrics", "not over the network"),
    # the dashboard
    "GET /": Ask("/", "site"),
    "GET /wall": Ask("/wall", "site"),
    "GET /<path>": Ask("/usage", "site"),
    "GET /devices/<device_id>": Ask("/devices/{device}", "site"),
    "GET /_dash-layout": Ask("/_dash-layout", "script"),
    "GET /_dash-dependencies": Ask("/_dash-dependencies", "script"),
    "GET /_reload-hash": Ask("/_reload-hash", "script"),
    "POST /_dash-update-component": Ask("/_dash-update-component", "script", "POST", "{}"),
    "GET /static/<filename>": Ask("/static/x", "nobody's page"),
    "GET /assets/<filename>": Ask("/assets/favicon.svg", "anybody"),
    "GET /_favicon.ico": Ask("/_favicon.ico", "anybody"),
    "GET /_dash-component-suites/<package_name>/<fingerprinted_path>": Ask(
        "/_dash-component-suites/dash/deps/polyfill@7.12.1.min.js", "anybody"
    ),
    **{
        f"GET /assets/{name}": Ask(f"/assets/{name}", "anybody")
        for name in ("weir.css", "weir.js", "weir-sign-in.css")
    },
    **{
        f"GET /download/devices/<device_id>/{what}.{kind}": Ask(
            f"/download/devices/{{device}}/{what}.{kind}?{SPAN}", "site"
        )
        for what in ("rows", "days", "hours", "findings", "forecast", "registers")
        for kind in ("csv", "xlsx")
    },
    **{
        f"GET /download/{what}.{kind}": Ask(f"/download/{what}.{kind}", "site")
        for what in ("devices", "fleet", "findings", "alerts")
        for kind in ("csv", "xlsx")
    },
    **{
        f"GET /download/audit.{kind}": Ask(f"/download/audit.{kind}", "administrator's site")
        for kind in ("csv", "xlsx")
    },
    **{
        f"GET /download/usage/{what}.{kind}": Ask(
            f"/download/usage/{what}.{kind}?{DAYS}&devices={{device}}", "site, by id"
        )
        for what in ("by-device", "by-day")
        for kind in ("csv", "xlsx")
    },
    **{
        f"GET /export/devices/<device_id>/{what}.{kind}": Ask(
            f"/export/devices/{{device}}/{what}.{kind}", "site"
        )
        for what in ("chart", "days", "heat")
        for kind in ("png", "svg", "pdf")
    },
    **{
        f"GET /export/fleet.{kind}": Ask(f"/export/fleet.{kind}", "site")
        for kind in ("png", "svg", "pdf")
    },
    **{
        f"GET /{where}/compare.{kind}": Ask(
            f"/{where}/compare.{kind}?{DAYS}&items=device:{{device}}", "site"
        )
        for where, kinds in (("export", ("png", "svg", "pdf")), ("download", ("csv", "xlsx")))
        for kind in kinds
    },
    "GET /export/report.pdf": Ask(f"/export/report.pdf?{DAYS}&devices={{device}}", "site, by id"),
    "GET /export/report/chart.json": Ask(
        f"/export/report/chart.json?{DAYS}&devices={{device}}", "site, by id"
    ),
    **{
        f"{method} {root}{rule}": Ask(f"{root}{path}", to, method, body)
        for root, to, asks in (
            (IMPORTS_PATH, "importer", IMPORTS),
            ("/import/files", "importer's site", IMPORTS_OF_PAGE),
        )
        for method, rule, path, body in asks
    },
    "GET /admin/v1/api-json": Ask("/admin/v1/api-json", "api"),
    **{
        f"{method} /admin/v1{rule}": Ask(f"/admin/v1{path}", to, method, body)
        for method, rule, path, to, body in ADMIN
    },
    **{
        f"{method} /admin/service{rule}": Ask(f"/admin/service{path}", "forwarded", method, "{}")
        for rule, path, methods in (
            ("", "", ("GET", "POST")),
            ("/<rest>", "/nothing/there", ("GET", "POST", "PUT", "PATCH", "DELETE")),
        )
        for method in methods
    },
    "POST /export/links": Ask(
        "/export/links",
        "script",
        "POST",
        '{"address": "/export/devices/{device}/chart.svg", "days": 30}',
    ),
}
# Of the embeds' application, which its door lets nobody reach but by these addresses.
FRAMES: dict[str, Ask] = {
    "GET /": Ask("/embed/{embed}", "anybody"),
    "GET /<path>": Ask("/embed/{embed}/devices", "nothing there"),
    "GET /_dash-layout": Ask("/embed/{embed}/_dash-layout", "anybody"),
    "GET /_dash-dependencies": Ask("/embed/{embed}/_dash-dependencies", "anybody"),
    "GET /_reload-hash": Ask("/embed/{embed}/_reload-hash", "nothing there"),
    "POST /_dash-update-component": Ask(
        "/embed/{embed}/_dash-update-component", "frame", "POST", "{}"
    ),
    "GET /static/<filename>": Ask("/embed/{embed}/static/x", "nothing there"),
    "GET /assets/<filename>": Ask("/embed/assets/favicon.svg", "anybody"),
    "GET /_favicon.ico": Ask("/embed/_favicon.ico", "anybody"),
    "GET /_dash-component-suites/<package_name>/<fingerprinted_path>": Ask(
        "/embed/_dash-component-suites/dash/deps/polyfill@7.12.1.min.js", "anybody"
    ),
    **{
        f"GET /assets/{name}": Ask(f"/embed/assets/{name}", "anybody")
        for name in ("first.js", "embed.js", "embed.css")
    },
}


TABLE = {
    **{f"site: {route}": ask for route, ask in ROUTES.items()},
    **{f"frames: {route}": ask for route, ask in FRAMES.items()},
}
