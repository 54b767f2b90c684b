"""A graph as a table, as blocks, as text for other programs, and its layout for a picture."""

import numpy as np
import pytest

from autodrill.practice.graph import Graph, Node
from autodrill.render.diagram import dot, layout, mermaid
from autodrill.render.graph import lines
from autodrill.render.layout import plain


def graph(*nodes):
    made = [
        Node(number, name, op, parents, np.ones((1, 2)), np.full((1, 2), -0.5))
        for number, (name, op, parents) in enumerate(nodes, 1)
    ]
    return Graph("h = x @ w; h*h + h", "retype", "the reference", tuple(made))


DIAMOND = graph(
    ("x", "", ()), ("w", "", ()), (None, "@", (1, 2)), (None, "*", (3, 3)), (None, "+", (4, 3))
)


@pytest.mark.parametrize("width", [100, 60, 40])
def test_it_fits_the_width(width):
    text = plain(lines(DIAMOND, width), width)
    assert max(map(len, text.splitlines())) <= width
    assert text.count("[[1.0, 1.0]]") == text.count("[[-0.5, -0.5]]") == 5
    assert text.count("gradient") == (5 if width == 40 else 1)


def test_mermaid_has_every_node_and_every_edge_as_often_as_it_is_used():
    rows = mermaid(DIAMOND).splitlines()
    assert rows[0] == "flowchart LR"
    assert rows.count("    n3 --> n4") == 2
    assert '    n4["#42;  (1, 2)<br/>value [[1.0, 1.0]]<br/>grad [[-0.5, -0.5]]"]' in rows


def test_graphviz_has_every_node_and_every_edge_as_often_as_it_is_used():
    text = dot(DIAMOND)
    assert text.startswith("digraph {")
    assert text.count("n3 -> n4;") == 2
    assert 'n1 [label="x  (1, 2)\\nvalue [[1.0, 1.0]]' in text


def test_what_an_engine_calls_its_operations_harms_no_format():
    evil = graph(("x", "", ()), (None, '"]; <script>\\\x1b[31m', (1,)))
    assert "<script>" not in mermaid(evil)
    assert '\\"]; <script>' in dot(evil)
    assert "\x1b" not in plain(lines(evil, 100), 100) + mermaid(evil) + dot(evil)


def test_a_node_stands_right_of_its_parents_and_a_leaf_beside_its_first_use():
    plan = layout(graph(("x", "", ()), (None, "exp", (1,)), ("b", "", ()), (None, "+", (2, 3))))
    assert [plan.places[number][0] for number in (1, 2, 3, 4)] == [0, 1, 1, 2]
    assert plan.places[2][1] != plan.places[3][1]


def test_a_long_edge_goes_around_the_nodes_between():
    plan = layout(DIAMOND)
    (long,) = [way for way in plan.ways if len(way) == 3]
    assert long[1] not in plan.places.values()
