"""The transports for alerts sent by this process: the broker and the renderer, if available."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlencode

from flask import current_app

from api.catalog import REPORT_PDF_PATH

if TYPE_CHECKING:
    from api.insight.receivers.kind import Means
    from api.settings import Settings
    from api.store.base import Store

Picture = Callable[["Settings", Mapping[str, Any]], bytes | None]
Paper = Callable[["Settings", Mapping[str, Any]], bytes]
EXTENSION: Final = "weir-alert-picture"
PAPER: Final = "weir-report-paper"
LINK_S: Final = 30 * 86_400


def means(settings: Settings, store: Store) -> Means:
    from api.insight.receivers.kind import Means

    publish = None
    if settings.mqtt_url:
        from api.ingest.mqtt.retained_publisher import publish_retained

        publish = partial(publish_retained, settings)
    picture: Picture | None = current_app.extensions.get(EXTENSION)
    paper: Paper | None = current_app.extensions.get(PAPER)
    return Means(
        settings,
        publish,
        None if picture is None else partial(picture, settings),
        None if paper is None else partial(paper, settings),
        partial(_report_address, settings, store),
    )


def _report_address(settings: Settings, store: Store, body: Mapping[str, Any]) -> str:
    """Returns the address of a report, signed for 30 days with the key of the schedule's author;
    without such a key, an address for signed-in readers."""
    from api.auth.signed import SignedAddresses

    report: Mapping[str, Any] = body["report"]
    pairs: Mapping[str, str] = report["params"]
    links, key = SignedAddresses(store, settings), store.named_key(report["createdBy"])
    whole = key is not None and key.grant.everything and links.may_sign(key)
    if key is None or not whole or key.organization_id != body["organizationId"]:
        return f"{REPORT_PDF_PATH}?{urlencode(pairs)}"
    return f"{REPORT_PDF_PATH}?{links.sign(REPORT_PDF_PATH, pairs.items(), key.key_id, LINK_S)}"
