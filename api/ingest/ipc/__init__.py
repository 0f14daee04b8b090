"""The writer's local interface: web workers send it the rows received over HTTP.

It is a Unix socket that only this user can open, with length-prefixed JSON frames. A connection
carries one request at a time. The web worker has already authenticated the sender and decoded the
rows.
"""

from __future__ import annotations

from api.ingest.ipc.client import IpcClient as IpcClient
from api.ingest.ipc.server import IpcServer as IpcServer
