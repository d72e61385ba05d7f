"""What the calls of ``reveal_value`` and ``reveal_runs`` in a project see, without executing anything of it."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from functools import partial
from typing import Any, Final, NamedTuple, Protocol

from npulint.core.budget import GENEROUS, BudgetError, within
from npulint.facts.model import Problem
from npulint.model.execution.answers import UNFOLLOWED, Answer, Seen, is_settled, merged, seen_by
from npulint.model.execution.deep_stack import in_deep_stack
from npulint.model.execution.engine import Engine
from npulint.model.execution.launchers import launcher_starts
from npulint.model.execution.machine import Exhausted, Unbounded
from npulint.model.execution.project_files import NotRead, Probe, ProjectFiles, ReachableFiles, names_of
from npulint.model.execution.sources import Sources
from npulint.model.execution.starts import Start, start_of

_MOST_RECURSIVE: Final = 16  # functions without a bound of which a program is executed again
_MOST_WORK: Final = 3_000_000  # steps of all starts together

__all__ = ["Revealed", "Start", "executed", "probes_of", "reveal", "revealed"]


class Unfollowed(NamedTuple):
    """A start that is not followed to its end, and why."""

    start: Start
    reason: str


class Revealed(NamedTuple):
    """The answers of a project, the starts that were not followed, and the files that could not be read."""

    answers: list[Answer]
    unfollowed: list[Unfollowed]
    problems: list[Problem]


class Reach(Protocol):
    """Tells which files a start may execute."""

    def of(self, script: str) -> frozenset[str] | None:
        """The files that a start of a script may execute; None: any."""


class _Anything:
    """Answers for files whose names were not examined."""

    def of(self, script: str) -> None:
        return None


def reveal(root: str, command: str | None = None) -> Revealed:
    """The answers for a start that is named by its command line; without one, for every Python file of the project as a
    script without arguments, and for every start by a launcher. Raises `StartError` for a command line that starts no
    program of the project."""
    return in_deep_stack(lambda: _reveal(root, command))


def _reveal(root: str, command: str | None) -> Revealed:
    files = ProjectFiles(root)
    starts = [start_of(command, files)] if command is not None else []
    reach = ReachableFiles(files)
    probes = reach.probes
    if command is None and probes:
        starts = [Start(path) for path in files.scripts]
        for path, kind in files.launchers:
            text = files.launcher_text(path)
            starts += launcher_starts(text, path, kind, files) if text is not None else []
    run = _Run(files, probes, reach)
    run.follow(starts)
    problems = [files.problems[path] for path in sorted(files.problems)]
    return Revealed(run.answers() if starts else [], run.unfollowed, problems)


def probes_of(sources: Sources) -> list[Probe]:
    """The probes in Python files whose texts are given."""
    trees = [(path, sources.tree(path)) for path in sources.scripts]
    return [probe for path, tree in trees if tree is not None for probe in names_of(tree, path).probes]


def revealed(sources: Sources, starts: Sequence[Start]) -> list[dict[str, Any]]:
    """The answers for each probe in files whose texts are given, as JSON data, for all of these starts together."""
    run = _Run(sources, probes_of(sources), _Anything())
    run.follow(starts)
    return [answer.record() for answer in run.answers()]


class _Run:
    """The starts of a project, followed one after the other."""

    def __init__(self, sources: Sources, probes: list[Probe], reach: Reach) -> None:
        self._sources, self._probes, self._reach = sources, probes, reach
        self._seen: list[list[Seen]] = [[] for _ in probes]
        self._work = 0
        self.unfollowed: list[Unfollowed] = []

    def answers(self) -> list[Answer]:
        """What holds for all starts that were followed."""
        return [merged(probe, each) for probe, each in zip(self._probes, self._seen, strict=True)]

    def follow(self, starts: Sequence[Start]) -> None:
        """Follow starts, until none can change an answer."""
        distinct: dict[Start, Start] = {}
        for start in starts:
            distinct.setdefault(start.essence, start)
        for start in distinct.values():
            if all(is_settled(probe, each) for probe, each in zip(self._probes, self._seen, strict=True)):
                return
            for each, seen in zip(self._seen, self._of(start), strict=True):
                each.append(seen)

    def _of(self, start: Start) -> list[Seen]:
        """What a start sees at each probe."""
        reached = self._reach.of(start.script)
        if reached is not None and not any(probe.path in reached for probe in self._probes):
            return [Seen(False)] * len(self._probes)
        reason = start.unfollowed or ("work" if self._work > _MOST_WORK else "")
        if not reason:
            engine, reason = executed(self._sources, start)
            self._work += engine.steps
            if not reason:
                return [seen_by(engine, probe) for probe in self._probes]
        self.unfollowed.append(Unfollowed(start, reason))
        open_ = Seen(True, None, "maybe", f"{UNFOLLOWED}: {start.command}")
        return [open_ if reached is None or probe.path in reached else Seen(False) for probe in self._probes]


def executed(
    sources: Sources, start: Start, watched: frozenset[ast.expr] = frozenset(), most_steps: int = 0
) -> tuple[Engine, str]:
    """The execution of a start, and why it was not followed to its end (empty if it was), for instance because it needs
    more than `most_steps` steps (0: the usual limit). The values that the `watched` expressions had are among its
    probes."""
    recursive: set[ast.AST] = set()
    while True:
        engine = Engine(sources, dict(start.environment), start.folder, frozenset(recursive))
        engine.watched, engine.most_steps = watched, most_steps or engine.most_steps
        try:
            within(GENEROUS.of_project(1, 0), partial(_execute, engine, start))
        except Unbounded as error:
            recursive.add(error.node)
            if len(recursive) > _MOST_RECURSIVE:
                return engine, "limit"
        except NotRead:
            return engine, "unread"
        except Exhausted:
            return engine, "limit"
        except BudgetError as error:
            return engine, error.reason
        except (RecursionError, MemoryError):
            return engine, "depth"
        else:
            return engine, "lost" if engine.lost else ""


def _execute(engine: Engine, start: Start) -> None:
    words = None if start.is_open else start.words
    engine.start(start.script, words, start.module, start.named, start.search)
