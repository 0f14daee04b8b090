"""Receives readings from meters over MQTT without a broker."""

from __future__ import annotations

from api.ingest.mqtt.listener.connection import Limits as Limits
from api.ingest.mqtt.listener.listener import Listener as Listener
