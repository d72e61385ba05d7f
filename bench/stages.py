"""Where the time of a cold check goes: CPU seconds of each stage, without those of the stages within it.

    python bench/stages.py PATH...

Checks the paths in this process with an empty cache and prints the stages as JSON. `bench/run.py --profile` runs it for
each framework.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import gc
import importlib
import io
import json
import re
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

STAGES = ("import", "parse", "walk", "shell", "read", "assemble", "recognise", "evaluate", "report", "cache", "other")
"""In the order of the work. import: Python, and modules when they are needed; parse: `ast.parse`; walk: facts from
syntax trees; shell: scripts; read: all other files; assemble: names, values and programs; recognise: facts about the
frameworks; evaluate: checks; report: what comes after them; cache: digests, look-ups and writes."""

_WORK = {
    "parse": ("ast:parse",),
    "walk": ("npulint.read.python:read_python",),
    "shell": ("npulint.read.shell_script:read_script", "npulint.read.shell_script:read_shell"),
    "read": (
        "npulint.commands.check.project_results:load",
        "npulint.commands.check.project_results:read",
        "npulint.judge.result_cache:read",
    ),
    "assemble": ("npulint.commands.check.project_runner:assemble",),
    "recognise": ("npulint.commands.build:recognise",),
    "evaluate": ("npulint.commands.check.project_runner:evaluate",),
    "report": ("npulint.commands.check.pipeline:build_result", "npulint.hosts.cli.check:report"),
    "cache": (
        "npulint.commands.check.project_results:fingerprint",
        "npulint.core.cache:Cache.get_many",
        "npulint.core.cache:Cache.put_many",
    ),
}
_IMPORTS = ("builtins:__import__", "npulint.recognizers.run:import_module")
_USES = {
    "torch": re.compile(rb"^\s*(?:import|from)\s+torch\b", re.MULTILINE),
    "tensorflow": re.compile(rb"^\s*(?:import|from)\s+tensorflow\b", re.MULTILINE),
}


class Clock:
    """Distributes CPU time over stages: at each moment the innermost one under way is charged. The time before, since
    the start of the process, is that of `begun`."""

    def __init__(self, begun: str = "other", now: Callable[[], float] = time.process_time, since: float = 0.0) -> None:
        self.spent: dict[str, float] = defaultdict(float)
        self._now = now
        self._last = since
        self._stack = [begun]

    def charge(self) -> None:
        """Charge the time since the last change to the innermost stage."""
        now = self._now()
        self.spent[self._stack[-1]] += now - self._last
        self._last = now

    def within(self, stage: str, work: Callable[..., Any]) -> Callable[..., Any]:
        """The same function, whose time is that of a stage."""

        def timed(*args: Any, **keywords: Any) -> Any:
            self.charge()
            self._stack.append(stage)
            try:
                return work(*args, **keywords)
            finally:
                self.charge()
                self._stack.pop()

        return timed


def measured(paths: Iterable[str], begun: float = 0.0) -> dict[str, float]:
    """CPU seconds by stage of a check of some paths in this process, since `begun` on its clock. Leaves the functions
    of the stages timed: use a process for each check."""
    clock = Clock("import", since=begun)
    gc.disable()  # as `npulint.__main__`
    from npulint.hosts.cli.main import main

    for stage, places in {**_WORK, "import": _IMPORTS}.items():
        for place in places:
            _replace(place, clock, stage)
    with contextlib.redirect_stdout(io.StringIO()):
        clock.within("other", main)(["check", "--isolated", "--jobs", "1", *paths])
    return {stage: clock.spent.get(stage, 0.0) for stage in STAGES}


def _replace(place: str, clock: Clock, stage: str) -> None:
    """Let a function, ``module:name`` or ``module:Class.name``, be timed."""
    module, _, dotted = place.partition(":")
    holder: Any = {"ast": ast, "builtins": builtins}.get(module) or importlib.import_module(module)
    *outer, name = dotted.split(".")
    for one in outer:
        holder = getattr(holder, one)
    setattr(holder, name, clock.within(stage, getattr(holder, name)))


def by_framework(corpus: Path) -> dict[str, list[str]]:
    """The folders of a corpus by the framework that most of their files import; those without one are left out."""
    found: dict[str, list[str]] = {}
    for folder in sorted(path for path in corpus.iterdir() if path.is_dir()):
        texts = [path.read_bytes() for path in folder.rglob("*.py") if path.is_file()]
        uses = Counter(name for text in texts for name, pattern in _USES.items() if pattern.search(text))
        if uses:
            found.setdefault(uses.most_common(1)[0][0], []).append(str(folder))
    return found


def as_text(stages: Mapping[str, Mapping[str, float]]) -> str:
    """A table of the shares of each stage, with a column for each framework."""
    lines = [f"{'':10}" + "".join(f"{name:>14}" for name in stages)]
    totals = {name: sum(one.values()) or 1.0 for name, one in stages.items()}
    for stage in STAGES:
        shares = "".join(f"{one[stage] / totals[name]:14.1%}" for name, one in stages.items())
        lines.append(f"{stage:10}{shares}")
    lines.append(f"{'seconds':10}" + "".join(f"{total:14.3f}" for total in totals.values()))
    return "\n".join(lines)


if __name__ == "__main__":
    print(json.dumps(measured(sys.argv[1:])))
