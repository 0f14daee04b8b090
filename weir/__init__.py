"""Weir as a program: `weir`, `python -m weir`, `flask --app weir`.

In a wheel the project's folders are in ``weir/lib``, where packages of the same names (`api`,
`pages`) can't collide with them; in a checkout they are beside this folder. Either way `prepare`
puts that place first on the path of this process and of its child processes.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from flask import Flask

_HERE: Final = Path(__file__).resolve().parent
_PACKED: Final = _HERE / "lib"
INSTALLED: Final = _PACKED.is_dir()
ROOT: Final = _PACKED if INSTALLED else _HERE.parent
_OURS: Final = ("secret_key", "weir.sqlite", "demo.sqlite")  # a folder with any of them is Weir's


def prepare() -> None:
    """Makes `app` and what it imports importable, here and in child processes. If Weir is
    installed, the instance folder and the store default to the user's data folder."""
    root = str(ROOT)
    sys.path[:] = [root, *(place for place in sys.path if place != root)]
    inherited = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    places = [root, *(place for place in inherited if place and place != root)]
    os.environ["PYTHONPATH"] = os.pathsep.join(places)
    if INSTALLED:
        os.environ["PYTHONSAFEPATH"] = "1"  # the working folder may contain another `app.py`
        _default_to_user_data()


def _default_to_user_data() -> None:
    here = Path("instance")
    if not os.environ.get("WEIR_INSTANCE") and any((here / name).exists() for name in _OURS):
        return
    from platformdirs import user_data_dir

    instance = os.environ.get("WEIR_INSTANCE") or user_data_dir("weir", appauthor=False)
    os.environ["WEIR_INSTANCE"] = instance
    if not os.environ.get("WEIR_DATABASE"):
        os.environ["WEIR_DATABASE"] = f"sqlite:///{Path(instance) / 'weir.sqlite'}"


def create_app() -> Flask:
    """The application factory for `flask --app weir`."""
    prepare()
    import app

    return app.create_app()
