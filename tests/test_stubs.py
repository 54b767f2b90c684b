"""Stubs: what is cut, what stays, and that nothing else is touched."""

import ast
import re
from dataclasses import dataclass
from pathlib import Path
from random import Random
from textwrap import dedent
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autodrill.catalog import load_track
from autodrill.errors import NOT_YET, AutodrillError
from autodrill.stubs import Span, blank, is_stub, reblank, symbols_in, text_of

LINE_ENDS = pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"], ids=["LF", "CRLF", "CR"])
REFERENCES = sorted((Path(__file__).parents[1] / "reference").glob("*.py"))
BOM = "\ufeff"
FUNCTION = ast.FunctionDef | ast.AsyncFunctionDef

ENGINE = '''\
"""An engine."""

import numpy as np


def unbroadcast(grad, shape):
    """Sum a gradient back to a shape.

    Parameters
    ----------
    grad : ndarray

    Derivation
    ----------
    Broadcasting copies; the adjoint of a copy is a sum.
    """
    # Extra axes come first.
    while grad.ndim > len(shape):
        grad = grad.sum(axis=0)
    return grad


class Tensor:
    """A node."""

    def __matmul__(self, other):
        """Multiply."""
        other = lift(other)  # a bare array will do
        return Tensor(self.data @ other.data)

    # ---- reductions ----

    @property
    def T(self):
        return self.transpose()
'''

# Each case: the source, the symbols to blank, the statements to keep, the stub.
HARD_CASES: dict[str, tuple[str, list[str], dict[str, int], str]] = {
    "the docstring stays, the comments of the body go": (
        '''\
        def f(x):
            """Say what."""

            # the trick
            y = x  # the point
            return y  # the end
        ''',
        ["f"],
        {},
        '''\
        def f(x):
            """Say what."""
            raise NotImplementedError("lab: implement f")
        ''',
    ),
    "a function without a docstring": (
        """\
        def f(x):

            # first of all
            return x
        y = f
        """,
        ["f"],
        {},
        """\
        def f(x):
            raise NotImplementedError("lab: implement f")
        y = f
        """,
    ),
    "nothing but a docstring": (
        '''\
        def f(x):
            """Say what."""  # beside it
        ''',
        ["f"],
        {},
        '''\
        def f(x):
            """Say what."""  # beside it
            raise NotImplementedError("lab: implement f")
        ''',
    ),
    "one line": (
        """\
        def f(x): return x  # comment
        def g(x): return x
        """,
        ["f"],
        {},
        """\
        def f(x):
            raise NotImplementedError("lab: implement f")
        def g(x): return x
        """,
    ),
    "one line with a docstring and semicolons": (
        """\
        class A:
            def f(x): "Say; what."; y = x; return y
            def g(x): return x
        """,
        ["A.f"],
        {},
        """\
        class A:
            def f(x):
                "Say; what."
                raise NotImplementedError("lab: implement f")
            def g(x): return x
        """,
    ),
    "one line, a statement kept": (
        """\
        def f(x): x = lift(x); return x.y;
        """,
        ["f"],
        {"f": 1},
        """\
        def f(x):
            x = lift(x)
            raise NotImplementedError("lab: implement f")
        """,
    ),
    "one line without a space after the colon": (
        """\
        def f():"Say.\\n\\nDerivation\\n---\\nThe secret.";return 1
        def g():return 1
        """,
        ["f", "g"],
        {},
        """\
        def f():
            'Say.'
            raise NotImplementedError("lab: implement f")
        def g():
            raise NotImplementedError("lab: implement g")
        """,
    ),
    "a body begun on the def line and continued below": (
        """\
        def f(x): return [
            x,  # def g(): the rest
        ]
        z = 1
        """,
        ["f"],
        {},
        """\
        def f(x):
            raise NotImplementedError("lab: implement f")
        z = 1
        """,
    ),
    "a backslash after the colon and one after the body": (
        """\
        def f(x): \\
            return \\
                x
        def g(x):  # not one: \\
            return x \\

        z = 1
        """,
        ["f", "g"],
        {},
        """\
        def f(x):
            raise NotImplementedError("lab: implement f")
        def g(x):  # not one: \\
            raise NotImplementedError("lab: implement g")
        z = 1
        """,
    ),
    "kept statements, with the comments above and beside them": (
        '''\
        def f(x, y):
            """Say what."""

            # lift: a bare array will do
            x = lift(x)  # twice
            if not isinstance(y, T):
                y = T(y)  # once

            return x @ y
        ''',
        ["f"],
        {"f": 2},
        '''\
        def f(x, y):
            """Say what."""

            # lift: a bare array will do
            x = lift(x)  # twice
            if not isinstance(y, T):
                y = T(y)  # once
            raise NotImplementedError("lab: implement f")
        ''',
    ),
    "the kept and the blanked on one line": (
        """\
        def f(x):
            x = lift(x); return x  # both
        """,
        ["f"],
        {"f": 1},
        """\
        def f(x):
            x = lift(x)
            raise NotImplementedError("lab: implement f")
        """,
    ),
    "a signature over many lines with colons, and comments of its own": (
        """\
        def f(
            x: dict[str, int] = {"a:": 1},  # note: a comment
            *,
            key=lambda v: v[1:2],
        ) -> "a: b":  # the header's
            # the body's
            return x
        """,
        ["f"],
        {},
        """\
        def f(
            x: dict[str, int] = {"a:": 1},  # note: a comment
            *,
            key=lambda v: v[1:2],
        ) -> "a: b":  # the header's
            raise NotImplementedError("lab: implement f")
        """,
    ),
    "decorators stay, nested functions and classes go": (
        """\
        @first
        @second(lambda: 1)
        def f(x):
            @inner
            def g():
                '''Not this.'''
                return 1
            class C:
                def f(self):
                    pass
            return g

        g = 2
        """,
        ["f"],
        {},
        """\
        @first
        @second(lambda: 1)
        def f(x):
            raise NotImplementedError("lab: implement f")

        g = 2
        """,
    ),
    "comments after a body: its own go, those of the next thing stay": (
        """\
        class A:
            def f(self):
                if self:
                    return 1
                    # deep

                # the body's last word

            # about g
                # indented, but after it
            def g(self):
                return 2
                # the very last
        # about nothing
        """,
        ["A.f", "A.g"],
        {},
        """\
        class A:
            def f(self):
                raise NotImplementedError("lab: implement f")

            # about g
                # indented, but after it
            def g(self):
                raise NotImplementedError("lab: implement g")
        # about nothing
        """,
    ),
    "tabs": (
        """\
        class A:
        \tdef f(self):
        \t\t'''Say what.'''
        \t\treturn 1
        \t\t# mine
        \t# not mine
        \tdef g(self): return 2
        """,
        ["A.f", "A.g"],
        {},
        """\
        class A:
        \tdef f(self):
        \t\t'''Say what.'''
        \t\traise NotImplementedError("lab: implement f")
        \t# not mine
        \tdef g(self):
        \t\traise NotImplementedError("lab: implement g")
        """,
    ),
    "characters of many bytes before what is cut": (
        """\
        def δƒ(x="é—🙂"): "Δ 🙂"; return "🙂", x  # 🙂
        def g(): return "🙂"
        """,
        ["δƒ"],
        {},
        """\
        def δƒ(x="é—🙂"):
            "Δ 🙂"
            raise NotImplementedError("lab: implement δƒ")
        def g(): return "🙂"
        """,
    ),
    "characters that split lines for Python's str but not for Python": (
        """\
        a = "\x0b \x1c \x1d \x1e \x85 \u2028 \u2029"
        \f
        def f(x):
            "\u2028"; \x0c return x  # \u2029 return y
        \f
        b = 1
        """,
        ["f"],
        {},
        """\
        a = "\x0b \x1c \x1d \x1e \x85 \u2028 \u2029"
        \f
        def f(x):
            "\u2028"
            raise NotImplementedError("lab: implement f")
        \f
        b = 1
        """,
    ),
    "a form feed within the indentation": (
        """\
        class A:
          \f    def f(self):
          \f        return 1
            x = 2
        """,
        ["A.f"],
        {},
        """\
        class A:
          \f    def f(self):
                raise NotImplementedError("lab: implement f")
            x = 2
        """,
    ),
    "an f-string or bytes are no docstring": (
        """\
        def f(x):
            f"{x}"
            return 1
        def g(x):
            b"x"
            return 1
        """,
        ["f", "g"],
        {},
        """\
        def f(x):
            raise NotImplementedError("lab: implement f")
        def g(x):
            raise NotImplementedError("lab: implement g")
        """,
    ),
    "a generator, a coroutine, a class of one line, a conditional look-alike": (
        """\
        def f():
            yield 1
        async def g():
            await f()
        class A: x = 1
        if A:
            def f(): return 3
        """,
        ["f", "g"],
        {},
        """\
        def f():
            raise NotImplementedError("lab: implement f")
        async def g():
            raise NotImplementedError("lab: implement g")
        class A: x = 1
        if A:
            def f(): return 3
        """,
    ),
    "defined twice: the last counts": (
        """\
        def f(): return 1
        class A:
            def f(self): return 1
            def f(self): return 2
        def f(): return 2
        """,
        ["f", "A.f"],
        {},
        """\
        def f(): return 1
        class A:
            def f(self): return 1
            def f(self):
                raise NotImplementedError("lab: implement f")
        def f():
            raise NotImplementedError("lab: implement f")
        """,
    ),
}

# Each case: a docstring with a derivation, and what is left of it.
DERIVATIONS = {
    "closing quotes on their own line stay there": (
        '''"""Sum.

    Notes
    -----
    None.

    Derivation
    ----------
    The secret.

    More
    ----
    Also secret.
    """''',
        '''"""Sum.

    Notes
    -----
    None.
    """''',
    ),
    "closing quotes that end the text end the text": (
        '''"""Sum.

    All of it.

      Derivation
      ---
      The secret."""''',
        '''"""Sum.

    All of it."""''',
    ),
    "one remaining line takes the closing quotes beside it": (
        "'''Sum.\n\n    Derivation\n    ----------\n    The secret.\n    '''",
        "'''Sum.'''",
    ),
    "a heading with nothing below it": (
        '"""Sum.\n\n    Derivation   \n    ----------"""',
        '"""Sum."""',
    ),
    "a raw docstring stays raw": (
        'r"""Sum \\frac{1}{n}.\n\n    Derivation\n    ----------\n    $\\nabla$\n    """',
        'r"""Sum \\frac{1}{n}."""',
    ),
    "text that ends in a quote": (
        '"""Say "sum"\n\n    Derivation\n    ----------\n    The secret."""',
        '"""Say "sum"\n    """',
    ),
    "text that ends in a backslash": (
        'R"""Set A \\\n\n    Derivation\n    ----------\n    The secret.\n    """',
        'R"""Set A \\\n    """',
    ),
    "a heading spelt with escapes": (
        '"Sum \\x41 \\\\.\\n\\nDerivation\\n----------\\nThe secret."',
        "'Sum A \\\\.'",
    ),
    "strings side by side": (
        '''("Sum."  # a comment
     """

     Derivation
     ----------
     The secret.""" "End.")''',
        "('Sum.')",
    ),
    "nothing but a derivation": (
        '"""Derivation\n    ----------\n    The secret.\n    """',
        '""""""',
    ),
    "the word alone is no heading": (
        '"""Derivation\n\n    Derivation\n    is what follows.\n    """',
        '"""Derivation\n\n    Derivation\n    is what follows.\n    """',
    ),
    "a heading of other words is another section": (
        '"""Sum.\n\n    Derivation of it\n    ----------------\n    Open.\n    """',
        '"""Sum.\n\n    Derivation of it\n    ----------------\n    Open.\n    """',
    ),
    "a backslash that joins lines hides the heading": (
        '"""Sum. \\\n    Derivation\n    ----------\n    Open.\n    """',
        '"""Sum. \\\n    Derivation\n    ----------\n    Open.\n    """',
    ),
}


def flush(case: str) -> str:
    """Undo the indentation of a hard case; `dedent` would also touch its blank lines."""
    return re.sub("(?m)^ {8}", "", case)


def without(source: str, *symbols: str) -> str:
    """Dump the tree of a file with the bodies of these symbols left out."""
    tree = ast.parse(source.removeprefix(BOM))
    owners = {"": tree.body}
    owners |= {n.name: n.body for n in tree.body if isinstance(n, ast.ClassDef)}
    for symbol in symbols:
        owner, _, name = symbol.rpartition(".")
        last = [n for n in owners[owner] if isinstance(n, FUNCTION) and n.name == name][-1]
        last.body = []
    return ast.dump(tree)


def run(source: str) -> dict[str, Any]:
    """Execute a file and return its names."""
    names: dict[str, Any] = {}
    exec(compile(source.removeprefix(BOM), "engine.py", "exec"), names)
    return names


# Blanking


@LINE_ENDS
@pytest.mark.parametrize("mark", ["", BOM], ids=["plain", "BOM"])
@pytest.mark.parametrize(
    ("source", "symbols", "keep", "expected"), HARD_CASES.values(), ids=HARD_CASES
)
def test_a_blanked_body_is_replaced_and_nothing_else(
    source: str,
    symbols: list[str],
    keep: dict[str, int],
    expected: str,
    mark: str,
    line_end: str,
) -> None:
    source = mark + flush(source).replace("\n", line_end)
    expected = mark + flush(expected).replace("\n", line_end)

    blanked = blank(source, symbols, "lab", keep)

    assert blanked == expected
    assert without(blanked, *symbols) == without(source, *symbols)
    assert all(is_stub(blanked, symbol) for symbol in symbols)
    assert blank(blanked, symbols, "lab", keep) == blanked
    assert reblank(source, source, symbols, "lab", keep) == blanked
    assert reblank(blanked, source, symbols, "lab", keep) == blanked


@pytest.mark.parametrize("name", HARD_CASES)
def test_a_file_that_does_not_end_in_a_line_end_still_does_not(name: str) -> None:
    source, symbols, keep, expected = HARD_CASES[name]

    assert blank(flush(source).rstrip(), symbols, "lab", keep) == flush(expected).rstrip()


@LINE_ENDS
@pytest.mark.parametrize(("docstring", "left"), DERIVATIONS.values(), ids=DERIVATIONS)
def test_a_docstring_loses_its_derivation_and_keeps_its_form(
    docstring: str, left: str, line_end: str
) -> None:
    source = f"def f(x):\n    {docstring}\n    return x\n".replace("\n", line_end)

    blanked = blank(source, ["f"], "lab")

    assert blanked == (
        f'def f(x):\n    {left}\n    raise NotImplementedError("lab: implement f")\n'
    ).replace("\n", line_end)
    assert "secret" not in blanked
    assert blank(blanked, ["f"], "lab") == blanked
    assert reblank(source, source, ["f"], "lab") == blanked


def test_a_blanked_symbol_raises_the_name_of_its_track_and_its_own() -> None:
    source = dedent(
        '''
        def function(): return 1
        class A:
            def __matmul__(self, other):
                """Multiply."""
                return 1
            @staticmethod
            def static(): return 1
            @classmethod
            def made(cls): yield 1
            @property
            def T(self): return 1
        '''
    )
    symbols = list(symbols_in(source))

    names = run(blank(source, symbols, "lab01"))

    a = names["A"]()
    for call, name in [
        (names["function"], "function"),
        (lambda: a @ a, "__matmul__"),
        (a.static, "static"),
        (a.made, "made"),
        (lambda: a.T, "T"),
    ]:
        with pytest.raises(NotImplementedError) as raised:
            call()
        assert str(raised.value) == f"lab01: implement {name}"
    assert names["A"].__matmul__.__doc__ == "Multiply."


def test_a_symbol_named_twice_is_blanked_once() -> None:
    source = "def f():\n    return 1\n"

    assert blank(source, ["f", "f"], "lab") == blank(source, ["f"], "lab")


def test_no_symbols_leave_the_source_as_it_is() -> None:
    source = BOM + ENGINE.replace("\n", "\r")

    assert blank(source, [], "lab") == source


def test_mixed_line_ends_stay_where_they_are() -> None:
    before = 'a = 1\r\n\rdef f():\r    """Sum.\n\r\n    All.\r    """'
    after = "\r\n\n# end\rb = 2"

    assert blank(f"{before}\n    return 1{after}", ["f"], "lab") == (
        f'{before}\r    raise NotImplementedError("lab: implement f"){after}'
    )


def test_an_invalid_escape_is_no_business_of_ours() -> None:
    source = (
        'def f():\n    """A \\d.\n\n    Derivation\n    ---\n    \\d\n    """\n    return "\\d"\n'
    )

    assert blank(source, ["f"], "lab").startswith('def f():\n    """A \\d."""\n    raise ')


def test_an_unknown_symbol_is_named_with_its_neighbours() -> None:
    with pytest.raises(AutodrillError) as error:
        blank(ENGINE, ["Tensor.__matmull__"], "lab")

    assert "`Tensor.__matmull__`" in error.value.message
    assert error.value.hint.startswith("did you mean `Tensor.__matmul__`")


def test_a_bare_method_name_is_told_its_class() -> None:
    with pytest.raises(AutodrillError) as error:
        text_of(ENGINE, "matmul")

    assert "`Tensor.__matmul__`" in error.value.hint


def test_a_symbol_like_no_other_gets_no_false_advice() -> None:
    with pytest.raises(AutodrillError) as error:
        is_stub(ENGINE, "qqq")

    assert (error.value.message, error.value.hint) == ("there is no function or method `qqq`", "")


def test_keeping_every_statement_is_a_fault_of_the_track() -> None:
    with pytest.raises(AutodrillError, match=r"`f` has nothing left to blank when 2"):
        blank("def f(x):\n    x = x\n    return x\n", ["f"], "lab", {"f": 2})


# What a file holds


def test_symbols_come_with_their_lines() -> None:
    spans = symbols_in(ENGINE)

    assert spans == {
        "unbroadcast": Span(first_line=6, def_line=6, body_line=7, last_line=20),
        "Tensor.__matmul__": Span(first_line=26, def_line=26, body_line=27, last_line=29),
        "Tensor.T": Span(first_line=33, def_line=34, body_line=35, last_line=35),
    }


def test_a_decorator_begins_at_its_sign() -> None:
    source = "@(\n    # @not here\n    d\n)\n@e\ndef f():\n    @(\n    d)\n    def g(): pass\n"

    assert symbols_in(source) == {"f": Span(first_line=1, def_line=6, body_line=7, last_line=9)}
    assert text_of(source, "f") == source.rstrip("\n")


def test_a_later_definition_hides_an_earlier_one_and_all_within_it() -> None:
    source = dedent(
        """
        class A:
            def f(self): pass
            def g(self): pass
        def B(): pass
        class A:
            def g(self): pass
        class B: pass
        """
    )

    assert symbols_in(source) == {"A.g": Span(7, 7, 7, 7)}


def test_an_empty_file_has_no_symbols() -> None:
    assert symbols_in("") == symbols_in(BOM) == symbols_in("\r\n# nothing") == {}


@LINE_ENDS
def test_the_text_of_a_method_is_dedented_with_its_decorators(line_end: str) -> None:
    source = BOM + ENGINE.replace("\n", line_end)

    assert text_of(source, "Tensor.T") == "@property\ndef T(self):\n    return self.transpose()"


def test_text_that_is_not_indented_is_left_where_it_stands() -> None:
    source = "class A:\n\tdef f(self):\n\t\t'''Sum.\n\nleft\n\t\t'''\n# left\n\t\treturn 1  # one\n"

    assert text_of(source, "A.f") == (
        "def f(self):\n\t'''Sum.\n\nleft\n\t'''\n# left\n\treturn 1  # one"
    )


@pytest.mark.parametrize(
    "body",
    [
        "raise NotImplementedError",
        "raise NotImplementedError('my own words')",
        "raise NotImplementedError() from None",
        "...",
        "pass",
        "'''Say.'''",
        "'''Say.'''; pass",
        "'''Say.'''; x = lift(x); raise NotImplementedError('lab: implement f')",
        "x: T = lift(x); ...",
        "\n    if not isinstance(x, T):\n        x = T(x)\n    raise NotImplementedError",
    ],
)
def test_a_body_that_only_gives_up_is_a_stub(body: str) -> None:
    assert is_stub(f"def f(x): {body}\n", "f")


@pytest.mark.parametrize(
    "body",
    [
        "return x",
        "return NotImplementedError",
        "raise ValueError",
        "raise",
        "raise errors.NotImplementedError",
        "x = lift(x)",
        "x.sum(); raise NotImplementedError",
        "\n    if x: return 1\n    raise NotImplementedError",
        "f'{x}'",
        "'''Say.'''; 'more'",
    ],
)
def test_a_body_that_does_something_is_no_stub(body: str) -> None:
    assert not is_stub(f"def f(x): {body}\n", "f")


# Resetting a learner's file


@LINE_ENDS
@pytest.mark.parametrize("mark", ["", BOM], ids=["plain", "BOM"])
def test_only_the_named_symbol_of_a_learners_file_is_reset(line_end: str, mark: str) -> None:
    learner = mark + dedent(
        """\
        # my notes
        def unbroadcast(g, s, extra): return g  # gone

        class Tensor :
            @decorated
            def __matmul__(self, o):
                return o   # mine
                # mine too

            # not the method's
            def mine(self) : return  1
        """
    ).replace("\n", line_end)

    reset = reblank(learner, ENGINE, ["Tensor.__matmul__"], "lab", {"Tensor.__matmul__": 1})

    assert reset == mark + dedent(
        '''\
        # my notes
        def unbroadcast(g, s, extra): return g  # gone

        class Tensor :
            def __matmul__(self, other):
                """Multiply."""
                other = lift(other)  # a bare array will do
                raise NotImplementedError("lab: implement __matmul__")

            # not the method's
            def mine(self) : return  1
        '''
    ).replace("\n", line_end)


def test_decorators_come_back_with_the_stub() -> None:
    learner = ENGINE.replace("    @property\n", "").replace("def T(self)", "def T(self, axes)")

    assert reblank(learner, ENGINE, ["Tensor.T"], "lab") == blank(ENGINE, ["Tensor.T"], "lab")


def test_a_lost_method_is_put_at_the_end_of_its_class() -> None:
    learner = "class Tensor:\n    x = 1\n    # the class's\n\n# the file's\ny = 2\n"

    assert reblank(learner, ENGINE, ["Tensor.T", "Tensor.__matmul__"], "lab") == (
        "class Tensor:\n    x = 1\n    # the class's\n"
        "\n    @property\n    def T(self):\n"
        '        raise NotImplementedError("lab: implement T")\n'
        '\n    def __matmul__(self, other):\n        """Multiply."""\n'
        '        raise NotImplementedError("lab: implement __matmul__")\n'
        "\n# the file's\ny = 2\n"
    )


def test_a_lost_method_finds_a_class_of_one_line() -> None:
    assert reblank("class Tensor: pass;", ENGINE, ["Tensor.T"], "lab") == (
        "class Tensor:\n    pass;\n\n    @property\n    def T(self):\n"
        '        raise NotImplementedError("lab: implement T")'
    )


@pytest.mark.parametrize(
    ("learner", "before"),
    [
        ("", ""),
        ("\r\n", "\r\n"),
        ("   ", "   \n"),
        ("x = 1", "x = 1\n\n\n"),
        ("x = 1\r", "x = 1\r\r\r"),
        ("# a\r\nx = 1\r\n\r\n", "# a\r\nx = 1\r\n\r\n\r\n"),
        ("x = 1\n\n\n\n\n", "x = 1\n\n\n\n\n"),
        ("x = 1\n\n\n\n  ", "x = 1\n\n\n\n  \n"),
        ("class A:\n    x = 1\n    # a", "class A:\n    x = 1\n    # a\n\n\n"),
    ],
)
def test_a_lost_function_is_put_at_the_end_of_the_file(learner: str, before: str) -> None:
    line_end = re.findall("\r\n|\r|\n", before + "\n")[0]
    stub = text_of(blank(ENGINE, ["unbroadcast"], "lab"), "unbroadcast")

    assert reblank(learner, ENGINE, ["unbroadcast"], "lab") == (
        before + stub.replace("\n", line_end) + line_end
    )


def test_the_last_of_two_definitions_is_reset() -> None:
    learner = "def f(): return 'draft'\ndef f(): return 'mine'\n"

    assert reblank(learner, "def f(): return 1\n", ["f"], "lab") == (
        "def f(): return 'draft'\ndef f():\n    raise NotImplementedError(\"lab: implement f\")\n"
    )


def test_a_stub_takes_the_tabs_of_the_learners_file() -> None:
    learner = "class Tensor:\n\tdef T(self):\n\t\treturn 1\n"

    assert reblank(learner, ENGINE, ["Tensor.T", "Tensor.__matmul__", "unbroadcast"], "lab") == (
        "class Tensor:\n\t@property\n\tdef T(self):\n"
        '\t\traise NotImplementedError("lab: implement T")\n\n'
        '\tdef __matmul__(self, other):\n\t\t"""Multiply."""\n'
        '\t\traise NotImplementedError("lab: implement __matmul__")\n\n\n'
        'def unbroadcast(grad, shape):\n\t"""Sum a gradient back to a shape.\n\n'
        '\tParameters\n\t----------\n\tgrad : ndarray\n\t"""\n'
        '\traise NotImplementedError("lab: implement unbroadcast")\n'
    )


def test_a_stub_stands_at_the_indentation_of_the_learners_class() -> None:
    learner = "class Tensor:\n  def T(self):\n    return 1\n"

    assert reblank(learner, ENGINE, ["Tensor.T"], "lab") == (
        "class Tensor:\n  @property\n  def T(self):\n"
        '      raise NotImplementedError("lab: implement T")\n'
    )


def test_a_lost_class_takes_more_than_the_reset_of_a_target() -> None:
    with pytest.raises(AutodrillError) as error:
        reblank("x = 1\n", ENGINE, ["Tensor.T"], "lab")

    assert "`Tensor`" in error.value.message
    assert error.value.hint == "`autodrill reset` without a target restores the whole file"
    assert error.value.exit_code == NOT_YET


@pytest.mark.parametrize(
    ("learner", "message"),
    [
        ("x = 1\r\ry = (\r", "line 3 is not valid Python: '(' was never closed"),
        ("x = 1\r\n\fdef f(:\n", "line 2 is not valid Python: invalid syntax"),
        ("x = '\u2028'\nx = 'a\0'\n", "line 2 is not valid Python: "),
        (f"x = {'(' * 10_000}", " is not valid Python: too many nested parentheses"),
    ],
)
def test_a_learners_file_that_is_not_python_is_left_alone(learner: str, message: str) -> None:
    with pytest.raises(AutodrillError) as error:
        reblank(learner, ENGINE, ["Tensor.T"], "lab")

    assert message in error.value.message
    assert error.value.hint == (
        "`autodrill reset` without a target keeps the text and starts the file again"
    )
    assert error.value.exit_code == NOT_YET


# Any file


@dataclass(frozen=True)
class Piece:
    """A stretch of a made-up file; of a symbol, also what its blanking must leave."""

    source: str
    symbol: str = ""
    stub: str = ""


HEADS = [
    "def NAME(*_):",
    "def NAME(*_, é={'é:': (lambda: 1)}) -> 'x:1':  # :\\",
    "@same\ndef NAME(\n    *_,  # ):\n):",
    "@(\n# @\nsame) # x\n@same\ndef NAME(*_): \f",
    "def NAME \\\n  (*_) \\\n:",
]
DOCSTRINGS = [
    ("", ""),
    ('"é"\n', '"é"\n'),
    ('"é" ; \n', '"é" ; \n'),
    ("r'''One \\\n\n  two'''  # two\n", "r'''One \\\n\n  two'''  # two\n"),
    (
        '"""One.\n\nBODYTwo.\n\nBODYDerivation\nBODY---\n  x\nBODY"""\n',
        '"""One.\n\nBODYTwo.\nBODY"""\n',
    ),
    ('(\n"""One"\n\nDerivation\n---\nx""")\n', '(\n"""One"\nBODY""")\n'),
    ("'a\\nDerivation\\n---\\n' 'x' \n", "'a' \n"),
]
STATEMENTS = [
    "return 1  # é\n",
    "a = 1; b = 2 ;\n",
    "\n# a comment\nBODY# another\nBODYpass\n",
    "if 1:\nBODY return 2\nBODY  # deep\nBODYelse: a = 3\n",
    "a = '''\n# no comment\n'''\n",
    "@same\nBODYdef g():\nBODY  return 1\n",
    "yield 1 \\\n\n",
    "for x in [\n1]: pass\n\nBODY# last words\n",
]
FILLINGS = [
    "\n",
    "# a comment\n",
    "x = '''\n    def f(): return 1\n\u2028'''  # é\n",
    "y = [  # :\n  1]\n",
    "\f\n",
    "def _(): return 1; pass\n",
]


@st.composite
def files(draw: st.DrawFn) -> list[Piece]:
    unit = draw(st.sampled_from(["    ", "\t", "  "]))
    numbers = iter(range(100))
    file = [Piece("same = lambda f: f\n")]
    for owner in ["", *draw(st.lists(st.sampled_from("AB"), unique=True))]:
        indent = unit if owner else ""
        if owner:
            file.append(Piece(f"class {owner}:  # def f(): no\n{unit}x = 1\n"))
        for is_symbol in draw(st.lists(st.booleans(), max_size=4)):
            if is_symbol:
                file.append(draw(symbol_pieces(owner, f"f{next(numbers)}", indent, indent + unit)))
            else:
                file.append(Piece(indent + draw(st.sampled_from(FILLINGS))))
    return file


@st.composite
def symbol_pieces(draw: st.DrawFn, owner: str, name: str, indent: str, body: str) -> Piece:
    head = re.sub("(?m)^", indent, draw(st.sampled_from(HEADS))).replace("NAME", name) + "\n"
    docstring, left = draw(st.sampled_from(DOCSTRINGS))
    statements = draw(st.lists(st.sampled_from(STATEMENTS), min_size=not docstring, max_size=3))
    raised = f'raise NotImplementedError("lab: implement {name}")\n'
    source = head + "".join(body + part for part in [docstring, *statements] if part)
    stub = head + "".join(body + part for part in [left, raised] if part)
    return Piece(
        source.replace("BODY", body),
        f"{owner}.{name}" if owner else name,
        stub.replace("BODY", body),
    )


def names_in(file: list[Piece]) -> list[str]:
    return [piece.symbol for piece in file if piece.symbol]


@settings(deadline=None)
@given(files(), st.sampled_from(["\n", "\r\n", "\r"]), st.sampled_from(["", BOM]), st.data())
def test_any_symbols_of_any_file_are_blanked_and_nothing_else(
    file: list[Piece], line_end: str, mark: str, data: st.DataObject
) -> None:
    symbols = data.draw(st.sets(st.sampled_from(names_in(file)))) if names_in(file) else set()
    source = "".join(piece.source for piece in file)
    stubs = "".join(p.stub if p.symbol in symbols else p.source for p in file)
    source, stubs = (mark + text.replace("\n", line_end) for text in (source, stubs))

    blanked = blank(source, symbols, "lab")

    assert blanked == stubs
    assert without(blanked, *symbols) == without(source, *symbols)
    assert blank(blanked, symbols, "lab") == blanked
    assert reblank(source, source, symbols, "lab") == blanked
    names = run(blanked)
    for symbol in symbols:
        owner, _, name = symbol.rpartition(".")
        with pytest.raises(NotImplementedError, match=f"^lab: implement {name}$"):
            (getattr(names[owner], name) if owner else names[name])()


@settings(deadline=None)
@given(files(), st.randoms(use_true_random=False))
def test_any_mix_of_line_ends_is_kept_outside_the_blanked_body(
    file: list[Piece], random: Random
) -> None:
    texts = [with_mixed_line_ends(piece.source, random) for piece in file]
    source = "".join(texts)
    for i, piece in enumerate(file):
        if piece.symbol:
            before, after = "".join(texts[:i]), "".join(texts[i + 1 :])
            for blanked in (
                blank(source, [piece.symbol], "lab"),
                reblank(source, source, [piece.symbol], "lab"),
            ):
                assert blanked.startswith(before)
                assert blanked.endswith(after)
                stub = blanked[len(before) : len(blanked) - len(after)]
                assert re.split("\r\n|\r|\n", stub) == piece.stub.split("\n")


def with_mixed_line_ends(text: str, random: Random) -> str:
    mixed = ""
    for line in text.split("\n")[:-1]:
        # After a lone CR, an empty line that ends in LF would be no line but a CRLF.
        alone = mixed.endswith("\r") and not line
        mixed += line + random.choice(["\r"] if alone else ["\n", "\r\n", "\r"])
    return mixed


# The project's own references


@pytest.mark.parametrize("path", REFERENCES, ids=lambda path: path.stem)
def test_every_symbol_of_a_reference_can_be_blanked(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    symbols = list(symbols_in(source))

    blanked = blank(source, symbols, path.stem)

    assert without(blanked, *symbols) == without(source, *symbols)
    assert blank(blanked, symbols, path.stem) == blanked
    assert reblank(source, source, symbols, path.stem) == blanked
    for node in ast.walk(compile(blanked, path, "exec", ast.PyCF_ONLY_AST)):
        if isinstance(node, FUNCTION):
            assert "Derivation\n--" not in (ast.get_docstring(node) or "")
    for symbol in load_track(path.stem).symbols:
        alone = blank(source, [symbol], path.stem)
        compile(alone, path, "exec")
        assert is_stub(alone, symbol)


SEAM = '''\
def through(node, grad):
    """Send a gradient through.

    Derivation
    ----------
    None is needed.
    """
    for hook in node.hooks:
        grad = hook(grad)
    return grad


def other():
    return 1
'''


def test_a_seam_is_left_doing_what_its_track_says() -> None:
    blanked = blank(SEAM, ["through"], "lab01", bodies={"through": "return grad"})
    assert blanked == SEAM.replace(
        '''through.

    Derivation
    ----------
    None is needed.
    """
    for hook in node.hooks:
        grad = hook(grad)
    return grad''',
        '''through."""
    return grad''',
    )


def test_a_body_of_several_lines_keeps_its_shape() -> None:
    body = "if node is None:\n    return None\nreturn grad"
    blanked = blank(SEAM, ["through"], "lab01", bodies={"through": body})
    assert text_of(blanked, "through").endswith(
        '"""\n    if node is None:\n        return None\n    return grad'
    )


def test_a_seam_that_is_put_back_does_what_its_track_says() -> None:
    mine = SEAM.replace("return grad", "return 2 * grad")
    again = reblank(mine, SEAM, ["through"], "lab01", bodies={"through": "return grad"})
    assert again == blank(SEAM, ["through"], "lab01", bodies={"through": "return grad"})
