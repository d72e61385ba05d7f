"""The registry of recognizers: functions and fact classes with the calls that they handle."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import msgspec

from npulint.facts.model import Fact
from npulint.model.values.cursors import CallSite, Scope

_R = TypeVar("_R", bound=Callable[..., Any])


class CallRecognizer(msgspec.Struct, frozen=True):
    """Creates facts from calls. `wants` returns whether it handles the calls of a canonical name."""

    names: frozenset[str]
    matching: Callable[[str], bool] | None
    facts: Callable[[CallSite], Iterable[Fact]]


ModuleRecognizer = Callable[[Scope], Iterable[Fact]]
"""From the outermost scope of a module to facts about code other than calls."""

OF_CALLS: dict[str, list[CallRecognizer]] = {}
"""The call recognizers by the module that declares them."""
OF_MODULES: dict[str, list[ModuleRecognizer]] = {}
"""The module recognizers by the module that declares them."""


def recognizes(*names: str, matching: Callable[[str], bool] | None = None) -> Callable[[_R], _R]:
    """Registers a recognizer for the calls of some canonical names, or of all that `matching` accepts. It is a subclass
    of `CallFact`, which becomes a fact of each such call, or a function from the `CallSite` to facts."""

    def register(recognizer: _R) -> _R:
        make: Any = recognizer
        facts = (lambda call: (make(call, call.name),)) if isinstance(recognizer, type) else make
        OF_CALLS.setdefault(recognizer.__module__, []).append(CallRecognizer(frozenset(names), matching, facts))
        return recognizer

    return register


def recognizes_in_modules(function: ModuleRecognizer) -> ModuleRecognizer:
    """Registers a recognizer for code other than calls: a function from the `Scope` of each module to facts."""
    OF_MODULES.setdefault(function.__module__, []).append(function)
    return function
