"""Serves ``/readyz`` and ``/metrics`` for operations. Neither contains secrets."""

from __future__ import annotations

import hmac
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

import orjson
from flask import Flask, Response, request

from api.auth.authenticator import bearer
from api.auth.principal import BEARER
from api.errors import NotFound, Unauthorized
from api.openapi import JSON_TYPE
from api.server.problems import answer_error
from api.server.readiness import DEGRADED, FAILED, OVERALL, Checks, Readiness, overall
from api.server.responses import finisher
from api.settings import Settings
from api.telemetry import metrics
from api.telemetry.client_address import from_another_site, from_this_machine

if TYPE_CHECKING:
    from prometheus_client.core import Metric

READY_PATH: Final = "/readyz"
METRICS_PATH: Final = "/metrics"
_NO_STORE: Final = {"Cache-Control": "no-store"}
_LEVEL: Final = {FAILED: 0.0, DEGRADED: 0.5}
# Gauges from the facts of checks: (check, fact) → name and help text.
_FACTS: Final = {
    ("commit", "ageS"): (
        "weir_last_commit_age_seconds",
        "Seconds since the last reading was stored.",
    ),
    ("feed", "ageS"): (
        "weir_mqtt_last_message_age_seconds",
        "Seconds since the last message from the broker.",
    ),
    ("feed", "ingesters"): ("weir_mqtt_ingesters", "Healthy ingesters on this host."),
    ("listener", "clients"): ("weir_mqtt_clients", "Meters connected by MQTT."),
    ("listener", "ageS"): (
        "weir_mqtt_listener_last_message_age_seconds",
        "Seconds since the last message from a meter by MQTT.",
    ),
    ("disk", "freeBytes"): ("weir_disk_free_bytes", "Free disk space beside the store."),
    ("replica", "lagS"): ("weir_replica_lag_seconds", "Replication lag of the standby."),
    ("store", "schema"): ("weir_schema_version", "Schema version of the store."),
}


def create_operations(readiness: Readiness, settings: Settings) -> Flask:
    """Returns the application for these two paths."""
    app = Flask(__name__, static_folder=None)
    app.url_map.merge_slashes = False

    def ready_view() -> Response:
        """Responds 503 if this host can't serve, or if a check named by ``need`` isn't ok."""
        checks = readiness.checks()
        status = overall(checks)
        needed = [name for value in request.args.getlist("need") for name in value.split(",")]
        missed = [n for n in needed if n not in checks or checks[n].status != "ok"]
        body: dict[str, Any] = {
            "status": OVERALL[status],
            "checks": {name: check.as_json() for name, check in checks.items()},
        }
        code = 503 if status == FAILED or missed else 200
        return Response(orjson.dumps(body), code, _NO_STORE, content_type=JSON_TYPE)

    def metrics_view() -> Response:
        _admit(settings.metrics_token, request.environ)
        body = metrics.exposition(_gauges(readiness.checks()))
        return Response(body, headers=_NO_STORE, content_type=metrics.CONTENT_TYPE)

    app.add_url_rule(READY_PATH, "ready", ready_view)
    app.add_url_rule(METRICS_PATH, "metrics", metrics_view)
    app.register_error_handler(Exception, answer_error)
    app.after_request(finisher(()))
    return app


def _admit(token: str, environ: dict[str, Any]) -> None:
    """Requires the token if one is set; otherwise a request from this machine that no web page
    made."""
    if token:
        given = bearer(environ.get("HTTP_AUTHORIZATION")) or ""
        if hmac.compare_digest(given.encode("utf-8", "replace"), token.encode()):
            return
        raise Unauthorized("Metrics need the token of WEIR_METRICS_TOKEN.", challenges=(BEARER,))
    if not from_this_machine(environ) or from_another_site(environ):
        raise NotFound("Nothing exists at this path.")


def _gauges(checks: Checks) -> Iterator[Metric]:
    from prometheus_client.core import GaugeMetricFamily

    states = GaugeMetricFamily(
        "weir_check", "What /readyz finds: 1 ok, 0.5 degraded, 0 failed.", labels=["check"]
    )
    for name, check in checks.items():
        states.add_metric([name], _LEVEL.get(check.status, 1.0))
    yield states
    for (name, fact), (metric, meaning) in _FACTS.items():
        value = checks[name].facts.get(fact) if name in checks else None
        if value is not None:
            yield GaugeMetricFamily(metric, meaning, value=float(value))
