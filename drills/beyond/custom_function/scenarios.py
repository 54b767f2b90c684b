"""What `custom_function` grades: the record, the order of the gradients, the context, errors.

Each scenario defines its own function, so that what is shown of it can be pasted as it stands.
"""

import numpy as np

from autodrill.cases import Suite

suite = Suite()

_BOTH = ("Function.apply", "Context.save_for_backward")
_BACK = _BOTH[::-1]


@suite.case("Function.apply")
def function_times_three(lib, x):
    class Triple(lib.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 3.0

        @staticmethod
        def backward(ctx, g):
            return g * 3.0

    return Triple.apply(x)


@suite.scenario(
    "Function.apply",
    says={"x.grad": "the gradient is what backward says, not that of forward's own steps"},
)
def function_with_another_gradient(lib, x, y, upstream):
    """A backward may be anything: this one turns the sign."""
    t, u = lib.Tensor(x, requires_grad=True), lib.Tensor(y, requires_grad=True)

    class Reverse(lib.Function):
        @staticmethod
        def forward(ctx, x):
            return x * x

        @staticmethod
        def backward(ctx, g):
            return g * -1.0

    (t * u + Reverse.apply(t * u) * u).backward(upstream)
    return {"x.grad": t.grad, "y.grad": u.grad}


@suite.case(*_BACK)
def function_saves_an_operand(lib, x):
    class Square(lib.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g * x * 2.0

    return Square.apply(x)


@suite.case(*_BACK)
def function_saves_its_result(lib, x):
    class Exp(lib.Function):
        @staticmethod
        def forward(ctx, x):
            y = x.exp()
            ctx.save_for_backward(y)
            return y

        @staticmethod
        def backward(ctx, g):
            (y,) = ctx.saved_tensors
            return g * y

    return Exp.apply(x) * x


@suite.case(*_BACK, y="nonzero")
def function_saves_several(lib, x, y):
    class Quotient(lib.Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.save_for_backward(y, x)
            return x / y

        @staticmethod
        def backward(ctx, g):
            y, x = ctx.saved_tensors
            return g / y, g * -1.0 * x / (y * y)

    return Quotient.apply(x, y)


@suite.case("Function.apply")
def function_with_a_number_between(lib, x, y):
    class Blend(lib.Function):
        @staticmethod
        def forward(ctx, x, part, y):
            ctx.part = part
            return x * part + y * (1.0 - part)

        @staticmethod
        def backward(ctx, g):
            return g * ctx.part, None, g * (1.0 - ctx.part)

    return Blend.apply(x, 0.25, y)


@suite.case("Function.apply")
def function_with_a_number_first(lib, x):
    class Scale(lib.Function):
        @staticmethod
        def forward(ctx, factor, x):
            ctx.factor = factor
            return x * factor

        @staticmethod
        def backward(ctx, g):
            return None, g * ctx.factor

    return Scale.apply(-2.0, x)


@suite.case(*_BOTH)
def function_of_an_axis(lib, x, *, axis):
    """The axis has to arrive as the number that it is."""

    class Total(lib.Function):
        @staticmethod
        def forward(ctx, x, along):
            ctx.along = along
            ctx.save_for_backward(x)
            return x.sum(axis=along)

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            spread = np.expand_dims(g.data, ctx.along)
            return lib.Tensor(np.broadcast_to(spread, x.shape)), None

    return Total.apply(x, axis)


@suite.case(*_BOTH)
def function_called_twice(lib, x, y):
    """Both calls are made before either runs back: each needs what it has saved itself."""

    class Scaled(lib.Function):
        @staticmethod
        def forward(ctx, x, factor):
            ctx.save_for_backward(x)
            ctx.factor = factor
            return x * x * factor

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g * x * (2.0 * ctx.factor), None

    return Scaled.apply(x, 2.0) + Scaled.apply(y, 5.0)


@suite.case(*_BOTH)
def function_of_its_own_result(lib, x):
    class Square(lib.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g * x * 2.0

    return Square.apply(Square.apply(x))


@suite.case(*_BOTH)
def function_of_one_tensor_twice(lib, x):
    class Product(lib.Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.save_for_backward(x, y)
            return x * y * 2.0

        @staticmethod
        def backward(ctx, g):
            x, y = ctx.saved_tensors
            return g * y * 2.0, g * x * 2.0

    return Product.apply(x, x)


@suite.case("Function.apply")
def function_called_by_another(lib, x):
    class Inner(lib.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.factor = 3.0
            return x * 3.0

        @staticmethod
        def backward(ctx, g):
            return g * ctx.factor

    class Outer(lib.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.factor = 6.0
            return Inner.apply(x) * 2.0

        @staticmethod
        def backward(ctx, g):
            return g * ctx.factor

    return Outer.apply(x)


_OUTSIDE = "forward has to run unrecorded: its steps are not part of the graph, the whole of it is"


@suite.scenario(
    "Function.apply",
    says={"within": _OUTSIDE, "result": "the result of apply is recorded", "x.grad": _OUTSIDE},
)
def function_runs_forward_unrecorded(lib, x, upstream):
    t, within = lib.Tensor(x, requires_grad=True), []

    class Square(lib.Function):
        @staticmethod
        def forward(ctx, x):
            y = x * x
            within.append(bool(y.requires_grad))
            return y

        @staticmethod
        def backward(ctx, g):
            return g * 10.0

    y = Square.apply(t)
    y.backward(upstream)
    return {"within": any(within), "result": bool(y.requires_grad), "x.grad": t.grad}


@suite.scenario(
    "Function.apply",
    says={
        "forward": "apply runs forward once",
        "before": "backward is not run before the backward pass",
        "backward": "backward is run once in a backward pass, with the whole gradient",
        "tensor": "backward is given the gradient as a Tensor, as everything in torch's is",
    },
)
def function_runs_once(lib, x, upstream):
    t, calls = lib.Tensor(x, requires_grad=True), []

    class Triple(lib.Function):
        @staticmethod
        def forward(ctx, x):
            calls.append("forward")
            return x * 3.0

        @staticmethod
        def backward(ctx, g):
            calls.append("backward")
            calls.append(isinstance(g, lib.Tensor))
            return g * 3.0

    y = Triple.apply(t)
    before = calls.count("backward")
    (y * y + y).backward(upstream)
    return {
        "forward": calls.count("forward"),
        "before": before,
        "backward": calls.count("backward"),
        "tensor": calls[-1],
        "x.grad": t.grad,
    }


_NO_RECORD = "where no argument requires a gradient, the result is a constant"


@suite.scenario("Function.apply", says={"requires_grad": _NO_RECORD, "parents": _NO_RECORD})
def function_of_constants(lib, x):
    class Triple(lib.Function):
        @staticmethod
        def forward(ctx, x, factor):
            return x * factor

        @staticmethod
        def backward(ctx, g):
            raise LookupError

    y = Triple.apply(lib.Tensor(x), 3.0)
    return {"y": y.data, "requires_grad": bool(y.requires_grad), "parents": len(y._parents)}


_NONE = "None says that no gradient flows to that argument: its .grad stays as it was"


@suite.scenario("Function.apply", says={"x.grad": _NONE, "y.grad": _NONE})
def function_gives_no_gradient(lib, x, y, upstream):
    t, u = lib.Tensor(x, requires_grad=True), lib.Tensor(y, requires_grad=True)

    class First(lib.Function):
        @staticmethod
        def forward(ctx, x, y):
            return x * 2.0 + y

        @staticmethod
        def backward(ctx, g):
            return g * 2.0, None

    First.apply(t, u).backward(upstream)
    return {"x.grad": t.grad, "y.grad": u.grad}


@suite.scenario(
    "Function.apply",
    says={
        "needs": "needs_input_grad has a bool for each argument: does it require a gradient?",
        "y.grad": "a constant gets no gradient, though backward returns one for it",
    },
)
def function_needs_input_grad(lib, x, y, upstream):
    t, u, needs = lib.Tensor(x, requires_grad=True), lib.Tensor(y), []

    class Blend(lib.Function):
        @staticmethod
        def forward(ctx, x, part, y):
            needs.extend(bool(one) for one in ctx.needs_input_grad)
            return x * part + y

        @staticmethod
        def backward(ctx, g):
            return g * 0.5, None, g

    Blend.apply(t, 0.5, u).backward(upstream)
    Blend.apply(u, 0.5, t).backward(upstream)
    return {"needs": needs, "x.grad": t.grad, "y.grad": u.grad}


_COUNT = "backward must return as many gradients as forward has arguments, else RuntimeError"


@suite.scenario("Function.apply", raises="RuntimeError", says={"raises": _COUNT})
def function_gives_too_few(lib, x, upstream):
    class Product(lib.Function):
        @staticmethod
        def forward(ctx, x, y):
            return x * y

        @staticmethod
        def backward(ctx, g):
            return g * 2.0

    t, u = lib.Tensor(x, requires_grad=True), lib.Tensor(x, requires_grad=True)
    Product.apply(t, u).backward(upstream)
    return {}


@suite.scenario("Function.apply", raises="RuntimeError", says={"raises": _COUNT})
def function_gives_too_many(lib, x, upstream):
    class Double(lib.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2.0

        @staticmethod
        def backward(ctx, g):
            return g * 2.0, g

    Double.apply(lib.Tensor(x, requires_grad=True)).backward(upstream)
    return {}


@suite.scenario(
    "Function.apply",
    raises="RuntimeError",
    says={"raises": "a gradient for an argument that is no Tensor must raise RuntimeError"},
)
def function_gives_a_number_a_gradient(lib, x, upstream):
    """The number of gradients is right; they stand at the wrong places."""

    class Scale(lib.Function):
        @staticmethod
        def forward(ctx, factor, x):
            return x * factor

        @staticmethod
        def backward(ctx, g):
            return g * 2.0, None

    Scale.apply(2.0, lib.Tensor(x, requires_grad=True)).backward(upstream)
    return {}


@suite.scenario(
    "Function.apply",
    raises="RuntimeError",
    says={"raises": "a gradient of another shape than its argument must raise RuntimeError"},
)
def function_gives_another_shape(lib, x):
    class Total(lib.Function):
        @staticmethod
        def forward(ctx, x):
            return x.sum()

        @staticmethod
        def backward(ctx, g):
            return g * np.ones(7)

    Total.apply(lib.Tensor(x, requires_grad=True)).backward()
    return {}


@suite.case(*_BOTH)
def fused_cross_entropy(lib, logits, *, targets):
    """Softmax and cross-entropy as one node: its gradient is (softmax - onehot) / n."""

    class FusedCrossEntropy(lib.Function):
        @staticmethod
        def forward(ctx, logits, classes):
            scores = logits.data - logits.data.max(axis=1, keepdims=True)
            rows = np.arange(len(classes))
            log_p = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
            ctx.rows, ctx.classes = rows, classes
            ctx.save_for_backward(lib.Tensor(np.exp(log_p)))
            return lib.Tensor(-log_p[rows, classes].mean())

        @staticmethod
        def backward(ctx, g):
            (p,) = ctx.saved_tensors
            d = p.data.copy()
            d[ctx.rows, ctx.classes] -= 1.0
            return g * (d / len(ctx.rows)), None

    return FusedCrossEntropy.apply(logits, targets)


@suite.case(*_BOTH)
def fused_attention(lib, q, k, v):
    """softmax(q k^T / sqrt(d)) v as one node that keeps nothing but its operands and weights."""

    class FusedAttention(lib.Function):
        @staticmethod
        def forward(ctx, q, k, v, scale):
            scores = scale * (q.data @ k.data.mT)
            weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
            weights /= weights.sum(axis=-1, keepdims=True)
            ctx.scale = scale
            ctx.save_for_backward(q, k, v, lib.Tensor(weights))
            return lib.Tensor(weights @ v.data)

        @staticmethod
        def backward(ctx, g):
            q, k, v, p = (one.data for one in ctx.saved_tensors)
            dp = g.data @ v.mT
            ds = ctx.scale * p * (dp - (p * dp).sum(axis=-1, keepdims=True))
            dq, dk, dv = ds @ k, ds.mT @ q, p.mT @ g.data
            return lib.Tensor(dq), lib.Tensor(dk), lib.Tensor(dv), None

    return FusedAttention.apply(q, k, v, q.shape[-1] ** -0.5)


@suite.scenario(
    *_BOTH,
    tolerance=1e-8,
    says={
        "same loss": "the fused cross-entropy has to give what the composed one gives",
        "same gradient": "the fused cross-entropy has to give the gradient of the composed one",
        "smaller graph": "the fused cross-entropy is one node: its graph has to be smaller",
    },
)
def fused_beside_composed(lib, x, w):
    """In the middle of a network: the gradient has to flow on to the weights."""

    class FusedCrossEntropy(lib.Function):
        @staticmethod
        def forward(ctx, logits, classes):
            scores = logits.data - logits.data.max(axis=1, keepdims=True)
            p = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
            ctx.save_for_backward(lib.Tensor(p))
            ctx.onehot = np.eye(p.shape[1])[classes]
            return lib.Tensor(-np.log((p * ctx.onehot).sum(axis=1)).mean())

        @staticmethod
        def backward(ctx, g):
            (p,) = ctx.saved_tensors
            return g * ((p.data - ctx.onehot) / len(p.data)), None

    def run(loss_of):
        weights = lib.Tensor(w, requires_grad=True)
        loss = loss_of((lib.Tensor(x) @ weights) * 3.0, np.arange(len(x)) % w.shape[1])
        nodes, stack = {}, [loss]
        while stack:
            node = stack.pop()
            nodes[id(node)] = node
            stack += node._parents
        loss.backward()
        return float(loss.data), weights.grad, len(nodes)

    fused, composed = run(FusedCrossEntropy.apply), run(lib.cross_entropy)
    return {
        "w.grad": fused[1],
        "same loss": bool(np.isclose(fused[0], composed[0])),
        "same gradient": bool(np.allclose(fused[1], composed[1])),
        "smaller graph": fused[2] < composed[2],
    }


# Edge cases -----------------------------------------------------------------------------------


@suite.scenario(
    *_BACK,
    says={"saved": "a second save_for_backward takes the place of the first, as in torch"},
)
def function_saves_again(lib, x, upstream):
    t, saved = lib.Tensor(x, requires_grad=True), []

    class Square(lib.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x, x)
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            saved.append(len(ctx.saved_tensors))
            return g * ctx.saved_tensors[0] * 2.0

    Square.apply(t).backward(upstream)
    return {"saved": saved, "x.grad": t.grad}


@suite.scenario(*_BACK, says={"saved": "None may be saved among tensors, and comes back as None"})
def function_saves_none(lib, x, upstream):
    t, saved = lib.Tensor(x, requires_grad=True), []

    class Square(lib.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(None, x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            nothing, x = ctx.saved_tensors
            saved.append(nothing is None)
            return g * x * 2.0

    Square.apply(t).backward(upstream)
    return {"saved": saved, "x.grad": t.grad}


@suite.scenario(
    *_BACK,
    raises="TypeError",
    says={"raises": "save_for_backward takes tensors: for anything else it must raise TypeError"},
)
def function_saves_a_number(lib, x):
    class Double(lib.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x, 2.0)
            return x * 2.0

        @staticmethod
        def backward(ctx, g):
            return g * 2.0

    Double.apply(lib.Tensor(x, requires_grad=True))
    return {}


@suite.scenario(
    "Function.apply",
    says={"held": "backward may return an array that somebody holds: .grad has to be its own"},
)
def function_gives_an_array_that_is_held(lib, x):
    t, held = lib.Tensor(x, requires_grad=True), np.array(x)

    class Double(lib.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2.0

        @staticmethod
        def backward(ctx, g):
            return held

    Double.apply(t).backward(np.ones_like(x))
    t.grad += 1.0
    return {"held": held, "x.grad": t.grad}


@suite.case("Function.apply")
def function_that_does_nothing(lib, x):
    class Identity(lib.Function):
        @staticmethod
        def forward(ctx, x):
            return x

        @staticmethod
        def backward(ctx, g):
            return g

    return Identity.apply(x * 2.0) * x
