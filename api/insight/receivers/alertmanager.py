"""Sends to a Prometheus Alertmanager by its API v2."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import orjson

from api.catalog import DAY_MS
from api.insight.receivers.kind import Answer, Field, Kind, Means, Message
from api.insight.receivers.webhook import alert_object, answer_of, check_url
from api.timez import now_ms, stamp

LASTS_MS: Final = 30 * DAY_MS  # without an end, Alertmanager resolves it after 5 minutes


def send(message: Message, means: Means) -> Answer:
    from api.insight.receivers.guarded_http import FAILURES, failure, post

    ends = stamp(now_ms() + LASTS_MS)
    alerts = [alert_object(message, each) for each in message.alerts]
    posted = [
        {name: each[name] for name in ("labels", "annotations", "startsAt", "generatorURL")}
        | {"endsAt": each["endsAt"] if message.resolved else ends}
        for each in alerts
    ]
    url = f"{message.secret['url'].rstrip('/')}/api/v2/alerts"
    try:
        return answer_of(*post(url, orjson.dumps(posted), {}, means.networks))
    except FAILURES as error:
        return Answer(False, failure(error))


def check(body: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    url, shown = check_url(body)
    return {"shown": shown}, {"url": url}


KIND: Final = Kind(
    name="alertmanager",
    label="Alertmanager",
    fields=(Field("url", "Address", "https://alertmanager.example:9093", secret=True),),
    check=check,
    send=send,
)
