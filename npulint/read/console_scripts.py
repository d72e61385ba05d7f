"""Console scripts that a project installs, from pyproject.toml, setup.cfg and setup.py."""

from __future__ import annotations

from collections.abc import Iterator

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.kinds import fact_kind
from npulint.facts.model import FileFact
from npulint.read.json_tree import Lines

_FILES = frozenset(("pyproject.toml", "setup.cfg", "setup.py"))
_SCRIPT = lazy_compile(
    r"(?m)(?:^[ \t]*|[\"'])(?P<name>[A-Za-z_][\w.-]*)[\"']?[ \t]*=[ \t]*"
    r"[\"']?(?P<module>[A-Za-z_][\w.]*):(?P<function>[A-Za-z_][\w.]*)"
)


@fact_kind("console_script")
class ConsoleScript(FileFact):
    """A project installs a command; the name is the command."""

    module: str
    """The module that the command starts."""
    function: str
    """The function there that it calls."""


def console_scripts(text: str, path: str) -> Iterator[ConsoleScript]:
    """The commands that a file of packaging metadata installs (``name = package.module:function``); none in other
    files."""
    if path.rpartition("/")[2] not in _FILES or ":" not in text:
        return
    lines = Lines(text)
    for match in _SCRIPT.finditer(text):
        yield ConsoleScript(match["name"], path, lines.span(*match.span("name")), match["module"], match["function"])
