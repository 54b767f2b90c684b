"""Diagnosis on retype engines that are written differently: named right, or not at all."""

from dataclasses import dataclass
from itertools import count
from pathlib import Path

import pytest
from first_failure import engine_of, first_failure, reference

from autodrill.bugs import load_bugs
from autodrill.catalog import load_track
from autodrill.engines.reference import load_suite
from autodrill.grading.grade import Grade
from autodrill.grading.run import grade_symbol, grade_targets

RETYPE = load_track("retype")
CLASSES, EINSUM, LAMBDAS = "retype_classes", "retype_einsum", "retype_lambdas"


@dataclass(frozen=True)
class Planted:
    """A mistake in one of the engines: what is named on the first test that fails."""

    engine: str
    named: str
    changes: tuple[tuple[str, str], ...]


def planted(engine, named, *changes):
    return Planted(engine, named, tuple(zip(changes[::2], changes[1::2], strict=True)))


PLANTED = [
    # einsum, with gradients rebound
    planted(
        EINSUM,
        "unbroadcast-not-reshaped",
        'kept}", grad).reshape(shape)',
        'kept}", grad)',
        "    lead = grad.ndim - len(shape)\n",
        """    if grad.shape == shape:
        return grad
    lead = grad.ndim - len(shape)
""",
    ),
    planted(
        EINSUM,
        "unbroadcast-reshape-only",
        'np.einsum(f"{letters}->{kept}", grad).reshape(shape)',
        "grad.reshape(shape)",
    ),
    planted(EINSUM, "data-dtype-kept", 'np.array(data, dtype="float64")', "np.array(data)"),
    planted(EINSUM, "parents-as-list", "tuple(_children), _op", "list(_children), _op"),
    planted(EINSUM, "root-not-seeded", "        self.grad = self.grad + 1\n", ""),
    planted(EINSUM, "root-seeded-with-number", "self.grad = self.grad + 1\n", "self.grad = 1.0\n"),
    planted(
        EINSUM, "order-not-reversed", "_topological_order(self)[::-1]", "_topological_order(self)"
    ),
    planted(
        EINSUM,
        "nonscalar-root-accepted",
        "assert self.data.size == 1",
        "assert self.shape is not None",
    ),
    planted(
        EINSUM,
        "accumulation-lost-across-backwards",
        "        self.grad = self.grad + 1\n",
        "        for node in _topological_order(self):\n"
        "            node.zero_grad()\n"
        "        self.grad = self.grad + 1\n",
    ),
    planted(
        EINSUM,
        "unbroadcast-one-operand-rebound",
        "lambda g: unbroadcast(g, b))\n        return self._made(np.add",
        "lambda g: g)\n        return self._made(np.add",
    ),
    planted(
        EINSUM,
        "swapped-operands",
        "unbroadcast(b * g, a.shape)",
        "unbroadcast(a * g, a.shape)",
        "unbroadcast(a * g, b.shape)",
        "unbroadcast(b * g, b.shape)",
    ),
    planted(
        EINSUM,
        "mul-right-not-reduced-rebound",
        "lambda g: unbroadcast(a * g, b.shape)",
        "lambda g: a * g",
    ),
    planted(
        EINSUM, "pow-exponent-not-reduced", "np.power(x, exponent - 1)", "np.power(x, exponent)"
    ),
    planted(
        EINSUM, "matmul-left-transpose-missing", '"...ij,...kj->...ik"', '"...ij,...jk->...ik"'
    ),
    planted(
        EINSUM,
        "matmul-batch-not-summed-rebound",
        'unbroadcast(np.einsum("...ji,...jk->...ik", a, g), b.shape)',
        'np.einsum("...ji,...jk->...ik", a, g)',
    ),
    planted(
        EINSUM, "sum-axis-not-restored", "np.broadcast_to(g.reshape(kept)", "np.broadcast_to(g"
    ),
    planted(
        EINSUM, "sum-upstream-ignored", "np.broadcast_to(g.reshape(kept)", "np.broadcast_to(1.0"
    ),
    planted(
        EINSUM,
        "mean-count-wrong-forward",
        "(total.data.size / self.data.size)",
        "(1.0 / self.data.size)",
    ),
    planted(
        EINSUM, "mean-is-a-sum", "return total * (total.data.size / self.data.size)", "return total"
    ),
    planted(EINSUM, "exp-upstream-ignored", '"exp", (lambda g: y * g', '"exp", (lambda g: y'),
    planted(EINSUM, "log-inverted", "np.reciprocal(x) * g", "x * g"),
    planted(EINSUM, "relu-at-zero", "np.heaviside(x, 0)", "np.heaviside(x, 1)"),
    planted(EINSUM, "sigmoid-tanh-rule", "(y - y * y) * g", "(1 - y * y) * g"),
    planted(EINSUM, "tanh-parentheses-missing", "g - y * y * g", "g - y * y"),
    planted(
        EINSUM,
        "log-softmax-not-summed",
        "g - np.exp(y) * g.sum(axis=axis, keepdims=True)",
        "g - np.exp(y) * g",
    ),
    planted(
        EINSUM,
        "log-softmax-unstable",
        "y = self.data - np.logaddexp.reduce(self.data, axis=axis, keepdims=True)",
        "y = self.data - np.log(np.exp(self.data).sum(axis=axis, keepdims=True))",
    ),
    planted(
        EINSUM,
        "softmax-total-taken-as-constant",
        "weighted - y * weighted.sum(axis=axis, keepdims=True)",
        "weighted",
    ),
    planted(
        EINSUM, "softmax-dot-over-all", "weighted.sum(axis=axis, keepdims=True)", "weighted.sum()"
    ),
    planted(EINSUM, "reshape-not-undone", "np.reshape(g, self.shape)", "g"),
    planted(
        EINSUM,
        "transpose-forward-permutation",
        "np.moveaxis(g, range(g.ndim), order)",
        "g.transpose(order)",
    ),
    planted(EINSUM, "cross-entropy-sign", "return -(logits", "return (logits"),
    planted(EINSUM, "cross-entropy-sum", ".sum() / n", ".sum()"),
    planted(EINSUM, "rsub-exchanged", "return -self + other", "return self - other"),
    # classes, with gradients made when they are asked for
    planted(
        CLASSES,
        "unbroadcast-one-leading-axis",
        "for _ in range(grad.ndim - len(shape))",
        "for _ in range(min(1, grad.ndim - len(shape)))",
    ),
    planted(
        CLASSES,
        "unbroadcast-keepdims-lost",
        "grad = grad.sum(axis=axis, keepdims=True)",
        "grad = grad.sum(axis=axis)",
    ),
    planted(CLASSES, "float32-inside", ".astype(np.float64)", ".astype(np.float32)"),
    planted(
        CLASSES,
        "requires-grad-dropped",
        "self.requires_grad = requires_grad",
        "self.requires_grad = False",
    ),
    planted(CLASSES, "wrong-error-nonscalar", "raise AssertionError(", "raise ValueError("),
    planted(
        CLASSES,
        "recursive-traversal",
        """    order, seen, path = [], {id(root)}, [(root, iter(root._prev))]
    while path:
        node, parents = path[-1]
        for parent in parents:
            if id(parent) not in seen:
                seen.add(id(parent))
                path.append((parent, iter(parent._prev)))
                break
        else:
            order.append(node)
            path.pop()
    return order
""",
        """    order, seen = [], set()

    def visit(node):
        if id(node) in seen:
            return
        seen.add(id(node))
        for parent in node._prev:
            visit(parent)
        order.append(node)

    visit(root)
    return order
""",
    ),
    planted(
        CLASSES,
        "visited-by-equality",
        "if id(parent) not in seen:\n                seen.add(id(parent))",
        "if parent.data.tobytes() not in seen:\n                seen.add(parent.data.tobytes())",
        "{id(root)}",
        "{root.data.tobytes()}",
    ),
    planted(
        CLASSES,
        "visits-too-early-first-parent",
        "                seen.add(id(parent))\n",
        "                seen.add(id(parent))\n                order.append(parent)\n",
        "            order.append(node)\n            path.pop()\n    return order",
        "            path.pop()\n    return [root, *order][::-1]",
    ),
    planted(
        CLASSES,
        "add-left-not-reduced-rebound",
        "return [unbroadcast(g, shape) for shape in self.shapes]",
        "return [g, unbroadcast(g, self.shapes[1])]",
    ),
    planted(CLASSES, "matmul-all-axes-transposed", "return np.swapaxes(x, -2, -1)", "return x.T"),
    planted(CLASSES, "matmul-transpose-missing", "return np.swapaxes(x, -2, -1)", "return x"),
    planted(
        CLASSES,
        "matmul-exchanged",
        "return unbroadcast(da, self.shapes[0]), unbroadcast(db, self.shapes[1])",
        "return unbroadcast(db, self.shapes[0]), unbroadcast(da, self.shapes[1])",
    ),
    planted(CLASSES, "pow-exponent-missing", "self.p * g * self.x", "g * self.x"),
    planted(CLASSES, "mean-not-divided", "(self.share * self.spread(g),)", "(self.spread(g),)"),
    planted(CLASSES, "mean-count-wrong", "self.share = y.size / x.size", "self.share = 1 / x.size"),
    planted(CLASSES, "exp-derivative-missing", "(self.y * g,)", "(g,)"),
    planted(
        CLASSES,
        "relu-mask-of-output-shape",
        "(np.where(self.on, g, 0.0),)",
        "(np.where(g > 0, g, 0.0),)",
    ),
    planted(CLASSES, "sigmoid-derivative", "g * self.y * (1 - self.y)", "g * self.y"),
    planted(CLASSES, "sigmoid-exponent-sign", "np.tanh(0.5 * x)", "np.tanh(-0.5 * x)"),
    planted(
        CLASSES,
        "softmax-log-rule",
        "(self.p * (g - self.total(g * self.p)),)",
        "(g - self.p * self.total(g),)",
    ),
    planted(
        CLASSES,
        "softmax-cross-term-missing",
        "(self.p * (g - self.total(g * self.p)),)",
        "(self.p * (1 - self.p) * g,)",
    ),
    planted(
        CLASSES, "log-softmax-sum-taken-as-one", "(g - self.p * self.total(g),)", "(g - self.p,)"
    ),
    planted(
        CLASSES,
        "reshape-order",
        "np.reshape(g, self.shapes[0])",
        'np.reshape(g, self.shapes[0], order="F")',
    ),
    planted(
        CLASSES,
        "transpose-default-forgotten",
        "None if self.axes is None else np.argsort(self.axes)",
        "np.argsort(self.axes or ())",
    ),
    planted(CLASSES, "cross-entropy-over-all-entries", ".sum(axis=1).mean()", ".mean()"),
    # lambdas, with gradients written into in place
    planted(
        LAMBDAS,
        "unbroadcast-mean",
        "grad.sum(ones, keepdims=True)",
        "grad.mean(ones, keepdims=True)",
        "grad = grad.sum(0)",
        "grad = grad.mean(0)",
    ),
    planted(
        LAMBDAS, "unbroadcast-prepended-only", "return grad.sum(ones, keepdims=True)", "return grad"
    ),
    planted(LAMBDAS, "integer-gradient", "np.zeros_like(self.data)", "np.zeros_like(data)"),
    planted(
        LAMBDAS, "grad-starts-as-none", "self.grad = np.zeros_like(self.data)", "self.grad = None"
    ),
    planted(LAMBDAS, "parents-as-set", "tuple(_children)", "set(_children)"),
    planted(LAMBDAS, "leaf-closure-none", "self._backward = lambda: None", "self._backward = None"),
    planted(
        LAMBDAS,
        "one-level-only",
        "        while order:\n            order.pop()._backward()",
        "        order.pop()._backward()",
    ),
    planted(
        LAMBDAS,
        "visits-twice",
        """        order = _topological_order(self)
        while order:
            order.pop()._backward()
""",
        """
        def visit(node):
            node._backward()
            for parent in node._prev:
                visit(parent)

        visit(self)
""",
    ),
    planted(
        LAMBDAS,
        "visits-too-early",
        "            stack.append(node)\n",
        "            order.append(node)\n",
        """        elif key not in listed:
            listed.add(key)
            order.append(node)
""",
        "",
        "    return order\n",
        "    return order[::-1]\n",
    ),
    planted(
        LAMBDAS,
        "unbroadcast-one-operand",
        "b.grad[...] += unbroadcast(db, b.shape)",
        "b.grad[...] += db",
    ),
    planted(
        LAMBDAS,
        "add-not-reduced",
        "a.grad[...] += unbroadcast(da, a.shape)",
        "a.grad[...] += da",
        "b.grad[...] += unbroadcast(db, b.shape)",
        "b.grad[...] += db",
    ),
    planted(
        LAMBDAS,
        "order-without-leaves",
        "            order.append(node)\n",
        "            order += [node] if node._prev else []\n",
    ),
    planted(
        LAMBDAS,
        "add-detached",
        'return _binary(self, other, "+", self.data + other.data, lambda g: (g, g))',
        "return Tensor(self.data + other.data)",
    ),
    planted(
        LAMBDAS,
        "add-closure-never-attached",
        'return _binary(self, other, "+", self.data + other.data, lambda g: (g, g))',
        "return Tensor(self.data + other.data, _children=(self, other))",
    ),
    planted(
        LAMBDAS,
        "upstream-ignored",
        "lambda g: (g * b, g * a)",
        "lambda g: (1.0 * b + 0 * g, 1.0 * a + 0 * g)",
    ),
    planted(LAMBDAS, "mul-uses-addition-rule", "lambda g: (g * b, g * a)", "lambda g: (g, g)"),
    planted(
        LAMBDAS,
        "overwrites-gradient",
        'return _binary(self, other, "*", a * b, lambda g: (g * b, g * a))',
        """out = _binary(self, other, "*", a * b, None)

        def closure():
            self.grad[...] = unbroadcast(out.grad * b, self.shape)
            other.grad[...] = unbroadcast(out.grad * a, other.shape)

        out._backward = closure
        return out""",
    ),
    planted(LAMBDAS, "pow-always-a-square", "g * p * x ** (p - 1)", "g * 2 * x"),
    planted(
        LAMBDAS, "div-numerator-only", "_as_tensor(other) ** -1\n", "(1 / _as_tensor(other).data)\n"
    ),
    planted(
        LAMBDAS,
        "sub-exchanged",
        "self + _as_tensor(other) * -1.0",
        "_as_tensor(other) + self * -1.0",
    ),
    planted(
        LAMBDAS,
        "matmul-order-swapped",
        "lambda g: (g @ swap(b), swap(a) @ g)",
        "lambda g: (swap(b) @ g, g @ swap(a))",
    ),
    planted(
        LAMBDAS, "matmul-first-axes-transposed", "np.moveaxis(m, -1, -2)", "np.moveaxis(m, 0, 1)"
    ),
    planted(
        LAMBDAS,
        "axis-zero-is-none",
        "y = self.data.sum(axis=axis, keepdims=keepdims)",
        "axis = axis or None\n        y = self.data.sum(axis=axis, keepdims=keepdims)",
    ),
    planted(
        LAMBDAS,
        "sum-keepdims-ignored",
        "y = self.data.sum(axis=axis, keepdims=keepdims)",
        "keepdims = False\n        y = self.data.sum(axis=axis, keepdims=keepdims)",
    ),
    planted(LAMBDAS, "mean-count-of-rows", "n = self.data.size // y.size", "n = len(self.data)"),
    planted(
        LAMBDAS,
        "sum-restores-last-axis",
        "lambda g, y: _restored(g, axis, keepdims))\n\n    def mean",
        "lambda g, y: _restored(g, axis if axis is None else -1, keepdims))\n\n    def mean",
    ),
    planted(LAMBDAS, "log-of-output", "lambda g, y: g / x", "lambda g, y: g / y"),
    planted(LAMBDAS, "relu-in-place", "x * (x > 0), lambda", "np.maximum(x, 0, out=x), lambda"),
    planted(LAMBDAS, "tanh-square-missing", "1.0 - y * y", "1.0 - y"),
    planted(
        LAMBDAS,
        "softmax-global-max",
        "e = np.exp(self.data - self.data.max(axis, keepdims=True))",
        "e = np.exp(self.data - self.data.max())",
    ),
    planted(
        LAMBDAS, "softmax-dot-axis-dropped", "(g * y).sum(axis, keepdims=True)", "(g * y).sum(axis)"
    ),
    planted(
        LAMBDAS,
        "log-softmax-softmax-rule",
        "g - np.exp(y) * g.sum(axis, keepdims=True)",
        "np.exp(y) * (g - (g * np.exp(y)).sum(axis, keepdims=True))",
    ),
    planted(
        LAMBDAS, "transpose-always-reversed", "lambda g, y: g.transpose(back)", "lambda g, y: g.T"
    ),
    planted(LAMBDAS, "cross-entropy-wrong-axis", "log_softmax(axis=1)", "log_softmax(axis=0)"),
    planted(LAMBDAS, "cross-entropy-unstable", "log_softmax(axis=1)", "softmax(axis=1).log()"),
    planted(LAMBDAS, "zero-grad-does-nothing", "        self.grad[...] = 0.0\n", "        pass\n"),
]


def name_of(number, one):
    return f"{number}-{one.engine.removeprefix('retype_')}-{one.named}"


@pytest.mark.parametrize("name", [CLASSES, EINSUM, LAMBDAS])
def test_a_correct_engine_passes_however_it_is_written(name):
    assert first_failure(RETYPE, engine_of(RETYPE, name)) is None


@pytest.mark.parametrize("one", PLANTED, ids=list(map(name_of, count(), PLANTED)))
def test_a_mistake_is_caught_and_named_in_any_engine(one):
    failure = first_failure(RETYPE, engine_of(RETYPE, one.engine, *one.changes))

    assert failure is not None
    assert failure.diagnosis is not None, failure.message
    assert (failure.diagnosis.bug, failure.diagnosis.confidence) == (one.named, "exact")
    assert failure.diagnosis.also == ()


def test_every_name_is_one_of_the_catalogue():
    assert {one.named for one in PLANTED} <= {bug.id for bug in load_bugs(RETYPE)}


def grade_of(engine):
    return Grade(load_suite(RETYPE), engine, reference(RETYPE))


def named_by_target(engine):
    """For each target, the name of the first failure; the targets before it do not stop it."""
    targets = [target for target in RETYPE.targets if target.id != "full"]
    results = grade_targets(RETYPE, grade_of(engine), targets, Path("autograd.py"), go_on=True)
    return {
        one.id: one.failures[0].diagnosis and one.failures[0].diagnosis.bug
        for one in results
        if one.failures
    }


def test_two_mistakes_at_once_are_each_named_at_their_own_target():
    engine = engine_of(
        RETYPE,
        EINSUM,
        ("np.power(x, exponent - 1)", "np.power(x, exponent)"),
        ("(y - y * y) * g", "(1 - y * y) * g"),
    )

    assert named_by_target(engine) == {
        "arithmetic": "pow-exponent-not-reduced",
        "elementwise": "sigmoid-tanh-rule",
    }


def test_two_mistakes_in_one_target_are_named_in_turn():
    engine = engine_of(
        RETYPE,
        CLASSES,
        ("(self.y * g,)", "(g,)"),
        ("(np.where(self.on, g, 0.0),)", "(np.where(g > 0, g, 0.0),)"),
    )
    target = RETYPE.target("elementwise")

    (result,) = grade_targets(
        RETYPE, grade_of(engine), [target], Path("autograd.py"), go_on=True, alone=True
    )

    assert [one.diagnosis.bug for one in result.failures] == [
        "exp-derivative-missing",
        "relu-mask-of-output-shape",
    ]


@pytest.mark.parametrize(
    "one",
    [
        planted(
            LAMBDAS,
            "unbroadcast-prepended-only",
            "return grad.sum(ones, keepdims=True)",
            "return grad",
        ),
        planted(
            CLASSES,
            "unbroadcast-mean",
            "grad = grad.sum(axis=0)",
            "grad = grad.mean(axis=0)",
            "grad = grad.sum(axis=axis, keepdims=True)",
            "grad = grad.mean(axis=axis, keepdims=True)",
        ),
        planted(
            EINSUM,
            "unbroadcast-sums-all",
            'return np.einsum(f"{letters}->{kept}", grad).reshape(shape)',
            "return grad if grad.shape == shape else np.full(shape, grad.sum())",
        ),
    ],
)
@pytest.mark.parametrize("symbol", ["Tensor.__add__", "Tensor.__mul__"])
def test_a_bug_of_unbroadcast_is_named_where_an_operation_shows_it(one, symbol):
    result = grade_symbol(
        RETYPE,
        grade_of(engine_of(RETYPE, one.engine, *one.changes)),
        RETYPE.target("arithmetic"),
        symbol,
        Path("autograd.py"),
    )

    assert result.failures
    named = {failure.diagnosis and failure.diagnosis.bug for failure in result.failures}
    assert named == {one.named}
