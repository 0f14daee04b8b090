"""The devices that the tests of insight look at."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import psycopg
import pytest

from api.insight.status_projection import Projection
from api.store.base import NewDevice, Store
from api.timez import DAY_MS, MINUTE_MS, now_ms
from tests import citus
from tests.store.fleet import everything, reading
from tests.world import ACME, World, build


@contextmanager
def insight_world(request: pytest.FixtureRequest, folder: Path) -> Iterator[World]:
    """On the store that the request's parameter names; with a few meters more, of which some
    report now."""
    with ExitStack() as ended:
        if request.param == "postgres":
            server = request.getfixturevalue("postgres_server")
            with psycopg.connect(f"{server}/postgres", autocommit=True) as connection:
                connection.execute("CREATE DATABASE weir_insight")
            url = f"{server}/weir_insight"
        else:
            url = ended.enter_context(citus.place(request.param, folder))
        store = citus.made(url)
        world = build(store)
        _report_now(store)
        Projection(store).all_due()
        yield world
        store.close()


def _report_now(store: Store) -> None:
    """N-0 … N-3, which report each minute; N-2 with a poor quality, N-3 no more."""
    old = {"installedOn": "2020-01-01T00:00:00Z", "created": "2020-01-01T00:00:00Z"}
    store.import_devices(
        ACME,
        [
            NewDevice(
                f"N-{n}",
                {**old, "label": f"Übergabe {n}", "reportingInterval": 60.0,
                 "costPerGallon": {"value": 0.5, "currency": "EUR"}},
                groups=("now",),
            )
            for n in range(4)
        ],
    )  # fmt: skip
    result = store.resolve(everything(ACME), [f"N-{n}" for n in range(4)])
    start = now_ms() // MINUTE_MS * MINUTE_MS
    for n, device in enumerate(result):
        assert device is not None
        first = 60 if n == 3 else 0
        store.write(
            [
                reading(device, start - minute * MINUTE_MS, flow_rate=float(n),
                        flow_amount=0.01, quality=10.0 if n == 2 else 90.0)
                for minute in range(first, DAY_MS // MINUTE_MS + 2)
            ]
        )  # fmt: skip
