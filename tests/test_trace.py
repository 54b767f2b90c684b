"""The graphs of `trace`, the judge of the answers, and the names of the mistakes."""

import itertools
import random

import numpy as np
import pytest

from autodrill.bugs import find_bug, load_bugs
from autodrill.cases.differences import central_differences
from autodrill.catalog import load_track, track_ids
from autodrill.engines.variants import variant
from autodrill.trace.answers import FORMS, Unclear, read_array
from autodrill.trace.graph import Graph, Node, apply, forward, solve
from autodrill.trace.levels import LEVELS, draw, level_of, listing
from autodrill.trace.mistakes import gradient_mistakes, wrong_gradients, wrong_sends
from autodrill.trace.questions import answer_to, judge, questions, working
from autodrill.trace.working import parts

SEEDS = range(200)
GRAPHS = [draw(level, seed) for level in LEVELS for seed in SEEDS]


def run(graph, name, array):
    """Compute the loss in plain NumPy with one node's value replaced."""
    values = {**graph.leaves, name: array}
    for node in graph.ops:
        if node.name != name:
            values[node.name] = forward(node, [values[one] for one in node.parents])
    return values[graph.loss.name]


def test_every_gradient_of_a_thousand_graphs_is_that_of_central_differences():
    for solved in GRAPHS:
        graph = solved.graph
        for name, value in solved.values.items():
            measured = central_differences(
                lambda x, graph=graph, name=name: run(graph, name, x), value, np.ones(())
            )
            np.testing.assert_allclose(measured, solved.grads[name], rtol=1e-6, atol=1e-6)


def test_every_value_of_a_thousand_graphs_is_numpys():
    for solved in GRAPHS:
        for node in solved.graph.ops:
            own = forward(node, [solved.values[one] for one in node.parents])
            np.testing.assert_array_equal(own, solved.values[node.name])


def test_the_right_answers_of_a_thousand_graphs_are_judged_right():
    for solved in GRAPHS:
        for question in questions(solved.graph):
            assert judge(solved, question, answer_to(solved, question)).is_right
            assert working(solved, question)


def test_any_wrong_number_is_judged_wrong():
    for solved in GRAPHS[::4]:
        for question in questions(solved.graph)[1:]:
            right = (solved.values if question.kind == "value" else solved.grads)[question.node]
            assert not judge(solved, question, str((right + 1).tolist())).is_right


def test_every_topological_order_is_right_and_every_other_is_wrong():
    for solved in GRAPHS[::10]:
        graph, question = solved.graph, questions(solved.graph)[0]
        names = [one.name for one in graph.ops]
        for order in itertools.islice(itertools.permutations(names), 120):
            is_valid = all(
                order.index(parent) < order.index(node.name)
                for node in graph.ops
                for parent in node.parents
                if parent in names
            )
            assert judge(solved, question, " ".join(order)).is_right == is_valid


@pytest.mark.parametrize("level", LEVELS, ids=lambda one: one.id)
def test_a_level_has_what_it_promises(level):
    kinds = set()
    for seed in SEEDS[:60]:
        solved = draw(level, seed)
        graph = solved.graph
        kinds.add(tuple((one.op, one.parents) for one in graph.ops))
        assert 2 <= len(graph.leaves) <= 3
        assert 2 <= len(graph.ops) <= 6
        uses = [name for one in graph.nodes for name in one.parents]
        assert all(uses.count(one.name) for one in graph.nodes[:-1])
        if "twice" in level.needs:
            assert any(uses.count(leaf) > 1 for leaf in graph.leaves)
        for array in (*solved.values.values(), *solved.grads.values()):
            assert array.ndim <= 2 and max(array.shape, default=0) <= 2
            assert abs(array).max() <= 60 and (array == array.astype(int)).all()
        for node in graph.ops:
            if node.op == "relu":
                assert (solved.values[node.parents[0]] != 0).all()
    assert len(kinds) >= 10


def test_the_classics_are_drawn():
    two, four = (
        {draw(level_of(number), seed).graph.expression() for seed in SEEDS} for number in (2, 4)
    )
    assert "sum(a * b + a)" in two
    assert "sum(relu(X @ W + b))" in four


def test_a_seed_draws_the_same_graph_again_and_its_listing_gives_no_order_away():
    for level, seed in itertools.product(LEVELS, range(20)):
        one, other = draw(level, seed), draw(level, seed)
        assert one.graph.nodes == other.graph.nodes
        assert {k: v.tolist() for k, v in one.graph.leaves.items()} == {
            k: v.tolist() for k, v in other.graph.leaves.items()
        }
        names = " ".join(node.name for node in listing(one.graph, seed))
        assert not judge(one, questions(one.graph)[0], names).is_right


def test_the_layer_has_four_nodes_and_sums_the_bias_over_the_batch():
    solved = layer()
    assert [one.op for one in solved.graph.ops] == ["matmul", "add", "relu", "sum"]
    per_row = solved.grads["s"]
    np.testing.assert_array_equal(solved.grads["b"], per_row.sum(axis=0))
    lines = working(solved, gradient(solved, "b"))
    assert any("copied along axis 0" in one for one in lines)


# The names of the mistakes ---------------------------------------------------------------------


def layer():
    nodes = (
        Node("X", "leaf"),
        Node("W", "leaf"),
        Node("b", "leaf"),
        Node("p", "matmul", ("X", "W")),
        Node("s", "add", ("p", "b")),
        Node("r", "relu", ("s",)),
        Node("L", "sum", ("r",)),
    )
    leaves = {
        "X": np.array([[1.0, 2.0], [-3.0, 1.0]]),
        "W": np.array([[2.0, -1.0], [1.0, 3.0]]),
        "b": np.array([1.0, -2.0]),
    }
    return solve(Graph(nodes, leaves))


def classic():
    nodes = (
        Node("a", "leaf"),
        Node("b", "leaf"),
        Node("m", "mul", ("a", "b")),
        Node("s", "add", ("m", "a")),
        Node("L", "sum", ("s",)),
    )
    return solve(Graph(nodes, {"a": np.array([2.0, -3.0]), "b": np.array([4.0, 3.0])}))


def gradient(solved, name):
    return next(
        one for one in questions(solved.graph) if one.kind == "gradient" and one.node == name
    )


def named(solved, name, text):
    judged = judge(solved, gradient(solved, name), text)
    assert not judged.is_right
    return judged


def test_in_the_classic_a_gets_b_plus_one_and_b_gets_a():
    solved = classic()
    assert answer_to(solved, gradient(solved, "a")) == "[5, 4]"
    assert answer_to(solved, gradient(solved, "b")) == "[2, -3]"
    assert working(solved, gradient(solved, "a")) == (
        "a is used 2 times (m = a * b, s = m + a): add what each use sends",
        "da = dm * b + ds",
        "dm = [1, 1], so dm * b = [1, 1] * [4, 3] = [4, 3]",
        "ds = [1, 1]",
        "da = [4, 3] + [1, 1] = [5, 4]",
    )


def test_a_forgotten_use_is_named():
    assert named(classic(), "a", "4 3").diagnosis.bug == "overwrites-gradient"
    assert named(classic(), "a", "1 1").diagnosis.bug == "add-overwrites-gradient"


def test_a_bias_that_is_not_summed_is_named_and_so_is_its_shape():
    judged = named(layer(), "b", "1 1; 0 1")
    assert judged.diagnosis.bug == "add-not-reduced"
    assert "shape (2, 2) is wrong" in judged.message


def test_relu_without_its_mask_is_named():
    assert named(layer(), "s", "1 1; 1 1").diagnosis.bug == "relu-mask-missing"


def test_an_order_from_the_back_is_named():
    judged = judge(layer(), questions(layer().graph)[0], "L r s p")
    assert judged.diagnosis.bug == "order-not-reversed"


def test_a_matrix_product_entry_by_entry_is_named():
    solved = layer()
    question = next(one for one in questions(solved.graph) if one.asks == "p")
    assert judge(solved, question, "2 -2; -3 3").diagnosis.bug == "matmul-elementwise-forward"


def test_what_no_mistake_gives_gets_no_name_but_its_entries():
    judged = named(layer(), "W", "99 1; 7 -2")
    assert judged.diagnosis is None
    assert "entries wrong: at" in judged.message


def test_every_mistake_is_in_a_catalogue_and_is_named_on_some_graph():
    met = set()
    for solved in GRAPHS:
        for node in solved.graph.nodes[:-1]:
            for bug, array in wrong_gradients(solved, node.name):
                if bug in met:
                    continue
                judged = named(solved, node.name, str(array.tolist()))
                found = judged.diagnosis
                assert bug in (found.bug, *found.also)
                assert (found.title, found.why) == (
                    find_bug(found.bug).title,
                    find_bug(found.bug).why,
                )
                met.add(bug)
    assert met == set(gradient_mistakes())


def test_a_mistake_gives_what_the_bug_of_its_name_gives():
    """Each operation alone is run on the variants of the references with that bug in them."""
    met, order = set(), [one for one in GRAPHS if one.graph.loss.op == "sum"][::9]
    variants = {
        bug.id: variant(track, bug)
        for track in map(load_track, track_ids())
        for bug in load_bugs(track)
        if bug.id in gradient_mistakes()
    }
    for solved in order:
        for node in solved.graph.nodes[:-1]:
            for part in parts(solved, node.name):
                sends = {}
                for bug, sent in wrong_sends(solved, part):
                    sends.setdefault(bug, []).append(sent)
                for bug, candidates in sends.items():
                    got = sent_by(variants[bug], solved, part)
                    if got is None:
                        continue
                    assert any(
                        got.shape == one.shape and np.allclose(got, one) for one in candidates
                    ), (bug, part, got, candidates)
                    met.add(bug)
    named = {one for one in gradient_mistakes() if "overwrites" not in one}
    assert met == named - {"add-not-reduced", "mul-not-reduced"}  # their engines raise


def sent_by(engine, solved, part):
    """Return the gradient that an engine gives an operand, None where it raises."""
    leaves = [
        engine.suite.leaf(engine.lib, np.array(solved.values[name]))
        for name in part.consumer.parents
    ]
    try:
        out = apply(part.consumer, leaves)
        engine.suite.backward(engine.lib, out, np.array(solved.grads[part.consumer.name]))
    except ValueError:
        return None
    return np.asarray(leaves[part.slot].grad)


# Answers as they are typed ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3", 3),
        (" -1.5 ", -1.5),
        ("−2", -2),
        ("1/2", 0.5),
        ("1 2", [1, 2]),
        ("1, 2", [1, 2]),
        ("[1, 2]", [1, 2]),
        ("(1, 2)", [1, 2]),
        ("1 2; 3 4", [[1, 2], [3, 4]]),
        ("[1 2; 3 4]", [[1, 2], [3, 4]]),
        ("[[1,2],[3,4]]", [[1, 2], [3, 4]]),
        ("[[1. 2.] [3. 4.]]", [[1, 2], [3, 4]]),
        ("array([[1, 2]])", [[1, 2]]),
        ("1 2;", [[1, 2]]),
        ("1; 2", [[1], [2]]),
        ("[1, 2], [3, 4]", [[1, 2], [3, 4]]),
    ],
)
def test_an_array_is_read_in_every_form(text, value):
    read = read_array(text)
    assert read.shape == np.shape(value)
    np.testing.assert_array_equal(read, value)


@pytest.mark.parametrize(
    "text",
    [
        *("", "x", "1 2; 3", "[1, 2", "1]", "1 2x", "1/0", "nan", "inf", "1e999", "9" * 390),
        *("[" * 9, "1" * 500, "[[1], 2]", ";", "--1", "\x1b[31m", "1 2 \ud800"),
    ],
)
def test_what_cannot_be_read_is_said(text):
    with pytest.raises(Unclear) as caught:
        read_array(text)
    assert str(caught.value)


def test_a_row_stands_for_a_matrix_of_one_row_only_where_that_is_due():
    nodes = (Node("a", "leaf"), Node("r", "relu", ("a",)), Node("L", "sum", ("r",)))
    solved = solve(Graph(nodes, {"a": np.array([[1.0, -2.0]])}))
    question = gradient(solved, "a")
    assert judge(solved, question, "1 0").is_right
    assert not judge(solved, question, "[1, 0]").is_right
    assert not judge(classic(), gradient(classic(), "a"), "5 4;").is_right


def test_random_text_is_judged_or_said_to_be_unclear():
    rng, solved = random.Random(0), layer()
    for question in questions(solved.graph):
        for _ in range(200):
            text = "".join(rng.choices("0123456789[];,.-/ mspXWb\x00é", k=rng.randrange(12)))
            try:
                judge(solved, question, text)
            except Unclear as unclear:
                assert str(unclear)


def test_the_forms_that_are_shown_can_be_read():
    for text in FORMS.split("`")[1::2]:
        read_array(text)
