"""The client: one method per endpoint of the interface."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Collection, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal, Self

import httpx

from api.catalog import (
    COLUMNS_TYPE,
    EMBEDS_PREFIX,
    KEY_HEADER,
    LIMIT,
    MAX_DATAPOINTS,
    MAX_IDS,
    METRICS,
    PATH_PREFIX,
    Metric,
    Resolution,
)
from api.client import credential as credentials
from api.client import embeds, replies
from api.client.alerts import AlertMethods
from api.client.annotations import AnnotationMethods
from api.client.billing import BillingMethods
from api.client.credential import Me
from api.client.embeds import Embed, EmbedToken
from api.client.expectations import ExpectationMethods
from api.client.fields import path_of, span_params
from api.client.finding_settings import FindingSettingMethods
from api.client.findings import FindingMethods
from api.client.registers import RegisterMethods
from api.client.replies import DevicePage, Latest, Organization, Series
from api.client.status import StatusMethods
from api.client.transport import (
    IN_PROCESS_ATTEMPTS,
    IN_PROCESS_WIDTH,
    Forwarded,
    Params,
    Transport,
    in_process_http,
    remote_http,
)
from api.embeds import EmbedDefinition
from api.errors import NotFound, NotOffered, Unauthorized, UnexpectedAnswer

# Weir's own service responds in columns, which are much cheaper to build and to parse than row
# objects. Any other server of the interface is asked for its plain JSON.
_ROWS_INSTEAD = "application/json;q=0.9"

ActiveFilter = Literal["true", "false", "null"]


@dataclass(frozen=True, slots=True)
class Credential:
    """The credential of a request. Raises ValueError for text that isn't valid in a header."""

    header: str
    value: str = field(repr=False)

    def __post_init__(self) -> None:
        if not (self.value.isascii() and self.value.isprintable()):
            raise ValueError("a credential is printable ASCII")

    @classmethod
    def key(cls, value: str) -> Self:
        return cls(KEY_HEADER, value.strip())

    @classmethod
    def bearer(cls, token: str) -> Self:
        return cls("Authorization", f"Bearer {token.strip()}")

    @property
    def principal(self) -> str:
        """Returns a cache key: one per credential, from which the credential can't be recovered."""
        return hashlib.sha256(f"{self.header}:{self.value}".encode()).hexdigest()


class Client(
    AlertMethods,
    FindingMethods,
    FindingSettingMethods,
    AnnotationMethods,
    StatusMethods,
    ExpectationMethods,
    BillingMethods,
    RegisterMethods,
):
    """A client of the interface, for one principal.

    Every method raises a `ServiceError` for an error response, `Unreachable` if no response came
    and `UnexpectedAnswer` if it isn't one of the interface. Thread-safe; instances made by
    `as_principal` share their connections.
    """

    def __init__(
        self,
        transport: Transport,
        credential: Credential | str | None = None,
        *,
        on_unauthorized: Callable[[], None] | None = None,
    ) -> None:
        """A string is a service-api-key; an empty one, like None, sends no credential.

        ``on_unauthorized`` is called for every Unauthorized, in the requesting thread.
        """
        if isinstance(credential, str):
            credential = Credential.key(credential) if credential else None
        self._transport = transport
        self._credential = credential
        self._on_unauthorized = on_unauthorized
        self._headers = {credential.header: credential.value} if credential else {}

    @classmethod
    def in_process(cls, app: Any, credential: Credential | str | None = None) -> Self:
        """Connects to a WSGI application of this process."""
        transport = Transport(
            in_process_http(app), width=IN_PROCESS_WIDTH, attempts=IN_PROCESS_ATTEMPTS
        )
        return cls(transport, credential)

    @classmethod
    def remote(
        cls,
        base_url: str,
        credential: Credential | str | None = None,
        *,
        http: httpx.Client | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> Self:
        """Connects over sockets to ``{base_url}/management/v1/…``."""
        return cls(Transport(http or remote_http(base_url), sleep, site=base_url), credential)

    def as_principal(
        self,
        credential: Credential | str | None,
        *,
        on_unauthorized: Callable[[], None] | None = None,
    ) -> Client:
        return Client(self._transport, credential, on_unauthorized=on_unauthorized)

    @property
    def principal(self) -> str:
        return self._credential.principal if self._credential else "nobody"

    @property
    def headers(self) -> Mapping[str, str]:
        """Returns the headers with the credential: secret."""
        return self._headers

    @property
    def width(self) -> int:
        """Returns how many concurrent requests are useful."""
        return self._transport.width

    @property
    def site(self) -> str:
        """Returns the address of the server; "" for one in this process."""
        return self._transport.site

    def close(self) -> None:
        self._transport.http.close()

    def version(self) -> str:
        return replies.version(self._get("/version"))

    def description(self) -> Mapping[str, Any]:
        """Returns the machine-readable (OpenAPI) description of the service."""
        return dict(self._get("/api-json"))

    def organizations(self) -> tuple[Organization, ...]:
        return replies.organizations(self._get("/organizations/mine"))

    def devices(
        self,
        *,
        active: ActiveFilter = "true",
        limit: int | None = None,
        offset: int = 0,
        order_by: str | None = None,
        order: str | None = None,
        serial_number: str | None = None,
        network_unique_identifier: str | None = None,
    ) -> DevicePage:
        """``active`` "null" returns active and inactive devices."""
        body = self._get(
            "/device",
            pagination="true",
            active=active,
            limit=limit,
            offset=offset or None,
            orderBy=order_by,
            order=order,
            serialNumber=serial_number,
            networkUniqueIdentifier=network_unique_identifier,
        )
        return replies.device_page(body)

    def datapoints(
        self,
        identifier: str,
        resolution: Resolution,
        *,
        from_ms: int | None = None,
        to_ms: int | None = None,
        timezone: str | None = None,
        filters: Iterable[str] = (),
        limit: int = LIMIT.maximum or 0,
        offset: int = 0,
        metrics: Collection[Metric] = METRICS,
    ) -> Series:
        """Returns rows or rollups of one device, at most ``limit``; both bounds are inclusive.
        ``metrics``: the needed columns; a server may return more."""
        body = self._get(
            path_of("/flow/datapoints", identifier),
            accept=_accept(metrics),
            resolution=resolution.name,
            **span_params(from_ms, to_ms),
            timezone=timezone,
            filter=list(filters),
            limit=limit,
            offset=offset or None,
        )
        return replies.series(body)

    def count(
        self,
        identifier: str,
        resolution: Resolution,
        *,
        from_ms: int | None = None,
        to_ms: int | None = None,
        filters: Iterable[str] = (),
    ) -> int:
        """Returns how many rows `datapoints` would return without a limit."""
        body = self._get(
            path_of("/flow/datapoints", identifier),
            resolution=resolution.name,
            **span_params(from_ms, to_ms),
            filter=list(filters),
            count="true",
        )
        return replies.count(body)

    def adaptive(
        self,
        identifier: str,
        *,
        from_ms: int,
        to_ms: int,
        max_datapoints: int = MAX_DATAPOINTS.default or 0,
        timezone: str | None = None,
        metrics: Collection[Metric] = METRICS,
    ) -> Series:
        """Returns the finest resolution whose rows fit ``max_datapoints``; ``metrics`` as in
        `datapoints`."""
        body = self._get(
            path_of("/flow/adaptive", identifier),
            accept=_accept(metrics),
            **span_params(from_ms, to_ms),
            maxDatapoints=max_datapoints,
            timezone=timezone,
        )
        return replies.series(body)

    def latest(
        self,
        identifiers: Sequence[str],
        metrics: Iterable[str],
        *,
        from_ms: int | None = None,
        to_ms: int | None = None,
        uptime_resolution: Resolution | None = None,
    ) -> Latest:
        """Returns summaries of up to 50 devices; those out of scope are left out."""
        if not 0 < len(identifiers) <= MAX_IDS:
            raise ValueError(f"a request takes between 1 and {MAX_IDS} devices")
        body = self._get(
            "/flow/latest",
            ids=",".join(identifiers),
            metrics=",".join(metrics),
            **span_params(from_ms, to_ms),
            uptimeResolution=uptime_resolution.name if uptime_resolution else None,
        )
        return replies.latest(body)

    # --- The credential ---

    def me(self) -> Me:
        """Returns this credential, and what it may do."""
        return credentials.me(self._insight("/me", {}))

    # --- Embeds: Weir's own, beyond the interface ---

    def embeds(self) -> tuple[Embed, ...]:
        """Returns the embeds of the credential's organization within its grant, newest first.
        Raises NotOffered if the server has no embeds."""
        try:
            return embeds.embeds(self._fetch(f"{EMBEDS_PREFIX}/embeds", {}))
        except (NotFound, UnexpectedAnswer) as error:
            raise NotOffered("This server has no embeds.") from error

    def embed(self, embed_id: str) -> Embed:
        return embeds.embed(self._fetch(_embed_path(embed_id), {}))

    def own_embed(self) -> Embed:
        """Returns the embed of the token."""
        return embeds.embed(self._fetch(f"{EMBEDS_PREFIX}/self", {}))

    def create_embed(self, definition: EmbedDefinition) -> Embed:
        """Raises BadRequest naming each invalid field by its name in JSON."""
        body = embeds.definition_body(definition)
        return embeds.embed(self._send("POST", f"{EMBEDS_PREFIX}/embeds", body))

    def revoke_embed(self, embed_id: str) -> Embed:
        return embeds.embed(self._send("DELETE", _embed_path(embed_id), {}))

    def mint_embed_token(self, embed_id: str, ttl_s: int | None = None) -> EmbedToken:
        """Returns a short-lived token or, without ``ttl_s``, the link token, which lives as long as
        its embed."""
        body = {} if ttl_s is None else {"ttl": ttl_s}
        return embeds.token(self._send("POST", f"{_embed_path(embed_id)}/tokens", body))

    # --- Sending requests ---

    def _get(self, path: str, *, accept: str = "application/json", **params: Any) -> Any:
        given = {name: _texts(value) for name, value in params.items() if value is not None}
        return self._fetch(PATH_PREFIX + path, given, accept)

    def _fetch(self, path: str, params: Params, accept: str = "application/json") -> Any:
        with self._reporting_unauthorized():
            return self._transport.get(path, params, {**self._headers, "Accept": accept})

    def _send(self, method: str, path: str, body: Mapping[str, Any]) -> Any:
        with self._reporting_unauthorized():
            return self._transport.send(method, path, self._headers, body)

    def forward(
        self, method: str, path: str, params: Params, content: bytes, content_type: str
    ) -> Forwarded:
        """Sends a request for a page's script, which reads the response itself, errors included.
        Raises Unauthorized, Unreachable."""
        headers = {**self._headers, "Content-Type": content_type, "Accept": "*/*"}
        with self._reporting_unauthorized():
            response = self._transport.forward(method, path, params, headers, content)
            if response.status == Unauthorized.status:
                raise Unauthorized("The credential is no longer valid.")
            return response

    @contextmanager
    def _reporting_unauthorized(self) -> Generator[None]:
        try:
            yield
        except Unauthorized:
            if self._on_unauthorized is not None:
                self._on_unauthorized()
            raise


def _embed_path(embed_id: str) -> str:
    return path_of(f"{EMBEDS_PREFIX}/embeds", embed_id)


def _texts(value: str | int | list[str]) -> str | list[str]:
    return value if isinstance(value, list) else str(value)


def _accept(metrics: Collection[Metric]) -> str:
    names = " ".join(metric.name for metric in metrics)
    return f'{COLUMNS_TYPE};metrics="{names}", {_ROWS_INSTEAD}'
