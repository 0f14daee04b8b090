"""Scripts of others that Weir serves itself: the right version, with its licence."""

from __future__ import annotations

import re

from plotly.offline import get_plotlyjs_version

from web.dashboard import ASSETS, PLOTLY

BUNDLE = ASSETS / PLOTLY


def test_the_cartesian_bundle_is_the_version_that_plotly_draws_for() -> None:
    head = BUNDLE.read_text("utf-8")[:400]
    result = re.search(r"plotly\.js \(cartesian - minified\) v(\S+)", head)
    assert result is not None
    assert result[1] == get_plotlyjs_version()


def test_it_comes_with_its_licence() -> None:
    assert (BUNDLE.parent / "plotly-cartesian.LICENSE.txt").read_text("utf-8").startswith("MIT")


def test_our_own_scripts_name_no_other_host() -> None:
    for script in (*ASSETS.glob("*.js"), *ASSETS.glob("head/*.js"), *ASSETS.glob("*.css")):
        result = re.findall(r"(?:https?:)?//[a-z0-9.-]+\.[a-z]{2,}", script.read_text("utf-8"))
        # SVG elements are made in a namespace, which is a name and never asked for.
        assert set(result) <= {"http://www.w3.org"}, script.name
