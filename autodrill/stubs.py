"""Cut stubs from Python source, leaving every byte outside the blanked bodies as it was.

Text in, text out. `ast` says where things are and `tokenize` where logical lines end; the
source is only ever sliced, never printed back from a tree.
"""

import ast
import difflib
import io
import re
import tokenize
import warnings
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import EllipsisType

from autodrill.errors import NOT_YET, AutodrillError, broken_track

Function = ast.FunctionDef | ast.AsyncFunctionDef
Edit = tuple[int, int, str]  # from, to, and the text that stands there afterwards

# Python's line ends and no others: `str.splitlines` also splits at form feeds and U+2028.
_LINE_END = re.compile(r"\r\n|\r|\n")
_SPACE = " \t\f"
_DERIVATION = re.compile(
    r"(?:\A|(?<=[\r\n]))[ \t]*Derivation[ \t]*(?:\r\n|\r|\n)[ \t]*-{3,}[ \t]*(?=[\r\n]|\Z)"
)
_TRIPLE_QUOTED = re.compile(r"(?s)(?P<open>[a-zA-Z]*(?P<close>\"{3}|'{3}))(?P<inner>.*)(?P=close)")
_START_AGAIN = "`autodrill reset` without a target keeps the text and starts the file again"


@dataclass(frozen=True)
class Span:
    """The lines of a symbol, counted from 1, the last one included."""

    first_line: int  # the first decorator's, if there is one
    def_line: int
    body_line: int  # the docstring's, or else the first statement's
    last_line: int


def symbols_in(source: str) -> dict[str, Span]:
    """Find the functions and methods of a file; of two with one name, the last."""
    file = _read(source)
    return {symbol: _span(file, node) for symbol, node in _functions(file.tree).items()}


def blank(
    source: str,
    symbols: Iterable[str],
    track: str,
    keep: Mapping[str, int] = {},
    bodies: Mapping[str, str] = {},
) -> str:
    """Replace each body by a raise, or by `bodies[symbol]`.

    The docstring and `keep[symbol]` statements stay.
    """
    file = _read(source)
    functions = _functions(file.tree)
    edits: list[Edit] = []
    for symbol in dict.fromkeys(symbols):
        node = _find(functions, symbol)
        body = bodies.get(symbol, f'raise NotImplementedError("{track}: implement {node.name}")')
        edits += _stub_edits(file, node, symbol, body, keep.get(symbol, 0))
    return _edited(file, edits)


def is_stub(source: str, symbol: str) -> bool:
    """Say whether a symbol is still unwritten: at most assignments before it gives up."""
    body = _find(_functions(_read(source).tree), symbol).body
    rest = body[1:] if _docstring(body) else body
    return not rest or (_gives_up(rest[-1]) and all(map(_only_assigns, rest[:-1])))


def text_of(source: str, symbol: str) -> str:
    r"""Return a symbol's source, decorators included, dedented, lines ended by `\n`."""
    file = _read(source)
    node = _find(_functions(file.tree), symbol)
    return "\n".join(_moved(file, node, to=""))


def unchanged(source: str, stub: str, symbols: Iterable[str]) -> frozenset[str]:
    """Return the symbols whose text is the same in both."""
    one, other = _read(source), _read(stub)
    mine, theirs = _functions(one.tree), _functions(other.tree)
    return frozenset(
        symbol
        for symbol in symbols
        if symbol in mine
        and symbol in theirs
        and _moved(one, mine[symbol], to="") == _moved(other, theirs[symbol], to="")
    )


def without(source: str, symbols: Iterable[str]) -> str:
    """Return what a file holds beside some functions and methods, as far as they are there."""
    file = _read(source)
    found = _functions(file.tree)
    nodes = [found[symbol] for symbol in symbols if symbol in found]
    return _edited(file, [(file.start(node), file.end(node), "") for node in nodes])


def reblank(
    source: str,
    reference: str,
    symbols: Iterable[str],
    track: str,
    keep: Mapping[str, int] = {},
    bodies: Mapping[str, str] = {},
) -> str:
    """Put the reference's stubs of the symbols into a learner's text and change nothing else."""
    symbols = tuple(dict.fromkeys(symbols))
    stubs = _read(blank(reference, symbols, track, keep, bodies))
    for symbol in symbols:
        file = _read(source, _START_AGAIN)
        source = _edited(file, _return_edits(file, symbol, stubs))
    return source


# A file, addressed as Python's parser does ----------------------------------------------------


@dataclass(frozen=True)
class _File:
    bom: str
    text: str
    starts: list[int]  # offset of each line
    ends: list[int]  # and of the end of it, before the line end
    tree: ast.Module

    def line(self, number: int) -> str:
        return self.text[self.starts[number - 1] : self.ends[number - 1]]

    def indent(self, number: int) -> str:
        line = self.line(number)
        return _effective(line[: len(line) - len(line.lstrip(_SPACE))])

    def newline(self, number: int) -> str:
        r"""Return the line end of a line; for the last line, the one before; `\n` for none."""
        number = min(number, len(self.starts) - 1)
        return self.text[self.ends[number - 1] : self.starts[number]] or "\n"

    def start(self, node: ast.stmt | ast.expr) -> int:
        return self._offset(node.lineno, node.col_offset)

    def end(self, node: ast.stmt | ast.expr) -> int:
        assert node.end_lineno is not None and node.end_col_offset is not None
        return self._offset(node.end_lineno, node.end_col_offset)

    def _offset(self, number: int, column: int) -> int:
        before = self.line(number).encode()[:column]  # `ast` counts columns in UTF-8 bytes
        return self.starts[number - 1] + len(before.decode())

    @cached_property
    def layout(self) -> tuple[list[int], dict[int, str]]:
        """The ends of logical lines, and the indentation of each block that opens after one."""
        line_ends: list[int] = []
        indents: dict[int, str] = {}
        plain = io.StringIO(_LINE_END.sub("\n", self.text))
        for token in tokenize.generate_tokens(plain.readline):
            if token.type == tokenize.NEWLINE:
                line_ends.append(self.ends[token.start[0] - 1])
            elif token.type == tokenize.INDENT:
                indents[line_ends[-1]] = _effective(token.string)
        return line_ends, indents

    def logical_end(self, offset: int) -> int:
        line_ends, _ = self.layout
        return line_ends[bisect_left(line_ends, offset)]

    @property
    def indent_unit(self) -> str:
        return next(iter(self.layout[1].values()), "    ")


def _effective(indent: str) -> str:
    return indent.rpartition("\f")[2]  # at a form feed Python begins to count anew


def _read(source: str, hint: str = "") -> _File:
    bom = "\ufeff" if source.startswith("\ufeff") else ""
    text = source.removeprefix(bom)
    found = list(_LINE_END.finditer(text))
    starts = [0, *(line_end.end() for line_end in found)]
    ends = [*(line_end.start() for line_end in found), len(text)]
    try:
        with warnings.catch_warnings():
            # A learner's "\d" must not fail where warnings are errors.
            warnings.simplefilter("ignore")
            return _File(bom, text, starts, ends, ast.parse(text))
    except SyntaxError as error:
        number, why = error.lineno, error.msg
    except (ValueError, RecursionError, MemoryError) as error:  # a null byte, absurd nesting
        number, why = None, str(error) or "nested too deeply"
    if "\0" in text:
        number = bisect_left(ends, text.index("\0")) + 1
    where = f"line {number}" if number else "the file"
    raise AutodrillError(f"{where} is not valid Python: {why}", hint, NOT_YET)


def _edited(file: _File, edits: list[Edit]) -> str:
    pieces, done = [file.bom], 0
    for start, end, text in sorted(edits):
        pieces += file.text[done:start], text
        done = end
    return "".join(pieces) + file.text[done:]


# Symbols --------------------------------------------------------------------------------------


def _functions(tree: ast.Module) -> dict[str, Function]:
    found: dict[str, Function] = {}
    for node in tree.body:
        if not isinstance(node, Function | ast.ClassDef):
            continue
        # A definition hides all that came before under its name, a class's methods too.
        found = {name: f for name, f in found.items() if name.partition(".")[0] != node.name}
        if isinstance(node, ast.ClassDef):
            methods = {f.name: f for f in node.body if isinstance(f, Function)}
            found |= {f"{node.name}.{name}": method for name, method in methods.items()}
        else:
            found[node.name] = node
    return found


def _find(functions: Mapping[str, Function], symbol: str) -> Function:
    if symbol in functions:
        return functions[symbol]
    near = difflib.get_close_matches(symbol, functions, n=3, cutoff=0.4)
    hint = f"did you mean {' or '.join(f'`{name}`' for name in near)}?" if near else ""
    raise AutodrillError(f"there is no function or method `{symbol}`", hint)


def _span(file: _File, node: Function) -> Span:
    first, body = _first_line(file, node), _first_line(file, node.body[0])
    return Span(first, node.lineno, body, node.end_lineno or node.lineno)


def _first_line(file: _File, node: ast.stmt) -> int:
    if not isinstance(node, Function | ast.ClassDef) or not node.decorator_list:
        return node.lineno
    number = node.decorator_list[0].lineno
    while not file.line(number).lstrip(_SPACE).startswith("@"):
        number -= 1  # `ast` gives the place of the expression: `@(` may stand lines above
    return number


def _docstring(body: list[ast.stmt]) -> ast.Constant | None:
    match body[0]:
        case ast.Expr(ast.Constant(str()) as docstring):
            return docstring
    return None


def _only_assigns(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.If):  # `if not isinstance(other, Tensor): other = …`
        return all(map(_only_assigns, statement.body + statement.orelse))
    return isinstance(statement, ast.Assign | ast.AnnAssign)


def _gives_up(statement: ast.stmt) -> bool:
    match statement:
        case ast.Pass() | ast.Expr(ast.Constant(EllipsisType())):
            return True
        case ast.Raise(ast.Name(name) | ast.Call(ast.Name(name))):
            return name == "NotImplementedError"
    return False


# The block of a `def` or a `class` ------------------------------------------------------------


@dataclass(frozen=True)
class _Block:
    head: int  # where the header ends; its own comment belongs to it
    opening: list[Edit]  # moves a block that begins on the header's line to a line of its own
    indent: str
    newline: str
    end: int  # the end of the last line, comments indented like the block included


def _block(file: _File, node: Function | ast.ClassDef) -> _Block:
    newline = file.newline(node.lineno)
    first, head = file.start(node.body[0]), file.logical_end(file.start(node))
    opening: list[Edit] = []
    if first < head:
        head = len(file.text[:first].rstrip(_SPACE + "\r\n\\"))
        indent = file.indent(node.lineno) + file.indent_unit
        opening = [(head, first, newline + indent)]
    else:
        indent = file.layout[1][head]
    last = bisect_left(file.ends, file.logical_end(file.end(node.body[-1]))) + 1
    width = len(indent.expandtabs())
    for number in range(last + 1, len(file.ends) + 1):
        code = file.line(number).strip(_SPACE)
        if code.startswith("#") and len(file.indent(number).expandtabs()) >= width:
            last = number
        elif code:
            break
    return _Block(head, opening, indent, newline, file.ends[last - 1])


# Cutting --------------------------------------------------------------------------------------


def _stub_edits(file: _File, node: Function, symbol: str, body: str, keep: int) -> list[Edit]:
    block, docstring = _block(file, node), _docstring(node.body)
    kept = keep + (docstring is not None)
    if keep and kept >= len(node.body):
        raise broken_track(f"`{symbol}` has nothing left to blank when {keep} statements are kept")
    edits: list[Edit] = []
    cut = block.head
    if kept:
        edits += block.opening
        cut = file.end(node.body[kept - 1])
        line_end = file.logical_end(cut)
        if kept == len(node.body) or line_end < file.start(node.body[kept]):
            cut = line_end  # the comment beside what is kept is kept
    new_line = block.newline + block.indent
    if docstring and (heading := _DERIVATION.search(str(docstring.value))):
        start, end = file.start(docstring), file.end(docstring)
        wanted = str(docstring.value)[: heading.start()].rstrip()
        edits.append((start, end, _shortened(file.text[start:end], wanted, new_line)))
    return [*edits, (cut, block.end, new_line + new_line.join(body.splitlines()))]


def _shortened(literal: str, wanted: str, new_line: str) -> str:
    """Cut a docstring's source at its derivation, so that it says `wanted` and no more."""
    quoted = _TRIPLE_QUOTED.fullmatch(literal)
    heading = _DERIVATION.search(quoted["inner"]) if quoted else None
    if quoted and heading:
        text = quoted["inner"][: heading.start()].rstrip()
        own_line = re.search(r"(?:\r\n|\r|\n)[ \t]*\Z", quoted["inner"])
        closing = own_line[0] if own_line and _LINE_END.search(text) else ""
        # Closing quotes cannot follow a quote or a backslash: then they go to the next line.
        for gap in (closing, new_line):
            shorter = quoted["open"] + text + gap + quoted["close"]
            if _says(shorter, wanted):
                return shorter
    return repr(wanted)  # strings side by side, or a heading spelt with escapes


def _says(literal: str, wanted: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return str(ast.literal_eval(f"({literal})")).rstrip() == wanted
    except (SyntaxError, ValueError):
        return False


# Putting back ---------------------------------------------------------------------------------


def _return_edits(file: _File, symbol: str, stubs: _File) -> list[Edit]:
    stub = _functions(stubs.tree)[symbol]
    if node := _functions(file.tree).get(symbol):
        number = _first_line(file, node)
        start = file.ends[number - 1] - len(file.line(number).lstrip(_SPACE))
        text = _fitted(stubs, stub, file, file.indent(number), file.newline(number))
        return [(start, _block(file, node).end, text)]

    owner, dot, _ = symbol.rpartition(".")
    if dot:
        classes = {c.name: c for c in file.tree.body if isinstance(c, ast.ClassDef)}
        if owner not in classes:
            raise AutodrillError(
                f"`{symbol}` cannot be put back: the file has no class `{owner}`",
                "`autodrill reset` without a target restores the whole file",
                NOT_YET,
            )
        block = _block(file, classes[owner])
        text = _fitted(stubs, stub, file, block.indent, block.newline)
        return [*block.opening, (block.end, block.end, block.newline * 2 + block.indent + text)]

    newline = file.newline(len(file.ends))
    text = _fitted(stubs, stub, file, "", newline)
    return [(len(file.text), len(file.text), newline * _gap(file) + text + newline)]


def _gap(file: _File) -> int:
    """Count the line ends to add after the last line for two blank lines to follow the code."""
    code = file.text.rstrip(_SPACE + "\r\n")
    there = len(_LINE_END.findall(file.text, len(code)))
    return max(3 - there if code else 0, bool(file.line(len(file.ends))))


def _fitted(stubs: _File, stub: Function, file: _File, indent: str, newline: str) -> str:
    lines = _moved(stubs, stub, to=indent)
    if file.indent_unit == "\t":  # else the learner's next tab would be a TabError
        tabbed = re.compile(r"\A[ \t]+")
        lines = [tabbed.sub(lambda m: m[0].replace(stubs.indent_unit, "\t"), x) for x in lines]
    return newline.join(lines)


def _moved(file: _File, node: Function, to: str) -> list[str]:
    """Return a symbol's lines, all but the first moved from its indentation to another."""
    span = _span(file, node)
    old = file.indent(span.first_line)
    first, *others = (file.line(n) for n in range(span.first_line, span.last_line + 1))
    others = [to + line[len(old) :] if line.startswith(old) else line for line in others]
    return [first.lstrip(_SPACE), *others]
