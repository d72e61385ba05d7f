"""The analysis state of one project: names, values and options."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, Protocol, TypeVar

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.code import Value
from npulint.model.code.bindings import Bindings
from npulint.model.code.module import Module
from npulint.model.code.names import Names
from npulint.model.code.project import Project
from npulint.model.code.recursion import Recursion
from npulint.model.launches.options import Options
from npulint.model.values.executions import Executions

_RELEASE = lazy_compile(r"(\d+)\.(\d+)")
_T = TypeVar("_T")
_Of = TypeVar("_Of", bound="Context | _InContext")
_Block = TypeVar("_Block", bound="_BlockOfFile")


class Context:
    """One project during assembly. `torch` is the release of PyTorch that it is for; empty if unknown."""

    def __init__(self, project: Project, torch: str = "") -> None:
        self.project = project
        for module in project.modules.values():
            module.forget_cursors()
        self.torch = torch
        self.names = Names(project)
        self.options = Options(self.names)
        self.bindings = Bindings(self.names).of
        self.walks: dict[object, Recursion] = {}  # see `npulint.model.values.walker`
        self.answers: dict[object, dict[object, Any]] = {}  # by function, see `once` and `npulint.model.values.walker`
        self.asked = 0  # how many questions are being answered within each other, see `npulint.model.values.walker`
        self.provisional: dict[tuple[int, object], dict[object, Any]] = {}
        """Where answers are kept that a cut may have changed, by the table and the question."""
        self.assumed: dict[tuple[str, int], Any] = {}  # see `npulint.model.running.conditions`
        self.load: Callable[[Module, int], list[Value]] | None = None  # see `npulint.model.values.data_files`
        self.composed: Callable[[Module, int], Value | None] | None = None
        self.held_under: Callable[[tuple[str, ...]], list[Value]] | None = None
        self.held_as: Callable[[str], list[Value]] | None = None
        self.executions: Executions | None = None  # where the files can be read again
        self._worked_out: dict[object, Any] = {}

    @contextmanager
    def asking(self, answers: dict[object, Any], question: object) -> Iterator[None]:
        """While it is open, a question is being answered. Its answer is provisional if something was cut meanwhile; the
        outermost question ends what is provisional."""
        self.asked += 1
        cuts = Recursion.cuts
        is_final = False
        try:
            yield
            is_final = Recursion.cuts == cuts or self.asked == 1
        finally:
            self.asked -= 1
            if not is_final:
                self.provisional[id(answers), question] = answers
            if not self.asked:
                for (_, provisional), table in self.provisional.items():
                    table.pop(provisional, None)
                self.provisional.clear()

    @property
    def torch_release(self) -> tuple[int, int] | None:
        """Major and minor number of the release of PyTorch; None if unknown."""
        match = _RELEASE.match(self.torch)
        return (int(match[1]), int(match[2])) if match else None

    def memoize(self, key: object, work: Callable[[], _T]) -> _T:
        """The result of `work`, computed once per key and shared by all facts that need it."""
        if key not in self._worked_out:
            self._worked_out[key] = work()
        result: _T = self._worked_out[key]
        return result


class _InContext(Protocol):
    """A block, a call or an expression of a project."""

    @property
    def context(self) -> Context: ...


class _BlockOfFile(_InContext, Protocol):
    @property
    def path(self) -> str: ...

    def at(self, block: int) -> Any: ...


def once(work: Callable[[_Of], _T]) -> Callable[[_Of], _T]:
    """Lets a function work once for each project, block or call that it is handed."""

    @wraps(work)
    def answer(of: _Of) -> _T:
        context = of if isinstance(of, Context) else of.context
        cached: dict[object, _T] | None = context.answers.get(work)
        if cached is None:
            cached = context.answers[work] = {}
        elif of in cached:
            return cached[of]
        worked_out = cached[of] = work(of)
        return worked_out

    return answer


def once_per_file(work: Callable[[_Block], _T]) -> Callable[[_Block], _T]:
    """Lets a function work once for each file, whichever of its blocks it is handed: it gets that of the module."""

    @wraps(work)
    def answer(block: _Block) -> _T:
        path, answers = block.path, block.context.answers
        cached: dict[object, _T] | None = answers.get(work)
        if cached is None:
            cached = answers[work] = {}
        elif path in cached:
            return cached[path]
        worked_out = cached[path] = work(block.at(0))
        return worked_out

    return answer
