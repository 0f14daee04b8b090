"""Takes readings from meters that speak MQTT, without a broker."""

from __future__ import annotations

from api.ingest.mqtt.listener.connection import Limits as Limits
from api.ingest.mqtt.listener.listener import Listener as Listener
