"""The writer's local interface: web workers send it the rows received over HTTP.

A Unix socket that only this user can open. Length-prefixed JSON frames; a connection carries one
request at a time. The sender has authenticated and decoded the rows.
"""

from __future__ import annotations

from api.ingest.ipc.client import IpcClient as IpcClient
from api.ingest.ipc.server import IpcServer as IpcServer
