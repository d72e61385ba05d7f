"""Makefiles: the commands of their rules as a shell script, line for line and column for column."""

from __future__ import annotations

import re

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.model import Fact
from npulint.read.shell_script import read_shell

_ASSIGNMENT = lazy_compile(
    r"(?P<export>export[ \t]+)?(?P<name>[A-Za-z_]\w*)(?P<sign>[ \t]*[:?+!]?:?=[ \t]*)(?P<value>.*)"
)
_VARIABLE = lazy_compile(r"\$\((?P<name>[A-Za-z_]\w*)\)")
_PREFIX = lazy_compile(r"[ \t@+-]+")


def read_makefile(text: str, path: str) -> list[Fact]:
    """The facts of the commands of a Makefile, as those of a shell script. Conditions of make are not evaluated: what
    they guard counts as run."""
    return read_shell(shell_of(text), path)


def shell_of(text: str) -> str:
    """The assignments and the recipes of a Makefile as a shell script; other lines become empty."""
    script: list[str] = []
    quoted = False  # within the value of a variable that a backslash continues on the next line
    for line in text.split("\n"):
        if quoted:
            quoted = line.rstrip().endswith("\\")
            script.append(_commands(line) + ("" if quoted else '"'))
        elif line.startswith("\t"):
            prefix = _PREFIX.match(line)
            start = prefix.end() if prefix else 1
            script.append(" " * start + _commands(line[start:]))
        else:
            assigned = _assignment(line)
            quoted = bool(assigned) and line.rstrip().endswith("\\")
            script.append(assigned if not assigned or quoted else f'{assigned}"')
    return "\n".join(script)


def _assignment(line: str) -> str:
    """The beginning of an assignment in the shell, with an open quote; empty for other lines."""
    match = _ASSIGNMENT.match(line)
    if match is None or '"' in match["value"]:
        return ""
    word = f'export {match["name"]}="' if match["export"] else f'{match["name"]}="'
    return " " * (match.start("value") - len(word)) + word + _commands(match["value"])


def _commands(text: str) -> str:
    """Text of make with its variables and dollar signs as in the shell, of the same length."""
    return re.sub(r"\$\$", " $", _VARIABLE.sub(r"${\g<name>}", text)) if "$" in text else text
