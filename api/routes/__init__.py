"""Every endpoint of the interface: parse → domain → object."""

from api.routes.call import Call, Reply, Route
from api.routes.flow import FLOW_ROUTES
from api.routes.management import MANAGEMENT_ROUTES
from api.routes.render import COLUMNS_TYPE

ROUTES: tuple[Route, ...] = (*MANAGEMENT_ROUTES, *FLOW_ROUTES)

__all__ = ["COLUMNS_TYPE", "ROUTES", "Call", "Reply", "Route"]
