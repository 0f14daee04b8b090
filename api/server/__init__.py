"""The HTTP service. `create_service(store, settings)` makes the application."""

from api.server.service import HEALTH_PATH, create_embed_service, create_service

__all__ = ["HEALTH_PATH", "create_embed_service", "create_service"]
