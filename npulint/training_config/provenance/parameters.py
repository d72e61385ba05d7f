"""Evaluates parameters from the arguments of calls within the program."""

from __future__ import annotations

from npulint.assemble.module import Module
from npulint.facts.code import CallResult, Ref, Value
from npulint.facts.model import Span
from npulint.facts.recipe import ProvenanceStep
from npulint.training_config.provenance.following import Following
from npulint.training_config.provenance.passing import Passing, default_of
from npulint.training_config.provenance.place import At
from npulint.training_config.provenance.plain import UNKNOWN, Found, joined
from npulint.training_config.provenance.written import spot

_CALLERS = 64  # calls of one function that are visited


class Parameters:
    def __init__(self, tracer: Following) -> None:
        self._tracer = tracer

    def of(self, name: str, function: int, at: At) -> Found:
        """The possible values of a parameter: the arguments of the program's calls, else its default."""
        module = at.module
        if name not in module.blocks[function].params:
            return UNKNOWN  # *args and **kwargs
        followed = at.caller(function)
        if followed is not None:
            return self._argument(name, function, followed[0], followed[1], at)
        parts = [self._argument(name, function, one, place, at) for one, place in self.callers(module, function, at)]
        if parts:
            return joined(parts) if len(parts) <= _CALLERS else joined(parts[:_CALLERS]).doubted()
        return self._default(name, function, at).doubted()

    def callers(self, module: Module, function: int, at: At) -> list[tuple[Passing, At]]:
        """The calls of a function that run in this start, with their places; all calls if none runs, because the actual
        start is then unknown."""
        conditions = self._tracer.conditions
        found = [
            (one, At(one.home, one.call.block, one.call.line, at.depth + 1))
            for one in self._tracer.passed.of(module, function)[: _CALLERS + 1]
            if conditions.reached(one.home, one.call.block)
        ]
        return [(one, place) for one, place in found if conditions.hold(place, place.block) is not False] or found

    def _argument(self, name: str, function: int, passing: Passing, place: At, at: At) -> Found:
        position = at.module.blocks[function].params.index(name)
        value = passing.argument(name, position)
        if value is None:
            return self._left_out(name, position, function, passing, place, at)
        found = self._tracer.found(value, place)
        return (
            found.written(ProvenanceStep(passing.home.path, spot(passing.call, value), name)) if found.values else found
        )

    def _left_out(self, name: str, position: int, function: int, passing: Passing, place: At, at: At) -> Found:
        """The value of a parameter that a call does not name: an entry of ``**settings`` if there is one, else the
        default."""
        spread = [value for key, value in passing.keywords if key == "**"]
        for value in spread:
            found = self._tracer.member(value, name, place)
            if found is not None:
                return found
        default = self._default(name, function, at)
        return default.doubted() if spread or passing.open(position) else default

    def _default(self, name: str, function: int, at: At) -> Found:
        module = at.module
        value = default_of(module, function, name)
        if value is None:
            return UNKNOWN
        record = module.blocks[function]
        found = self._tracer.found(value, at.moved(module, max(0, record.parent), record.line))
        place = ProvenanceStep(module.path, Span.at(record.line), name)
        found = found.written(place) if found.values else found
        return found.doubted() if any(_configures(module, one) for one in record.decorators) else found


def _configures(module: Module, decorator: Value) -> bool:
    """Whether a decorator makes parameters configurable by a bindings file (gin)."""
    if isinstance(decorator, CallResult):
        decorator = module.code.calls[decorator.call].callee
    return isinstance(decorator, Ref) and decorator.name.rpartition(".")[2] == "configurable"
