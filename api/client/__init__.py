"""The dashboard's client of the service, in this process or over a network.

`endpoints.Client` has one method per endpoint, `transport` sends and retries, `replies` are the
typed responses. Nothing else in the project sends HTTP requests to the service.
"""

from api.client.embeds import Embed, EmbedToken
from api.client.endpoints import ActiveFilter, Client, Credential
from api.client.expectations import Amounts, Comparison, MonthEnd
from api.client.findings import Finding, FindingDetail, FindingPage, Judged
from api.client.replies import (
    Device,
    DevicePage,
    Latest,
    LatestEntry,
    Organization,
    Series,
)
from api.client.status import (
    Attention,
    DeviceStatus,
    Observed,
    StatusPage,
    StatusPart,
    StatusSummary,
    Strip,
    UsualToday,
    WindowStatus,
)
from api.embeds import EmbedDefinition, Fixed, Rolling, address, height_px, snippet

__all__ = [
    "ActiveFilter",
    "Amounts",
    "Attention",
    "Client",
    "Comparison",
    "Credential",
    "Device",
    "DevicePage",
    "DeviceStatus",
    "Embed",
    "EmbedDefinition",
    "EmbedToken",
    "Finding",
    "FindingDetail",
    "FindingPage",
    "Fixed",
    "Judged",
    "Latest",
    "LatestEntry",
    "MonthEnd",
    "Observed",
    "Organization",
    "Rolling",
    "Series",
    "StatusPage",
    "StatusPart",
    "StatusSummary",
    "Strip",
    "UsualToday",
    "WindowStatus",
    "address",
    "height_px",
    "snippet",
]
