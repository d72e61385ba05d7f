"""The analysis state of one project: names, values and options."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Protocol, TypeVar

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.code import Value
from npulint.model.code.bindings import Bindings
from npulint.model.code.module import Module
from npulint.model.code.names import Names
from npulint.model.code.project import Project
from npulint.model.code.recursion import Cuts, Recursion
from npulint.model.launches.options import Options
from npulint.model.values.executions import Executions

_RELEASE = lazy_compile(r"(\d+)\.(\d+)")
_T = TypeVar("_T")
_Of = TypeVar("_Of", bound="Context | _InContext")
_Block = TypeVar("_Block", bound="_BlockOfFile")


class Context:
    """One project during assembly. `torch` is the release of PyTorch that it is for; empty if unknown. `declared` are
    the releases that the target declares, by package (torch, cann)."""

    def __init__(self, project: Project, torch: str = "") -> None:
        self.project = project
        for module in project.modules.values():
            module.forget_cursors()
        self.torch = torch
        self.declared: dict[str, str] = {}
        self.names = Names(project)
        self.options = Options(self.names)
        self.bindings = Bindings(self.names).of
        self.walks: dict[object, Recursion] = {}  # see `npulint.model.values.walker`
        self.answers: dict[object, dict[object, Any]] = {}  # by function, see `once` and `npulint.model.values.walker`
        self.provisional: dict[tuple[int, object], tuple[dict[object, Any], int]] = {}
        """The answers that a cut may have changed, by their table and question: with the number of the open question
        until whose end they hold, see `npulint.model.code.recursion`."""
        self.assumed: dict[tuple[str, int], Any] = {}  # see `npulint.model.running.conditions`
        self.load: Callable[[Module, int], list[Value]] | None = None  # see `npulint.model.values.data_files`
        self.composed: Callable[[Module, int], Value | None] | None = None
        self.held_under: Callable[[tuple[str, ...]], list[Value]] | None = None
        self.held_as: Callable[[str], list[Value]] | None = None
        self.executions: Executions | None = None  # where the files can be read again
        self._worked_out: dict[object, Any] = {}

    def settle(self, answers: dict[object, Any], question: object, number: int, lowest: int, as_assumed: bool) -> None:
        """Decide what becomes of an answer in a table, and of those that were worked out meanwhile. What was worked out
        from an assumed answer holds if that is the answer (`as_assumed`); else it is asked again when it is needed. An
        answer that depends on what a question around it was assumed to be (`lowest`) holds until that is answered."""
        if number in Cuts.assumed or number in Cuts.limited:
            as_assumed = as_assumed and number not in Cuts.limited
            Cuts.assumed.discard(number)
            Cuts.limited.discard(number)
            for key, (table, until) in list(self.provisional.items()):
                if until < number:
                    continue
                if not as_assumed:
                    table.pop(key[1], None)
                    del self.provisional[key]
                elif lowest < number:
                    self.provisional[key] = table, lowest
                else:
                    del self.provisional[key]
        if number and lowest < number:
            self.provisional[id(answers), question] = answers, lowest
        if not number:
            self.forget_provisional()

    def forget_provisional(self) -> None:
        """Drop the answers that hold until the outermost question is answered."""
        for (_, question), (table, _) in self.provisional.items():
            table.pop(question, None)
        self.provisional.clear()
        Cuts.assumed.clear()
        Cuts.limited.clear()

    def note_use(self, answers: dict[object, Any], question: object) -> None:
        """An answer in a table is used: what is worked out from a provisional one is provisional, too."""
        provisional = self.provisional.get((id(answers), question))
        if provisional is not None and provisional[1] < Cuts.lowest:
            Cuts.lowest = provisional[1]

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
