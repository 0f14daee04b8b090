"""ES modules joined into one script: each once and in order, and unsupported forms are refused."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.node import NODE
from web import static
from web.embed import site
from web.static import ModuleError, joined_modules


def write(folder: Path, **modules: str) -> Path:
    for name, source in modules.items():
        (folder / f"{name}.js").write_text(source, "utf-8")
    return folder / "main.js"


def run(script: bytes) -> str:
    done = subprocess.run([NODE, "-"], input=script, capture_output=True, check=True, timeout=60)
    return done.stdout.decode().strip()


def test_modules_run_once_before_those_that_need_them(tmp_path: Path) -> None:
    entry = write(
        tmp_path,
        main='import * as a from "./a.js";\nimport { twice as double } from "./b.js";\n'
        'import "./c.js";\nconsole.log(a.ONE, double(a.ONE), new a.Meter().name);\n',
        a='import { twice } from "./b.js";\nexport const ONE = 1;\nexport class Meter {\n'
        '  name = "m" + twice(2);\n}\n',
        b='console.log("b");\nfunction twice(n) {\n  return 2 * n;\n}\nexport {\n  twice,\n};\n',
        c='import { twice } from "./b.js";\nexport async function later() {\n'
        '  return twice(1);\n}\nconsole.log("c");\n',
    )
    assert run(joined_modules(entry)).split("\n") == ["b", "c", "1 2 m4"]


def test_modules_do_not_share_names(tmp_path: Path) -> None:
    entry = write(
        tmp_path,
        main='import "./a.js";\nconst own = 2;\nconsole.log(own, typeof globalThis.own);\n',
        a="const own = 1;\n",
    )
    assert run(joined_modules(entry)) == "2 undefined"


@pytest.mark.parametrize(
    ("source", "named"),
    [
        ("export default 1;", "export default"),
        ("export let count = 0;", "export let"),
        ("export const { a } = {};", "export const"),
        ('export * from "./a.js";', "export *"),
        ("const a = 1;\nexport { a as b };", "a as b"),
        ('import a from "./a.js";', "import a"),
        ('import { a } from "elsewhere";', "elsewhere"),
        ('import "./main.js";', "circle: main.js → main.js"),
    ],
)
def test_what_cannot_be_joined_stops_the_start(tmp_path: Path, source: str, named: str) -> None:
    with pytest.raises(ModuleError, match=r"main\.js") as raised:
        joined_modules(write(tmp_path, main=source, a="export const a = 1;\n"))
    assert named in str(raised.value)


def test_two_files_of_one_name_stop_the_start(tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    write(tmp_path / "below", a="")
    with pytest.raises(ModuleError, match=r"two modules are named a\.js"):
        joined_modules(write(tmp_path, main='import "./a.js";\nimport "./below/a.js";\n', a=""))


@pytest.mark.parametrize("script", [static.scripts().body, joined_modules(site.FIRST)])
def test_the_joined_script_is_a_classic_one(script: bytes, tmp_path: Path) -> None:
    file = tmp_path / "script.cjs"
    file.write_bytes(script)
    subprocess.run([NODE, "--check", file], check=True, timeout=60)
