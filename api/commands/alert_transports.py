"""What sends alerts from this process: the broker and the renderer, where there are such."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from flask import current_app

from api.settings import Settings

if TYPE_CHECKING:
    from api.insight.receivers.kind import Means

Picture = Callable[[Settings, Mapping[str, Any]], bytes | None]
EXTENSION: Final = "weir-alert-picture"


def means(settings: Settings) -> Means:
    from api.insight.receivers.kind import Means

    publish = None
    if settings.mqtt_url:
        from api.ingest.mqtt.retained_publisher import publish_retained

        publish = partial(publish_retained, settings)
    picture: Picture | None = current_app.extensions.get(EXTENSION)
    return Means(settings, publish, None if picture is None else partial(picture, settings))
