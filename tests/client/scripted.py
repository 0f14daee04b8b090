"""A server on loopback that replies as a test scripts it, also wrongly."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Step:
    """One response: its bytes, and whether the connection breaks before or half-way through
    them."""

    body: bytes = b"{}"
    status: int = 200
    content_type: str = "application/json"
    headers: dict[str, str] = field(default_factory=dict)
    delay_s: float = 0.0
    hang_up: bool = False
    cut_at: int | None = None


@dataclass
class Script:
    """``requests`` are the requests so far: (path with query, headers). The last step repeats."""

    url: str
    steps: list[Step]
    requests: list[tuple[str, dict[str, str]]] = field(default_factory=list)

    def play(self, *steps: Step) -> None:
        self.steps[:] = steps

    def next_step(self) -> Step:
        return self.steps.pop(0) if len(self.steps) > 1 else self.steps[0]


@contextmanager
def scripted() -> Iterator[Script]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            script.requests.append((self.path, {k.lower(): v for k, v in self.headers.items()}))
            step = script.next_step()
            time.sleep(step.delay_s)
            if step.hang_up:
                self.close_connection = True
                self.connection.shutdown(socket.SHUT_RDWR)
                return
            self.send_response(step.status)
            for name, value in {"Content-Type": step.content_type, **step.headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(step.body)))
            self.end_headers()
            self.wfile.write(step.body[: step.cut_at])
            self.close_connection = self.close_connection or step.cut_at is not None

        def log_message(self, format: str, *args: object) -> None:
            """Quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    script = Script(f"http://127.0.0.1:{server.server_address[1]}", [Step()])
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield script
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
