"""Many small elements as JSON for the browser."""

from __future__ import annotations

import pytest
from dash import dcc, html

from components.controls import attributes, labelled
from components.html_json import as_nodes, output, store


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
    fields = {
        "colspan": "2",
        "class": "none",
        "style": "--share:4.5",
        "title": "<b>",
        "aria-label": "a cell",
        "data-from": "x",
    }
    assert as_nodes([cell, "end"]) == [["td", fields, ["4 ", ["span", {}, ["gal"]]]], "end"]


@pytest.mark.parametrize(
    ("disabled", "fields"), [(True, {"disabled": ""}), (False, {}), (None, {})]
)
def test_false_attributes_are_left_out(disabled: bool | None, fields: dict[str, str]) -> None:
    assert as_nodes(html.Button(disabled=disabled)) == [["button", fields, []]]


def test_no_elements_are_an_empty_list() -> None:
    assert as_nodes(None) == as_nodes([]) == as_nodes([[], None]) == []


def test_an_interactive_component_is_refused() -> None:
    with pytest.raises(TypeError, match="Link"):
        as_nodes(html.Div(dcc.Link("there", href="/")))


def test_elements_are_sent_to_the_store_of_their_container() -> None:
    assert (
        str(output("device-days")) == f"{store('device-days').to_plotly_json()['props']['id']}.data"
    )
