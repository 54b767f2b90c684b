"""Bug variants: the reference with a patch of the catalogue applied.

Compiling the whole reference for each bug would cost more than everything else, so it is
compiled once; a variant executes that code and replaces the functions that are patched.
"""

from __future__ import annotations

import inspect
import sys
import textwrap
import types
from functools import cache
from pathlib import Path
from typing import Any

from autodrill.bugs import Bug, Patch
from autodrill.cases.run import Request
from autodrill.catalog import Track
from autodrill.engines.engine import LocalEngine
from autodrill.engines.reference import load_suite, reference_engine
from autodrill.errors import broken_track
from autodrill.stubs import symbols_in


@cache
def variant(track: Track, bug: Bug) -> LocalEngine:
    """Return the reference with a bug in it, as an engine.

    Raises
    ------
    AutodrillError
        If the patch does not apply, which is a fault of ours (exit 3).
    """
    module = types.ModuleType(f"autodrill_variant_{bug.id.replace('-', '_')}")
    module.__file__ = str(track.reference)
    exec(_compiled(track), module.__dict__)
    texts: dict[str, str] = {}
    for patch in bug.patches:
        texts[patch.symbol] = _patched(track, bug, patch, texts.get(patch.symbol))
    for symbol, text in texts.items():
        _replace(module, symbol, text, f"{track.id}:{bug.id}")
    return LocalEngine(load_suite(track), module, file=f"{track.id}:{bug.id}")


def symbols_run(engine: LocalEngine, request: Request) -> frozenset[str]:
    """Run a request and return the functions and methods of the engine's file that it runs.

    Only a bug in one of them can change what the request gives.
    """
    codes: set[types.CodeType] = set()

    def note(frame: types.FrameType, event: str, _: Any) -> None:
        if event == "call":
            codes.add(frame.f_code)

    if sys.getprofile() is not None:  # somebody profiles autodrill, and there can be only one
        return frozenset(symbols_in(Path(engine.lib.__file__).read_text(encoding="utf-8")))
    sys.setprofile(note)
    try:
        engine.run(request, 0.0)
    finally:
        sys.setprofile(None)
    own = [code for code in codes if code.co_filename == engine.file]
    return frozenset(code.co_qualname.partition(".<locals>")[0] for code in own)


@cache
def _compiled(track: Track) -> types.CodeType:
    source = track.reference.read_text(encoding="utf-8")
    return compile(source, str(track.reference), "exec", dont_inherit=True)


@cache
def _text(track: Track, symbol: str) -> str:
    """Read a symbol's text as `stubs.text_of` gives it, but without parsing the whole file."""
    owner_name, _, name = symbol.rpartition(".")
    module = reference_engine(track).lib
    owner = getattr(module, owner_name) if owner_name else module
    found: Any = inspect.getattr_static(owner, name)
    function: Any = found.fget if isinstance(found, property) else getattr(found, "__func__", found)
    return textwrap.dedent(inspect.getsource(function)).rstrip()


def _patched(track: Track, bug: Bug, patch: Patch, text: str | None) -> str:
    own = text if text is not None else _text(track, patch.symbol)
    if own.count(patch.find) != 1:
        raise broken_track(
            f"the bug `{bug.id}` of `{track.id}` does not apply: its text stands "
            f"{own.count(patch.find)} times in `{patch.symbol}`"
        )
    return own.replace(patch.find, patch.put)


def _replace(module: types.ModuleType, symbol: str, text: str, file: str) -> None:
    """Compile one function in the module's namespace and put it in its place."""
    owner_name, _, name = symbol.rpartition(".")
    space = module.__dict__
    before = space.get(name)
    code = compile("from __future__ import annotations\n" + text, file, "exec", dont_inherit=True)
    exec(code, space)
    if owner_name:
        function: Any = space.pop(name)
        if before is not None:
            space[name] = before
        setattr(space[owner_name], name, function)
