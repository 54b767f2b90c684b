"""Diagnosis on engines written differently from the reference: named right, or not at all."""

from dataclasses import dataclass
from itertools import count

import numpy as np
import pytest
from first_failure import ENGINES, engine_of, first_failure, lab01, reference

from autodrill.bugs import load_bugs
from autodrill.diagnose import same
from autodrill.cases.outcome import Outcome, Raised
from autodrill.cases.scenario import Scenario
from autodrill.engines.reference import load_suite
from autodrill.engines.variants import variant
from autodrill.grading.grade import Grade
from autodrill.grading.run import grade_symbol, grade_targets
from autodrill.patterns import Wrong, name_pattern

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

UNKNOWN = [
    planted(CLASSES, "pattern", "np.cosh(self.x) ** 2", "np.cosh(self.x)"),
]


def name_of(one, numbers=count()):
    return f"{next(numbers)}-{one.engine.removeprefix('lab01_')}-{one.named}"


def failure_of(one):
    track = lab01()
    return first_failure(track, engine_of(track, one.engine, *one.changes))


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
