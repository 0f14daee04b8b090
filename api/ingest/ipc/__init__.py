"""The local door of the process that writes: web workers hand it what came to them by HTTP.

A Unix socket that only this user can open. Frames of JSON, a length before each; a connection
carries one question at a time. What was decoded and authenticated outside is believed inside.
"""

from __future__ import annotations

from api.ingest.ipc.client import IpcClient as IpcClient
from api.ingest.ipc.server import IpcServer as IpcServer
