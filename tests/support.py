"""Small helpers of the tests: programs and facts from source texts."""

from __future__ import annotations

from textwrap import dedent

from npulint.commands.build import assemble
from npulint.facts.model import Fact, FileFacts
from npulint.read.python import read_python
from npulint.recognizers.programs import Program


def read_sources(sources: dict[str, str]) -> list[FileFacts]:
    """Python sources by path, as files that were read."""
    files = []
    for path, text in sources.items():
        code, problems = read_python(dedent(text), path)
        assert not problems, problems
        files.append(FileFacts(path, "python", code))
    return files


def programs(sources: dict[str, str], adapter: str = "") -> list[Program]:
    """The programs of a project made of Python sources by path."""
    return assemble("", read_sources(sources), adapter)


def facts(sources: dict[str, str] | str, kind: str, name: str = "") -> list[Fact]:
    """All facts of a kind (and name), each once, in the order of their places."""
    named = {"train.py": sources} if isinstance(sources, str) else sources
    found: dict[int, Fact] = {}
    for program in programs(named):
        for fact in program.index.of_kind(kind):
            if not name or fact.name == name:
                found[id(fact)] = fact
    return sorted(found.values(), key=lambda f: (f.path, f.span))


def lines(sources: dict[str, str] | str, kind: str, name: str = "") -> list[int]:
    """The lines of those facts."""
    return [f.span.line for f in facts(sources, kind, name)]
