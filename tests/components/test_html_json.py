"""Many small elements as data."""

from __future__ import annotations

import pytest
from dash import dcc, html

from components.controls import attributes, labelled
from components.html_json import output, sheet, store


def test_elements_become_tags_attributes_and_nodes() -> None:
    cell = html.Td(
        ["4 ", html.Span("gal")],
        colSpan=2,
        className="none",
        style={"--share": 4.5},
        title="<b>",
        **labelled("a cell"),
        **attributes(data_from="x"),
    )
    said = {
        "colspan": "2",
        "class": "none",
        "style": "--share:4.5",
        "title": "<b>",
        "aria-label": "a cell",
        "data-from": "x",
    }
    assert sheet([cell, "end"]) == [["td", said, ["4 ", ["span", {}, ["gal"]]]], "end"]


@pytest.mark.parametrize(("disabled", "said"), [(True, {"disabled": ""}), (False, {}), (None, {})])
def test_what_is_off_is_left_out(disabled: bool | None, said: dict[str, str]) -> None:
    assert sheet(html.Button(disabled=disabled)) == [["button", said, []]]


def test_nothing_is_nothing() -> None:
    assert sheet(None) == sheet([]) == sheet([[], None]) == []


def test_a_component_with_a_life_of_its_own_is_none_of_it() -> None:
    with pytest.raises(TypeError, match="Link"):
        sheet(html.Div(dcc.Link("there", href="/")))


def test_a_sheet_goes_to_the_store_of_its_element() -> None:
    assert (
        str(output("device-days")) == f"{store('device-days').to_plotly_json()['props']['id']}.data"
    )
