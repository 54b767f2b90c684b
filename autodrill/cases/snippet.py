"""A request as text that can be pasted into a Python prompt in the workspace."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from autodrill.cases.run import Request
from autodrill.cases.scenario import Case, Scenario, Suite

_COMMENT_COLUMN = 48


def snippet(
    suite: Suite,
    scenario: Scenario,
    request: Request,
    module: str,
    *,
    backward: bool = True,
    of: str | None = None,
) -> str:
    """Write a request as code.

    Parameters
    ----------
    suite, scenario, request
        What is run; `request.upstream` of a case has to be an array.
    module : str
        The name under which the learner imports the engine file.
    backward : bool
        False stops after the forward of a case.
    of : str, optional
        The one input whose gradient is of interest; all of them if left out.
    """
    body = _Body(scenario, request.params)
    is_case = isinstance(scenario, Case)
    names = body.names | ({"Tensor"} if is_case else set())
    inputs = [
        assignment(name, array, "Tensor" if is_case else "np.array")
        for name, array in request.inputs.items()
    ]
    if is_case and not (backward and isinstance(request.upstream, np.ndarray)):
        lines = [*body.statements, f"{body.result}.data"]
    elif is_case and isinstance(request.upstream, np.ndarray):
        code = suite.backward_code(body.result, _upstream(request.upstream))
        names |= {name for name in suite.backward_names if name in code}
        lines = [*body.statements, *code.splitlines()]
        lines += [f"{name}.grad" for name in request.inputs if of in (name, None)]
    elif scenario.example:
        example = _filled(scenario.example, {**request.params, "module": module}).splitlines()
        heads = [line for line in example if line.startswith(("import ", "from "))]
        return "\n".join([*heads, *inputs, *example[len(heads) :]])
    else:
        lines = [*body.statements, *body.values]
    text = "\n".join([*inputs, *lines])
    imports = [f"from {module} import {', '.join(sorted(names))}"] if names else []
    if "np." in text:
        imports.insert(0, "import numpy as np")
    return "\n".join([*imports, text])


def literal(array: NDArray[Any]) -> str:
    """Write an array as nested lists with numbers as short as they can be."""
    if array.ndim == 0:
        return _number(array.item())
    return "[" + ", ".join(literal(one) for one in array) + "]"


def _filled(example: str, values: Mapping[str, Any]) -> str:
    text = example.strip()
    for name, value in values.items():
        text = text.replace(f"{{{name}}}", str(value))
    return text


def _upstream(array: NDArray[Any]) -> str:
    return literal(array) if array.size else f"np.zeros({array.shape})"


def _number(value: float) -> str:
    if isinstance(value, (bool, int)):
        return repr(value)
    if not np.isfinite(value):
        return f"float('{value}')"
    return f"{value:.0f}." if value == int(value) and abs(value) < 1e15 else repr(value)


def assignment(name: str, array: NDArray[Any], maker: str, column: int = _COMMENT_COLUMN) -> str:
    """Write one input, as a Tensor that requires a gradient or as an array, with its shape."""
    more = ", requires_grad=True" if maker == "Tensor" else ""
    if array.size == 0:
        line = f"{name} = {maker}(np.zeros({array.shape}){more})"
    else:
        line = f"{name} = {maker}({literal(array)}{more})"
    return f"{line:<{column}}  # {array.shape}"


class _Body:
    """The body of a scenario's function with its parameters filled in."""

    def __init__(self, scenario: Scenario, params: Mapping[str, Any]) -> None:
        tree = ast.parse(textwrap.dedent(inspect.getsource(scenario.build)))
        function = tree.body[0]
        assert isinstance(function, ast.FunctionDef)
        defaults = {
            argument.arg: ast.literal_eval(default)
            for argument, default in zip(
                function.args.kwonlyargs, function.args.kw_defaults, strict=True
            )
            if default is not None
        }
        fill = _Fill(function.args.args[0].arg, {**defaults, **params})
        self.statements: list[str] = []
        self.result = ""
        self.values: list[str] = []
        for statement in function.body:
            if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
                continue  # the docstring
            filled = fill.visit(statement)
            if isinstance(filled, ast.Return) and filled.value is not None:
                self.values = [ast.unparse(one) for one in _results(filled.value)]
                self.result = _operand(filled.value)
            else:
                lines = ast.unparse(filled).splitlines()
                text = "\n".join(line for line in lines if line)
                # A prompt ends a loop, a function or a class at an empty line.
                self.statements.append(f"{text}\n" if hasattr(filled, "body") else text)
        self.names = fill.names


def _results(value: ast.expr) -> Iterator[ast.expr]:
    """Yield the expressions of a returned mapping, or the returned expression itself."""
    if isinstance(value, ast.Dict):
        yield from value.values
    else:
        yield value


def _operand(value: ast.expr) -> str:
    """Write an expression so that `.backward` can follow it."""
    text = ast.unparse(value)
    return text if isinstance(value, (ast.Call, ast.Name, ast.Attribute)) else f"({text})"


class _Fill(ast.NodeTransformer):
    """Replace `lib.name` by `name` and each parameter by its value."""

    def __init__(self, lib: str, params: Mapping[str, Any]) -> None:
        self.lib = lib
        self.params = params
        self.names: set[str] = set()

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        """Drop the engine's own name."""
        if isinstance(node.value, ast.Name) and node.value.id == self.lib:
            self.names.add(node.attr)
            return ast.Name(node.attr, node.ctx)
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """Write a parameter's value in its place."""
        if node.id not in self.params:
            return node
        value = self.params[node.id]
        text = f"np.array({literal(value)})" if isinstance(value, np.ndarray) else repr(value)
        return ast.parse(text, mode="eval").body
