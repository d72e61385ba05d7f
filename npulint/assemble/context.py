"""What is known of the code of one project: names, values and options."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from npulint.assemble.bindings import Bindings
from npulint.assemble.launches.options import Options
from npulint.assemble.names import Names
from npulint.assemble.project import Project
from npulint.assemble.recursion import Recursion

_T = TypeVar("_T")


class Context:
    """One project under recognition. `torch` is the release of PyTorch that it is for; empty when not known."""

    def __init__(self, project: Project, torch: str = "") -> None:
        self.project = project
        for module in project.modules.values():
            module.forget_cursors()
        self.torch = torch
        self.names = Names(project)
        self.options = Options(self.names)
        self.bindings = Bindings(self.names).of
        self.walks: dict[object, Recursion] = {}  # see `npulint.assemble.walker`
        self.answers: dict[object, dict[object, Any]] = {}  # see `npulint.assemble.walker`
        self._worked_out: dict[object, Any] = {}

    def memoize(self, key: object, work: Callable[[], _T]) -> _T:
        """The result of `work`, done once for a key: what many facts ask must not be looked for anew."""
        if key not in self._worked_out:
            self._worked_out[key] = work()
        result: _T = self._worked_out[key]
        return result
