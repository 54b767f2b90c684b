"""Diagnosis on engines written differently from the reference: named right, or not at all."""

import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from first_failure import engine_of, first_failure, lab01, reference
from mutants import mutants

from autodrill.bugs import Bug, Patch, bugs_in, load_bugs
from autodrill.cases.agree import is_misshapen, same
from autodrill.cases.judge import Mismatch
from autodrill.cases.outcome import Outcome, Raised
from autodrill.cases.scenario import Case, Scenario
from autodrill.diagnose import Evidence
from autodrill.engines.reference import load_suite, reference_engine
from autodrill.engines.variants import symbols_run, variant
from autodrill.grading.grade import Grade
from autodrill.grading.naming import name
from autodrill.grading.run import grade_symbol, grade_targets
from autodrill.grading.session import run_graders
from autodrill.patterns import Wrong, name_pattern
from autodrill.stubs import text_of

CLASSES, CLOSURES, EINSUM = "lab01_classes", "lab01_closures", "lab01_einsum"


@dataclass(frozen=True)
class Planted:
    """A mistake in one of the engines: what is named on the first test that fails."""

    engine: str
    named: str | None
    changes: tuple[tuple[str, str], ...]


def planted(engine, named, *changes):
    pairs = tuple(zip(changes[::2], changes[1::2], strict=True))
    return Planted(engine, named, pairs)


KNOWN = [
    # closures
    planted(CLOSURES, "unbroadcast-one-leading-axis", "while grad.ndim", "if grad.ndim"),
    planted(
        CLOSURES,
        "unbroadcast-keepdims-lost",
        "grad = grad.sum(axis=axis, keepdims=True)",
        "grad = grad.sum(axis=axis)",
    ),
    planted(
        CLOSURES,
        "overwrites-gradient",
        "grads[id(parent)] = grads[id(parent)] + part",
        "grads[id(parent)] = part",
    ),
    planted(
        CLOSURES,
        "pending-added-in-place",
        "grads[id(parent)] = grads[id(parent)] + part",
        "grads[id(parent)] += part",
    ),
    planted(
        CLOSURES,
        "accumulation-lost-across-backwards",
        "node.grad = node.grad + g",
        "node.grad = g.copy()",
    ),
    planted(
        CLOSURES,
        "constant-gets-gradient",
        " or not node.requires_grad",
        "",
        "if parent.requires_grad and part is not None:",
        "if part is not None:",
    ),
    planted(
        CLOSURES, "stale-intermediates", "node._vjp(g), strict", "node._vjp(node.grad), strict"
    ),
    planted(CLOSURES, "wrong-error-nonscalar", "raise RuntimeError(", "raise ValueError("),
    planted(
        CLOSURES,
        "nonscalar-root-accepted",
        "if grad is None and self.data.size > 1:",
        "if self.data is None:",
    ),
    planted(
        CLOSURES,
        "given-gradient-ignored",
        "np.ones(self.shape) if grad is None else np.array(grad, dtype=np.float64)",
        "np.ones(self.shape)",
    ),
    planted(
        CLOSURES,
        "order-not-reversed",
        "reversed(_topological_order(self))",
        "_topological_order(self)",
    ),
    planted(
        CLOSURES,
        "recursive-traversal",
        """    while stack:
        node = stack[-1]
        visited.add(id(node))
        waiting = [p for p in node._parents if id(p) not in visited]
        if waiting:
            stack.append(waiting[0])
        else:
            stack.pop()
            order.append(node)
    return order
""",
        """
    def visit(node):
        visited.add(id(node))
        for parent in node._parents:
            if id(parent) not in visited:
                visit(parent)
        order.append(node)

    visit(root)
    return order
""",
    ),
    planted(
        CLOSURES,
        "swapped-operands",
        "da = unbroadcast(g * other.data, self.shape)",
        "da = unbroadcast(g * self.data, self.shape)",
        "db = unbroadcast(g * self.data, other.shape)",
        "db = unbroadcast(g * other.data, other.shape)",
    ),
    planted(
        CLOSURES,
        "unbroadcast-one-operand",
        "return unbroadcast(g, self.shape), unbroadcast(g, other.shape)",
        "return unbroadcast(g, self.shape), g",
    ),
    planted(CLOSURES, "div-sign", "db = -g * self.data / other", "db = g * self.data / other"),
    planted(CLOSURES, "div-square-missing", "self.data / other.data**2", "self.data / other.data"),
    planted(CLOSURES, "pow-exponent-missing", "(g * p * self.data", "(g * self.data"),
    planted(CLOSURES, "exp-uses-input", "(g * out.data,)", "(g * self.data,)"),
    planted(CLOSURES, "log-inverted", "(g / self.data,)", "(g * self.data,)"),
    planted(CLOSURES, "relu-at-zero", "mask = self.data > 0", "mask = self.data >= 0"),
    planted(CLOSURES, "tanh-square-missing", "((1 - t**2) * g,)", "((1 - t) * g,)"),
    planted(
        CLOSURES,
        "matmul-all-axes-transposed",
        "np.swapaxes(other.data, -1, -2)",
        "other.data.T",
        "np.swapaxes(self.data, -1, -2)",
        "self.data.T",
    ),
    planted(
        CLOSURES,
        "matmul-batch-not-summed",
        """db = np.swapaxes(self.data, -1, -2) @ g
            return unbroadcast(da, self.shape), unbroadcast(db, other.shape)""",
        """db = np.swapaxes(self.data, -1, -2) @ g
            return unbroadcast(da, self.shape), db""",
    ),
    planted(
        CLOSURES,
        "sum-axis-not-restored",
        "if axis is not None and not keepdims:",
        "if False:",
    ),
    planted(
        CLOSURES,
        "sum-keepdims-not-considered",
        "if axis is not None and not keepdims:",
        "if axis is not None:",
    ),
    planted(
        CLOSURES,
        "axis-zero-is-none",
        "self.data.sum(axis=axis, keepdims=keepdims), (self,), vjp",
        "self.data.sum(axis=axis or None, keepdims=keepdims), (self,), vjp",
    ),
    planted(
        CLOSURES,
        "transpose-forward-permutation",
        "[axes.index(i) for i in range(len(axes))]",
        "axes",
    ),
    planted(CLOSURES, "scatter-drops-duplicates", "np.add.at(full, index, g)", "full[index] += g"),
    planted(
        CLOSURES,
        "logsumexp-unstable",
        "m = np.max(self.data, axis=axis, keepdims=True)",
        "m = 0.0",
    ),
    planted(
        CLOSURES,
        "log-softmax-axis-dropped",
        "return x - x.logsumexp(axis=axis, keepdims=True)",
        "return x - x.logsumexp(axis=axis)",
    ),
    planted(CLOSURES, "cross-entropy-sign", "return -picked.mean()", "return picked.mean()"),
    planted(CLOSURES, "cross-entropy-over-all-entries", "* onehot).sum(axis=1)", "* onehot)"),
    planted(CLOSURES, "finite-difference-not-restored", "        x[i] = old\n", ""),
    planted(CLOSURES, "finite-difference-missing-two", "/ (2 * eps)", "/ eps"),
    planted(
        CLOSURES,
        "finite-difference-one-sided",
        "x[i] = old - eps",
        "x[i] = old",
        "/ (2 * eps)",
        "/ eps",
    ),
    planted(CLOSURES, "sgd-not-cleared", "        p.grad = None\n", ""),
    planted(CLOSURES, "sgd-last-cleared-only", "        p.grad = None\n", "    p.grad = None\n"),
    # closures, where another engine would have raised, or kept what it was given
    planted(
        CLOSURES,
        "matmul-exchanged",
        """db = np.swapaxes(self.data, -1, -2) @ g
            return unbroadcast(da, self.shape), unbroadcast(db, other.shape)""",
        """db = np.swapaxes(self.data, -1, -2) @ g
            return unbroadcast(db, other.shape), unbroadcast(da, self.shape)""",
    ),
    planted(CLOSURES, "getitem-not-scattered", "return (full,)", "return (g,)"),
    planted(
        CLOSURES,
        "aliased-gradient-inside",
        """node.grad = np.zeros(node.shape)
            node.grad = node.grad + g""",
        """node.grad = g
            else:
                node.grad = node.grad + g""",
    ),
    planted(
        CLOSURES,
        "float32-data",
        """np.array(data, dtype=np.float64)
        self.requires""",
        """np.array(data, dtype=np.float32)
        self.requires""",
    ),
    planted(
        CLOSURES,
        "softmax-unstable-quotient",
        "return x - x.logsumexp(axis=axis, keepdims=True)",
        "return (x.exp() / x.exp().sum(axis=axis, keepdims=True)).log()",
    ),
    planted(
        CLOSURES,
        "visits-twice-from-grad",
        """            g = grads[id(node)]
            if node.grad is None:
                node.grad = np.zeros(node.shape)
            node.grad = node.grad + g
            if node._vjp is not None:
                for parent, part in zip(node._parents, node._vjp(g), strict=True):
                    if parent.requires_grad and part is not None:
                        if id(parent) in grads:
                            grads[id(parent)] = grads[id(parent)] + part
                        else:
                            grads[id(parent)] = part
""",
        """            break
        self.grad = seed

        def run(node):
            if node._vjp is None:
                return
            for parent, part in zip(node._parents, node._vjp(node.grad), strict=True):
                if parent.requires_grad and part is not None:
                    parent.grad = (0 if parent.grad is None else parent.grad) + part
            for parent in node._parents:
                if parent.requires_grad:
                    run(parent)

        run(self)
""",
    ),
    # classes
    planted(
        CLASSES,
        "add-left-not-reduced",
        "return unbroadcast(da, self.shapes[0]), unbroadcast(db, self.shapes[1])",
        "return da, unbroadcast(db, self.shapes[1])",
    ),
    planted(
        CLASSES,
        "swapped-operands",
        "return self.b * g, self.a * g",
        "return self.a * g, self.b * g",
    ),
    planted(CLASSES, "div-sign", "-(self.y / self.b) * g", "(self.y / self.b) * g"),
    planted(CLASSES, "matmul-all-axes-transposed", "return np.moveaxis(x, -1, -2)", "return x.T"),
    planted(CLASSES, "matmul-transpose-missing", "return np.moveaxis(x, -1, -2)", "return x"),
    planted(CLASSES, "relu-mask-missing", "np.where(self.y > 0,", "np.where(self.y >= 0,"),
    planted(CLASSES, "getitem-upstream-ignored", " weights=np.ravel(g),", ""),
    planted(CLASSES, "logsumexp-not-normalised", "np.exp(x - kept)", "np.exp(x - top)"),
    planted(CLASSES, "logsumexp-max-lost", "keepdims=True)) + top", "keepdims=True))"),
    planted(
        CLASSES,
        "reshape-order",
        "return np.reshape(g, self.shapes[0])",
        'return np.reshape(g, self.shapes[0], order="F")',
    ),
    planted(
        CLASSES,
        "transpose-forward-permutation",
        "None if self.axes is None else np.argsort(self.axes)",
        "self.axes",
    ),
    planted(
        CLASSES,
        "transpose-default-forgotten",
        "None if self.axes is None else np.argsort(self.axes)",
        "np.argsort(self.axes or ())",
    ),
    planted(
        CLASSES,
        "overwrites-gradient",
        "arrived.get(id(parent), 0.0) + part",
        "part",
    ),
    planted(
        CLASSES,
        "accumulation-lost-across-backwards",
        "g.copy() if node.grad is None else node.grad + g",
        "g.copy()",
    ),
    planted(CLASSES, "all-parents-must-require", "if not any(p.", "if not all(p."),
    planted(CLASSES, "exp-upstream-ignored", "return self.y * g", "return self.y.copy()"),
    planted(CLASSES, "log-inverted", "np.reciprocal(self.x) * g", "self.x * g"),
    planted(CLASSES, "pow-exponent-not-reduced", "self.p - 1.0", "self.p"),
    planted(
        CLASSES,
        "sum-axis-not-restored",
        "g.reshape(self.kept), self.shapes[0]",
        "g, self.shapes[0]",
    ),
    planted(CLASSES, "mean-count-wrong", "(self.data.size / total.data.size)", "self.data.size"),
    planted(CLASSES, "finite-difference-of-a-copy", "x.reshape(-1), grad", "x.flatten(), grad"),
    planted(CLASSES, "cross-entropy-sum", "(-1.0 / n)", "-1.0"),
    planted(
        CLASSES,
        "cross-entropy-picks-columns",
        "[np.arange(n), np.asarray(targets)].sum() * (-1.0 / n)",
        "[:, np.asarray(targets)].mean() * -1.0",
    ),
    planted(CLASSES, "sgd-ascends", "p.data - p.grad * lr", "p.data + p.grad * lr"),
    planted(
        CLASSES, "log-softmax-global-max", "x.data.max(axis=axis, keepdims=True)", "x.data.max()"
    ),
    # einsum
    planted(
        EINSUM,
        "unbroadcast-prepended-only-reshaped",
        "strict=True) if n != 1)",
        "strict=True))",
    ),
    planted(
        EINSUM, "matmul-left-transpose-missing", '"...ij,...kj->...ik"', '"...ij,...jk->...ik"'
    ),
    planted(EINSUM, "cross-entropy-upstream-ignored", "delta * g / n", "delta / n"),
    planted(EINSUM, "cross-entropy-gradient-not-averaged", "delta * g / n", "delta * g"),
    planted(EINSUM, "cross-entropy-onehot-missing", "delta[np.arange(n), targets] -= 1.0", "pass"),
    planted(EINSUM, "log-softmax-not-summed", "g.sum(axis=axis, keepdims=True)", "g"),
    planted(EINSUM, "log-softmax-summed-over-all", "g.sum(axis=axis, keepdims=True)", "g.sum()"),
    planted(
        EINSUM,
        "transpose-forward-permutation",
        "np.moveaxis(g, range(self.ndim), axes)",
        "g.transpose(axes)",
    ),
    planted(EINSUM, "tanh-parentheses-missing", "g - g * np.square(y)", "g - np.square(y)"),
    planted(EINSUM, "div-square-missing", "b**-2.0", "b**-1.0"),
    planted(EINSUM, "relu-at-zero", "np.heaviside(x, 0.0)", "np.heaviside(x, 1.0)"),
    planted(
        EINSUM,
        "overwrites-gradient",
        "flows[parent._age] = flows[parent._age] + part",
        "flows[parent._age] = part",
    ),
    planted(
        EINSUM,
        "pending-added-in-place",
        "flows[parent._age] = flows[parent._age] + part",
        "flows[parent._age] += part",
    ),
    planted(EINSUM, "root-not-seeded", "np.full(self.shape, 1.0)", "np.full(self.shape, 0.0)"),
    planted(EINSUM, "finite-difference-missing-two", "(eps + eps)", "eps"),
    planted(EINSUM, "finite-difference-not-restored", "        x[index] = here\n", ""),
    planted(EINSUM, "sgd-rate-ignored", "np.multiply(lr, p.grad)", "p.grad"),
    planted(
        EINSUM,
        "logsumexp-axis-not-restored",
        "np.exp(self.data - kept) * g.reshape(kept.shape)",
        "np.exp(self.data - kept) * g",
    ),
    planted(
        EINSUM,
        "logsumexp-gradient-ones",
        "np.exp(self.data - kept) * g.",
        "np.ones(self.shape) * g.",
    ),
    planted(
        EINSUM,
        "logsumexp-unstable",
        "kept = np.logaddexp.reduce(self.data, axis=axis, keepdims=True)",
        "kept = np.log(np.exp(self.data).sum(axis=axis, keepdims=True))",
    ),
    planted(EINSUM, "reshape-not-undone", "(g.reshape(self.data.shape),)", "(g,)"),
    planted(EINSUM, "sum-upstream-ignored", "np.tile(g.reshape(kept),", "np.tile(np.ones(kept),"),
    planted(
        EINSUM,
        "cross-entropy-detached",
        "return Tensor._make(loss, (logits,), vjp, ",
        "return Tensor(loss) if loss else (vjp, ",
    ),
]

# What no catalogue knows: the name is a general pattern, or there is none.
UNKNOWN = [
    planted(CLOSURES, None, "(g * mask,)", "(g * np.where(mask, 1.0, 0.01),)"),
    planted(CLOSURES, "pattern-constant-factor", "((1 - t**2) * g,)", "((1 - t**2) * g * 0.7,)"),
    planted(CLOSURES, "pattern-sign", "(g * out.data,)", "(-g * out.data,)"),
    planted(CLOSURES, "pattern-doubled", "(g / self.data,)", "(2 * g / self.data,)"),
    planted(CLOSURES, "pattern-zero", "np.ones(self.shape) * g", "np.zeros(self.shape) * g"),
    planted(CLOSURES, "pattern-misplaced", "(g.reshape(old),)", "(np.roll(g.reshape(old), 1),)"),
    planted(CLOSURES, "pattern-constant-factor", "(full, index, g)", "(full, index, 3 * g)"),
    planted(CLOSURES, None, "da = g @ np.swap", "da = abs(g) @ np.swap"),
    planted(CLOSURES, "pattern-constant-factor", "(parent)] + part", "(parent)] + 2 * part"),
    planted(CLOSURES, "pattern-constant-factor", "targets] = 1.0", "targets] = 0.9"),
    planted(CLOSURES, None, ".log() + m", ".log() + 2 * m"),
    planted(CLOSURES, None, "da = g / other.data", "da = g / othr.data"),
    planted(CLOSURES, None, "node._vjp(g), strict", "node._vjp(), strict"),
    planted(CLOSURES, None, "x[i] = old + eps", "x[i] = old + 2 * eps"),
    planted(CLASSES, None, "np.cosh(self.x) ** 2", "np.cosh(self.x)"),
    planted(CLASSES, None, "z.exp().sum(axis=axis,", "z.exp().sum(axis=0,"),
    planted(CLASSES, None, "p.data - p.grad * lr", "p.data * 0.9 - p.grad * lr"),
    planted(EINSUM, None, "np.heaviside(x, 0.0)", "np.heaviside(x, 0.5)"),
    planted(EINSUM, None, "heappush(ages, -parent._age)", "heappush(ages, -1 / parent._age)"),
    planted(EINSUM, "pattern-sign", "unbroadcast(-g, other.shape)", "unbroadcast(g, other.shape)"),
]


def name_of(one):
    return f"{one.engine.removeprefix('lab01_')}-{one.named}"


def failure_of(one):
    track = lab01()
    return first_failure(track, engine_of(track, one.engine, *one.changes))


def graded(engine, *target_ids):
    """Grade whole targets, all of them to their end."""
    track = lab01()
    grade = Grade(load_suite(track), engine, reference(track))
    targets = [track.target(one) for one in target_ids]
    return grade_targets(track, grade, targets, Path(track.engine_file), go_on=True)


def graded_alone(engine, symbol):
    """Grade one symbol by its own cases."""
    track = lab01()
    grade = Grade(load_suite(track), engine, reference(track))
    target = next(one for one in track.targets if symbol in one.symbols)
    return grade_symbol(track, grade, target, symbol, Path(track.engine_file))


def names_in(result):
    return [one.diagnosis.bug if one.diagnosis else None for one in result.failures]


@pytest.mark.parametrize("name", [CLASSES, CLOSURES, EINSUM])
def test_a_correct_engine_passes_however_it_is_written(name):
    assert first_failure(lab01(), engine_of(lab01(), name)) is None


@pytest.mark.parametrize("one", KNOWN, ids=name_of)
def test_a_known_bug_is_caught_and_named_in_any_engine(one):
    failure = failure_of(one)

    assert failure is not None
    assert failure.diagnosis is not None, failure.message
    assert (failure.diagnosis.bug, failure.diagnosis.confidence) == (one.named, "exact")
    assert failure.diagnosis.also == ()


@pytest.mark.parametrize("one", UNKNOWN, ids=name_of)
def test_an_unknown_bug_is_caught_and_never_given_the_name_of_another(one):
    failure = failure_of(one)

    assert failure is not None
    found = failure.diagnosis
    assert (found and found.bug) == one.named
    assert found is None or found.confidence == "pattern"


MUTANTS = [
    (symbol, mutant)
    for symbol in lab01().symbols
    for mutant in mutants(text_of(lab01().reference.read_text(encoding="utf-8"), symbol))
]


@pytest.mark.parametrize(
    ("symbol", "mutant"), MUTANTS[::8], ids=lambda one: getattr(one, "id", one)
)
def test_the_name_of_a_mechanical_mutant_is_right_on_every_probe(symbol, mutant):
    track = lab01()
    text = text_of(track.reference.read_text(encoding="utf-8"), symbol)
    engine = variant(track, Bug(mutant.id, "", "", "", "", (Patch(symbol, text, mutant.source),)))
    quick = [one for target in track.targets for one in target.tests if "spirals" not in one]

    failure = first_failure(track, engine, quick)

    if failure and failure.diagnosis and failure.diagnosis.confidence == "exact":
        named = next(bug for bug in load_bugs(track) if bug.id == failure.diagnosis.bug)
        for probe in cheap_probes(track):
            request = probe.request()
            outcomes = engine.run(request, 10.0), variant(track, named).run(request, 10.0)
            agree = same(probe.scenario, *outcomes)
            assert agree or all(is_misshapen(request, one) for one in outcomes), probe


@cache
def cheap_probes(track):
    found = []
    engine = reference(track)
    grade = Grade(load_suite(track), engine, engine)
    run_graders(track.tests, grade, lambda _: 0, lambda _: not found, found.append)
    return [one for one in found[0].probes() if one.scenario.inputs]


# Several bugs at once


def test_two_bugs_are_each_named_at_their_own_target():
    engine = engine_of(
        lab01(),
        CLOSURES,
        ("db = -g * self.data / other", "db = g * self.data / other"),
        (
            """np.swapaxes(self.data, -1, -2) @ g
            return unbroadcast(da, self.shape), unbroadcast(db, other.shape)""",
            """np.swapaxes(self.data, -1, -2) @ g
            return unbroadcast(da, self.shape), db""",
        ),
    )

    elementwise, matmul = graded(engine, "elementwise", "matmul")

    assert set(names_in(elementwise)) == {"div-sign"}
    assert set(names_in(matmul)) == {"matmul-batch-not-summed"}


def test_two_bugs_of_one_target_are_each_named_at_their_own_symbol():
    engine = engine_of(
        lab01(),
        CLASSES,
        ("np.reciprocal(self.x) * g", "self.x * g"),
        ("return self.y * g", "return self.x_ * g"),
        ("self.y = np.exp(x)", "self.x_ = x\n        self.y = np.exp(x)"),
    )

    assert set(names_in(graded_alone(engine, "Tensor.log"))) == {"log-inverted"}
    assert set(names_in(graded_alone(engine, "Tensor.exp"))) == {"exp-uses-input"}


def test_a_bug_in_addition_is_named_beside_one_in_backward():
    engine = engine_of(
        lab01(),
        EINSUM,
        ("lambda g: tuple(unbroadcast(g, shape) for shape in shapes)", "lambda g: (g, g)"),
        ("if grad is None and self.data.size != 1:", "if self.data is None:"),
    )

    (backward,) = graded(engine, "backward")

    assert {"add-not-reduced", "nonscalar-root-accepted"} <= set(names_in(backward))


UNREDUCED = ("return grad.sum(axis=axes, keepdims=True).reshape(shape)", "return grad")


@pytest.mark.parametrize("symbol", ["Tensor.__matmul__", "Tensor.__truediv__", "Tensor.__add__"])
def test_a_bug_in_unbroadcast_is_named_when_it_is_seen_through_an_operation(symbol):
    result = graded_alone(engine_of(lab01(), CLASSES, UNREDUCED), symbol)

    assert set(names_in(result)) == {"unbroadcast-missing"}


def test_an_operation_that_does_not_reduce_is_not_taken_for_unbroadcast():
    engine = engine_of(
        lab01(),
        CLASSES,
        (
            "return unbroadcast(da, self.shapes[0]), unbroadcast(db, self.shapes[1])",
            "return da, db",
        ),
    )

    assert set(names_in(graded_alone(engine, "Tensor.__matmul__"))) == {"matmul-no-batch-summed"}


def test_a_bug_that_was_named_once_is_named_again_in_the_other_tests():
    engine = engine_of(lab01(), CLOSURES, ("mask = self.data > 0", "mask = self.data >= 0"))
    bias = ("return unbroadcast(g, self.shape), unbroadcast(g, other.shape)", "return g, g")

    assert names_in(graded_alone(engine, "Tensor.relu")) == ["relu-at-zero"]
    (backward,) = graded(engine_of(lab01(), CLOSURES, bias), "backward")
    assert backward.failed > 0
    assert set(names_in(backward)) == {"add-not-reduced"}


def test_nothing_is_named_where_the_values_are_right():
    """As in a strict test that minds an input that was changed in place."""
    track = lab01()
    grade = Grade(load_suite(track), reference(track), reference(track))
    probe = next(one for one in cheap_probes(track) if one.scenario.id == "add")
    outcome = reference(track).run(probe.request(), 10.0)
    failing = [Evidence(probe.scenario, probe.request(), outcome)]
    mismatch = Mismatch("fail", "graph", None, "`a` was changed in place")

    assert name(track, grade, failing, mismatch, cheap_probes(track)) is None


def test_the_symbols_that_a_request_runs_are_those_of_the_file():
    track = lab01()
    probe = next(one for one in cheap_probes(track) if one.scenario.id == "relu")

    ran = symbols_run(reference_engine(track), probe.request())

    assert {"Tensor.relu", "Tensor.backward", "Tensor._make", "_topological_order"} <= ran
    assert not {"unbroadcast", "Tensor.exp", "relu"} & ran


def test_a_profiler_is_left_alone():
    track = lab01()
    engine, request = reference_engine(track), cheap_probes(track)[0].request()
    calls = []
    sys.setprofile(lambda *one: calls.append(one))
    try:
        ran = symbols_run(engine, request)
    finally:
        sys.setprofile(None)

    assert set(track.symbols) <= ran
    assert calls


# What two outcomes have in common

ANY = Scenario("any", dict, (), ("x",))
CASE = Case("case", dict, (), ("x",))


def out(out=0.0, grad=0.0):
    return Outcome({"out": np.asarray(out), "x.grad": np.asarray(grad)})


def raised(*classes, stage="backward", message=""):
    return Outcome(raised=Raised(classes, message, stage))


def test_outcomes_agree_to_rounding_and_not_to_the_eye():
    assert same(CASE, out(1.0, [1.0, 2.0]), out(1.0, [1.0, 2.0 + 1e-12]))
    assert not same(CASE, out(1.0, [1.0, 2.0]), out(1.0, [1.0, 2.0 + 1e-6]))
    assert not same(CASE, out(1.0, [1.0, 2.0]), out(1.0, [[1.0, 2.0]]))
    assert not same(CASE, out(1.0, [1.0, 2.0]), out(1.0, [True, True]))


def test_nan_agrees_with_nan():
    assert same(CASE, out(1.0, [np.nan, 2.0]), out(1.0, [np.nan, 2.0]))
    assert not same(CASE, out(1.0, [np.nan, 2.0]), out(1.0, [2.0, np.nan]))


def test_what_flows_back_from_an_overflow_is_not_compared():
    assert same(CASE, out(np.inf, 1.0), out(np.inf, np.nan))
    assert not same(CASE, out(np.inf, 1.0), out(-np.inf, 1.0))


def test_an_exception_agrees_with_one_of_its_kind_from_the_same_stage():
    special = ("AxisError", "ValueError", "IndexError", "Exception")
    assert same(ANY, raised(*special), raised("IndexError", "LookupError", "Exception"))
    assert not same(ANY, raised(*special), raised("TypeError", "Exception"))
    assert not same(ANY, raised(*special), raised("Exception"))
    assert not same(ANY, raised(*special), raised(*special, stage="forward"))
    assert not same(ANY, raised(*special), out())


# General patterns

RNG = np.random.default_rng(0)
RIGHT = RNG.standard_normal((3, 3))
CUBE = RNG.standard_normal((3, 3, 3))


@pytest.mark.parametrize(
    ("named", "yours", "expected"),
    [
        ("zero", 0 * RIGHT, RIGHT),
        ("sign", -RIGHT, RIGHT),
        ("doubled", 2 * RIGHT, RIGHT),
        ("constant-factor", RIGHT / 3, RIGHT),
        ("transposed", RIGHT.T, RIGHT),
        ("permuted", CUBE.transpose(1, 2, 0), CUBE),
        ("transposed", CUBE[0, :2].T, CUBE[0, :2]),
        ("not-reshaped", CUBE[0].reshape(9), CUBE[0]),
        ("not-unbroadcast", CUBE, CUBE.sum(axis=0)),
        ("summed-1", np.broadcast_to(RIGHT.sum(axis=1, keepdims=True), (3, 3)), RIGHT),
        ("misplaced", np.sort(RIGHT, axis=0), RIGHT),
    ],
)
def test_a_pattern_in_a_wrong_array_is_named(named, yours, expected):
    found = name_pattern([Wrong(yours, expected)])

    assert found is not None
    assert (found.bug, found.confidence) == (f"pattern-{named}", "pattern")


def test_an_ignored_upstream_is_named():
    found = name_pattern([Wrong(CUBE[0], RIGHT, with_ones=CUBE[0])])

    assert found is not None and found.bug == "pattern-upstream-ignored"


def test_a_pattern_has_to_fit_every_wrong_array():
    assert name_pattern([Wrong(2 * RIGHT, RIGHT), Wrong(3 * CUBE, CUBE)]) is None


def test_a_factor_that_changes_is_not_given_as_one_number():
    found = name_pattern([Wrong(RIGHT / 3, RIGHT), Wrong(CUBE / 4, CUBE)])
    assert found is not None
    assert found.title == "off by a factor that depends on the sizes"
    assert "0.333" not in found.why


def test_a_single_number_shows_no_pattern():
    assert name_pattern([Wrong(np.array(2.0), np.array(1.0))]) is None


def test_single_numbers_show_a_factor_where_it_is_the_same_for_all():
    numbers = [np.array(one) for one in (1.5, 2.5, -4.0)]

    found = name_pattern([Wrong(0.5 * one, one) for one in numbers])

    assert found is not None and found.bug == "pattern-constant-factor"
    assert name_pattern([Wrong(one - 1.0, one) for one in numbers]) is None


# The catalogue


def test_the_bugs_of_some_symbols_are_those_of_the_whole_catalogue():
    track = lab01()
    symbols = frozenset({"Tensor.__add__", "Tensor._make", "log_softmax"})

    assert bugs_in(track, symbols) == tuple(
        bug for bug in load_bugs(track) if symbols & {patch.symbol for patch in bug.patches}
    )


def test_the_bugs_of_targets_that_are_green_are_left_out():
    track = lab01()
    symbols = frozenset({"Tensor.__add__", "unbroadcast", "Tensor.__matmul__"})
    green = frozenset({"unbroadcast", "backward"})

    assert bugs_in(track, symbols, green) == tuple(
        bug for bug in bugs_in(track, symbols) if bug.target not in green
    )
