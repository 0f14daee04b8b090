"""Every endpoint: parses the request, calls the domain, returns an object."""

from api.routes.administration import ADMIN_ACTIONS, ADMIN_ROUTES
from api.routes.directory import MANAGEMENT_ROUTES
from api.routes.document import document_route
from api.routes.endpoint import Action, ActionCall, Call, Reply, Route
from api.routes.insight import INSIGHT_ACTIONS, INSIGHT_ROUTES
from api.routes.readings import FLOW_ROUTES
from api.routes.serialize import wanted_columns

_ANSWERING = (*MANAGEMENT_ROUTES, *FLOW_ROUTES)
ROUTES: tuple[Route, ...] = (*_ANSWERING, document_route(_ANSWERING))

__all__ = [
    "ADMIN_ACTIONS",
    "ADMIN_ROUTES",
    "INSIGHT_ACTIONS",
    "INSIGHT_ROUTES",
    "ROUTES",
    "Action",
    "ActionCall",
    "Call",
    "Reply",
    "Route",
    "wanted_columns",
]
