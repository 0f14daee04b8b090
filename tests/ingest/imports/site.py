"""The interface of imports over a store, beside the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from flask.testing import FlaskClient

from api.catalog import FLOW_AMOUNT, KEY_HEADER, RAW
from api.ingest.imports.folder import ImportFolders
from api.ingest.imports.job import run
from api.ingest.imports.service import ImportService
from api.server import create_service
from api.settings import Settings
from api.store.base import Span, Store
from tests.commands.conftest import CommandLine
from tests.ingest.foreign.layout_files import LayoutCase
from tests.store.fleet import everything

PATH = "/insight/v1/imports"


class Site:
    """The service over a store; its jobs run when the test calls ``work``."""

    def __init__(self, flask: CommandLine, store: Store, folder: Path, org: str) -> None:
        self.store, self.org, self.waiting = store, org, list[str]()
        self.folders = ImportFolders(folder)
        imports = ImportService(store, folder, self.waiting.append)
        app = create_service(store, Settings.from_env(flask.environ), imports=imports)
        self.http: FlaskClient = app.test_client()
        self.flask = flask
        self.key = self.new_key("administrator")

    def new_key(self, role: str, *more: str) -> str:
        return self.flask.ask("keys", "create", "--org", self.org, "--role", role, *more)["key"]

    def ask(
        self, method: str, path: str = "", *, status: int = 200, key: str = "", **more: Any
    ) -> Any:
        headers = {KEY_HEADER: key or self.key}
        answer = self.http.open(PATH + path, method=method, headers=headers, **more)
        assert answer.status_code == status, answer.text
        return answer.get_json(silent=True) or answer.text

    def upload(self, case: LayoutCase, pieces: int = 3) -> str:
        content = case.make()
        made = self.ask("POST", json={"name": case.name, "size": len(content)}, status=201)
        step = -(-len(content) // pieces)
        for offset in range(0, len(content), step):
            piece = content[offset : offset + step]
            self.ask("PUT", f"/{made['id']}/content?offset={offset}", data=piece)
        return made["id"]

    def work(self) -> None:
        for id in self.waiting:
            run(self.store, self.folders.any(id))
        self.waiting.clear()

    def gallons(self, serial: str) -> float:
        (device,) = self.store.resolve(everything(self.org), [serial])
        if device is None:
            return 0.0
        rows = self.store.rows(device, RAW, Span(), limit=1_000, metrics=(FLOW_AMOUNT,))
        return sum(row[1] or 0.0 for row in rows)
