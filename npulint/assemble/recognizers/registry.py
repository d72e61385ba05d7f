"""The registry of recognisers: functions and fact classes that say which calls they want."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import msgspec

from npulint.assemble.cursors import CallSite, Scope
from npulint.facts.model import Fact

_R = TypeVar("_R", bound=Callable[..., Any])


class CallRecognizer(msgspec.Struct, frozen=True):
    """Makes facts of calls. `wants` answers for a canonical name whether calls of it are handed over; `package` is the
    module that declares it."""

    wants: Callable[[str], bool]
    facts: Callable[[CallSite], Iterable[Fact]]
    module: str


class ModuleRecognizer(msgspec.Struct, frozen=True):
    """Makes facts of all that is no call in a module of the project, whose outermost scope it is handed."""

    facts: Callable[[Scope], Iterable[Fact]]
    module: str


OF_CALLS: list[CallRecognizer] = []
OF_MODULES: list[ModuleRecognizer] = []


def recognizes(*names: str, matching: Callable[[str], bool] | None = None) -> Callable[[_R], _R]:
    """Registers a recogniser for the calls of some canonical names, or of all that `matching` accepts: a subclass of
    `CallFact`, which becomes a fact of each such call, or a function that is handed the `CallSite` and gives facts."""
    wanted = frozenset(names)
    wants = wanted.__contains__ if matching is None else matching

    def register(recognizer: _R) -> _R:
        make: Any = recognizer
        if isinstance(recognizer, type):
            OF_CALLS.append(CallRecognizer(wants, lambda call: (make(call, call.name),), recognizer.__module__))
        else:
            OF_CALLS.append(CallRecognizer(wants, make, recognizer.__module__))
        return recognizer

    return register


def recognizes_in_modules(function: Callable[[Scope], Iterable[Fact]]) -> Callable[[Scope], Iterable[Fact]]:
    """Registers a recogniser of facts that are no calls; it is handed the `Scope` of each module."""
    OF_MODULES.append(ModuleRecognizer(function, function.__module__))
    return function
