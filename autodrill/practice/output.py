"""Files that a command writes on request: what is written to them, by their names."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from autodrill.errors import AutodrillError
from autodrill.workspace import write_text

_SUFFIXES = {
    "terminal": (".txt",),
    "mermaid": (".mmd", ".mermaid"),
    "dot": (".dot", ".gv"),
    "svg": (".svg",),
    "png": (".png",),
}
_PICTURES = ("svg", "png")


def form_of(asked: str | None, out: Path | None, forms: Collection[str] = _SUFFIXES) -> str:
    """Return what to write: as asked for, else as the file's name says.

    A file whose name says something else is refused, so that no engine file is ever overwritten.
    """
    if out is None:
        if asked == "png":
            raise AutodrillError("a png can't be printed", "name a file: --out graph.png")
        return asked or "terminal"
    for form in forms if asked is None else (asked,):
        if out.suffix.lower() in _SUFFIXES[form]:
            return form
    suffixes = [one for form in forms if asked in (None, form) for one in _SUFFIXES[form]]
    what = f"a {asked} file" if asked else "a file to write"
    raise AutodrillError(
        f"`{out}` does not name {what}", f"its name ends in {' or '.join(suffixes)}"
    )


def picture_of(out: Path) -> str:
    """Return `svg` or `png`, as a file's name says."""
    return form_of(None, out, _PICTURES)


def write(out: Path, data: bytes) -> None:
    """Write a file whole or not at all."""
    write_text(out, data)
