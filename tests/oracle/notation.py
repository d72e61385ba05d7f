"""The notation of the forms: programs of one to four files with probes.

A file of forms is a group. In it

    #### a name            begins a form; its train.py follows
    ==> pkg/config.py      begins another file of the form
    >>> EXPRESSION         is reveal_value(EXPRESSION)
    >>>                    is reveal_runs()

and, before the first line of train.py,

    :start LR=3 python train.py --lr 3    the start (`python train.py` without this line)
    :any start                            no start is named: each script without arguments, and each launcher
    :run A=1 B=2                          one execution, with these environment variables
    :run seed=7                           one execution, with this state of `random` and of hashing
    :run module=apex                      one execution, in which this module can be imported
    :run input=yes                        one execution, with this text as its input
    :run launcher=run.sh:a,b              one execution by a launcher, with arguments
    :run script=eval.py                   one execution of another script
    :endless                              the program does not end

Words of `:run` can be combined. Without `:run` there are two executions, with different seeds.
"""

from __future__ import annotations

import ast
import re
import shlex
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import NamedTuple

FORMS = Path(__file__).parent / "forms"
DEFAULT_START = "python train.py"


class Place(NamedTuple):
    """Where a probe is, and its kind: ``value`` or ``runs``."""

    path: str
    line: int
    kind: str


@dataclass(frozen=True)
class Execution:
    """One way to execute a program, of those that its start leaves open."""

    environment: tuple[tuple[str, str], ...] = ()
    modules: tuple[str, ...] = ()
    launcher: str = ""
    arguments: tuple[str, ...] = ()
    script: str = ""
    text: str = ""
    seed: int = 1


@dataclass(frozen=True)
class Program:
    """A program with probes, its start (None: any), and how it is executed."""

    group: str
    name: str
    files: dict[str, str]
    start: str | None = DEFAULT_START
    executions: tuple[Execution, ...] = ()
    endless: bool = False

    @property
    def title(self) -> str:
        """The group and the name."""
        return f"{self.group}/{self.name}"

    @property
    def places(self) -> list[Place]:
        """Where its probes are."""
        places = []
        for path, text in self.files.items():
            for node in ast.walk(ast.parse(text)) if path.endswith(".py") else ():
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _PROBES:
                    places.append(Place(path, node.lineno, _PROBES[node.func.id]))
        return sorted(places)


_PROBES = {"reveal_value": "value", "reveal_runs": "runs"}


@dataclass
class _Draft:
    """A form while its lines are read."""

    name: str
    start: str | None = DEFAULT_START
    endless: bool = False
    executions: list[Execution] = field(default_factory=list)
    lines: dict[str, list[str]] = field(default_factory=lambda: {"train.py": []})
    path: str = "train.py"

    def add(self, line: str) -> None:
        """Read a line."""
        if line.startswith("==> "):
            self.path = line[4:].strip()
            self.lines[self.path] = []
        elif line.startswith(":") and not self.lines["train.py"]:
            self._direct(line)
        else:
            self.lines[self.path].append(line)

    def _direct(self, line: str) -> None:
        word, _, rest = line[1:].partition(" ")
        if word == "start":
            self.start = rest.strip()
        elif word == "any":
            self.start = None
        elif word == "endless":
            self.endless = True
        elif word == "run":
            self.executions.append(_execution(rest, len(self.executions) + 1))
        else:
            raise ValueError(f"{self.name}: not understood: {line}")

    def program(self, group: str) -> Program:
        """The form."""
        files = {path: _with_probes("\n".join(lines).rstrip() + "\n") for path, lines in self.lines.items()}
        executions = tuple(self.executions) or (Execution(seed=1), Execution(seed=2))
        return Program(group, self.name, files, self.start, executions, self.endless)


def _execution(text: str, seed: int) -> Execution:
    words = dict(word.partition("=")[::2] for word in shlex.split(text))
    launcher, _, arguments = words.pop("launcher", "").partition(":")
    modules, script, given = words.pop("module", ""), words.pop("script", ""), words.pop("input", "")
    seed = int(words.pop("seed", seed))
    return Execution(
        tuple(words.items()),
        tuple(modules.split(",")) if modules else (),
        launcher,
        tuple(arguments.split(",")) if arguments else (),
        script,
        given,
        seed,
    )


def _with_probes(text: str) -> str:
    text = re.sub(r"(?m)^( *)>>> *$", r"\1reveal_runs()", text)
    return re.sub(r"(?m)^( *)>>> (.*)$", r"\1reveal_value(\2)", text)


def parsed(group: str, text: str) -> list[Program]:
    """The forms of a group that a text describes."""
    drafts: list[_Draft] = []
    for line in text.splitlines():
        if line.startswith("#### "):
            drafts.append(_Draft(line[5:].strip()))
        elif drafts:
            drafts[-1].add(line)
    return [draft.program(group) for draft in drafts]


@cache
def all_forms() -> tuple[Program, ...]:
    """The forms of all groups."""
    paths = sorted(FORMS.glob("*.txt"))
    return tuple(form for path in paths for form in parsed(path.stem, path.read_text(encoding="utf-8")))
