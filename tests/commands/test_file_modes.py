"""Files that Weir writes are readable by their owner alone, even if the umask allows more."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from tests.commands.shell import Shell, eventually


def test_files_are_their_owners_alone_with_any_umask(shell: Shell) -> None:
    before = os.umask(0)
    try:
        shell.environ["WEIR_REQUEST_LOG"] = str(shell.folder / "logs.json")
        shell.environ["WEIR_MQTT_LISTEN"] = "127.0.0.1:0"
        shell.environ["WEIR_API_KEY"] = "5f0c2a52-6c1e-4b8e-9d52-0d6c7a9b1e11"
        shell.start("serve", "--workers", "1")
        eventually(lambda: shell.get("/readyz?need=writer,listener")[0] == 200, "the site was up")
        eventually((shell.folder / "weir.sqlite-wal").exists, "the log was there")
        instance = shell.folder / "instance"
        eventually((instance / "writer.sock").exists, "the writer listened")
        backup = shell.folder / "weir.tar.gz"
        assert shell.run("backup", backup)[0] == 0
        paths = [path for path in shell.folder.rglob("*") if not path.name.startswith(".")]
        names = {path.name for path in paths}
        modes = {str(path): oct(stat.S_IMODE(_mode(path))) for path in paths}
    finally:
        os.umask(before)
    expected = {"weir.sqlite", "weir.sqlite-wal", "weir.sqlite-shm", "logs.json", "secret_key",
                "writer.sock", "sign_in_links", "metrics", "weir.tar.gz",
                "mqtt_sessions.sqlite", "mqtt_listener.received"}  # fmt: skip
    assert expected <= names
    wide = {path: mode for path, mode in modes.items() if mode not in ("0o600", "0o700")}
    assert wide == {}
    assert {mode for path, mode in modes.items() if Path(path).is_file()} == {"0o600"}


def _mode(path: Path) -> int:
    return path.lstat().st_mode
