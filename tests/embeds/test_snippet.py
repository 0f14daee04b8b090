"""The HTML to paste: a frame as high as its view."""

from __future__ import annotations

from typing import Any

from api.embeds import EmbedDefinition, Rolling, height_px, snippet
from tests.tables import cases


def definition(view: str, devices: int, **more: Any) -> EmbedDefinition:
    ids = tuple(f"device-{n}" for n in range(devices))
    return EmbedDefinition(
        view=view, devices=ids, origins=("https://a.example",), window=Rolling(86_400), **more
    )


@cases(
    ("view", "devices", "controls", "height"),
    [
        ("chart", 1, (), 420),
        ("chart", 1, ("range",), 464),
        ("tile", 1, (), 282),
        ("wall", 1, (), 292),
        ("wall", 4, (), 292),
        ("wall", 5, (), 500),
        ("wall", 50, ("zone",), 84 + 13 * 208 + 44),
    ],
)
def test_a_frame_is_as_high_as_its_view(
    view: str, devices: int, controls: tuple[str, ...], height: int
) -> None:
    made = definition(view, devices, controls=controls)
    assert height_px(made) == height
    assert f'height="{height}"' in snippet("https://weir.example", "e-1", "t", made)
