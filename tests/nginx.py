"""The nginx site of deploy/, started with the real nginx in front of a test's server."""

from __future__ import annotations

import re
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from tests.servers import free_port

SITE = Path(__file__).resolve().parents[1] / "deploy" / "nginx.conf"
SPOOLS = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")


def program() -> str:
    result = shutil.which("nginx", path="/usr/sbin:/usr/local/sbin:/usr/bin")
    if result is None:
        raise RuntimeError("nginx is not installed; `make test` installs it (package nginx-light)")
    return result


class Proxy:
    """The shipped site in front of ``upstream``, with only ports and paths changed."""

    def __init__(self, folder: Path, upstream: int) -> None:
        self.folder, self.port, self.plain_port = folder, free_port(), free_port()
        self.certificate, key = folder / "cert.pem", folder / "key.pem"
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
             "-subj", "/CN=weir.example", "-keyout", str(key), "-out", str(self.certificate)],
            check=True, capture_output=True,
        )  # fmt: skip
        text = SITE.read_text()
        for theirs, ours in {
            "/etc/letsencrypt/live/weir.example/fullchain.pem": str(self.certificate),
            "/etc/letsencrypt/live/weir.example/privkey.pem": str(key),
            "/var/log/nginx/": f"{folder}/",
            "127.0.0.1:8050": f"127.0.0.1:{upstream}",
            "listen 443 ssl;": f"listen 127.0.0.1:{self.port} ssl;",
            "listen 80;": f"listen 127.0.0.1:{self.plain_port};",
        }.items():
            assert theirs in text
            text = text.replace(theirs, ours)
        text = re.sub(r"\n    listen \[::\].*", "", text)
        places = "\n".join(f"{name}_temp_path {folder}/{name};" for name in SPOOLS)
        file = folder / "nginx.conf"
        file.write_text(
            f"pid {folder}/nginx.pid;\nerror_log {folder}/error.log warn;\ndaemon off;\n"
            f"events {{}}\nhttp {{\n{places}\n{text}\n}}\n"
        )
        self.command = _command(folder, file)

    def running(self) -> AbstractContextManager[None]:
        return _running(self)

    def has_spooled(self) -> bool:
        """Whether nginx has buffered a response on disk because the client reads slowly."""
        return "buffered to a temporary file" in (self.folder / "error.log").read_text()


class PlainProxy:
    """A minimal proxy: HTTP/1.1 to ``upstream`` under its own name, without any header about the
    proxy or the client. Newer versions of nginx use HTTP/1.1 by default."""

    def __init__(self, folder: Path, upstream: int) -> None:
        self.folder, self.port = folder, free_port()
        places = "\n".join(f"{name}_temp_path {folder}/{name};" for name in SPOOLS)
        file = folder / "nginx.conf"
        file.write_text(
            f"pid {folder}/nginx.pid;\nerror_log {folder}/error.log warn;\ndaemon off;\n"
            f"events {{}}\nhttp {{\naccess_log off;\n{places}\n"
            f"server {{ listen 127.0.0.1:{self.port}; location / {{\n"
            f"proxy_pass http://127.0.0.1:{upstream};\n"
            'proxy_http_version 1.1; proxy_set_header Connection "";\n} } }\n'
        )
        self.command = _command(folder, file)

    def running(self) -> AbstractContextManager[None]:
        return _running(self)


def _command(folder: Path, file: Path) -> list[str]:
    return [program(), "-p", str(folder), "-c", str(file), "-e", str(folder / "error.log")]


@contextmanager
def _running(proxy: Proxy | PlainProxy) -> Iterator[None]:
    process = subprocess.Popen(proxy.command)
    try:
        deadline = time.monotonic() + 30
        while not _listens(proxy.port):
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError((proxy.folder / "error.log").read_text())
            time.sleep(0.02)
        yield
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(10)


def _listens(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except OSError:
        return False
    return True
