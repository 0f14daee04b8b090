"""The MQTT broker: `consumer` receives readings, `publisher` publishes them after their commit."""

from __future__ import annotations

from api.ingest.mqtt.consumer import Consumer as Consumer
from api.ingest.mqtt.consumer import source as source
from api.ingest.mqtt.publisher import Publisher as Publisher
from api.ingest.mqtt.publisher import publisher as publisher
