"""Call stacks in profiles: the line of user code that a row or an event comes from."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.model import FileFact

_FRAME = lazy_compile(r"\s*([^\n]{1,1000}?)\((\d{1,7})\): ([^\n]{1,300}?)\s*\Z")
_HOME = lazy_compile(r"\A(?:/home/[^/]+|/Users/[^/]+|/root|[A-Za-z]:[/\\]Users[/\\][^/\\]+)(?=[/\\])")
_LIBRARY = lazy_compile(
    r"""[/\\] (?: site-packages | dist-packages | lib(?:64)?[/\\]python\d[\d.]* | Python\d+[/\\]Lib ) [/\\]
    | \A (?: < | torch[/\\] | torch_npu[/\\] | multiprocessing[/\\] | threading\.py )""",
    re.VERBOSE,
)
_FRAMES = 300


class StackFrame(msgspec.Struct, frozen=True, order=True):
    """A line of code: `file` as the profile names it, with ``~`` for the home folder."""

    file: str
    line: int
    function: str

    @property
    def place(self) -> str:
        return f"{self.file}:{self.line}"

    def attrs(self) -> dict[str, Any]:
        """The fields of a `LineFact` about this line."""
        return {"file": self.file, "source_line": self.line, "function": self.function}


class LineFact(FileFact, kw_only=True):
    """A fact that may name a line of the user's code."""

    file: str | None = None
    """The file as the artifact names it."""
    source_line: int | None = None
    function: str | None = None
    at: str | None = None
    """The file of the project that is meant, if it is found."""
    at_line: int | None = None


def user_frame(stack: str) -> StackFrame | None:
    """The innermost frame outside the folders of Python and installed packages, or None.

    Frames are ``path(line): function``, innermost first, separated by ``;`` and a line end (torch_npu,
    `with_stack=True`)."""
    for part in stack[:200_000].split(";", _FRAMES)[:_FRAMES]:
        match = _FRAME.match(part)
        if match is not None and _LIBRARY.search(match.group(1)) is None:
            return StackFrame(_HOME.sub("~", match.group(1)), int(match.group(2)), match.group(3))
    return None
