"""The place of an expression, and the calls through which the tracer reached it."""

from __future__ import annotations

from typing import NamedTuple

from npulint.assemble.module import Module
from npulint.training_config.provenance.passing import Passing


class At(NamedTuple):
    """A line in a block of a module, with the search depth. `frames` are the calls that the tracer followed into the
    enclosing functions, outermost first: only these provide arguments. `bound` are the variables of a comprehension
    with their values in one iteration."""

    module: Module
    block: int
    line: int
    depth: int = 0
    frames: tuple[CallFrame, ...] = ()
    bound: tuple[tuple[str, object], ...] = ()

    def deeper(self) -> At:
        """The same place, one level deeper."""
        return self._replace(depth=self.depth + 1)

    def moved(self, module: Module, block: int, line: int) -> At:
        """Another place, one level deeper; variables of comprehensions are dropped."""
        bound = self.bound if module is self.module and block == self.block else ()
        return At(module, block, line, self.depth + 1, self.frames, bound)

    def entered(self, module: Module, function: int, passing: Passing, line: int, block: int) -> At:
        """A place in a function that a call at this place runs."""
        return At(module, block, line, self.depth + 1, (*self.frames, CallFrame(module.path, function, passing)))

    def caller(self, function: int) -> tuple[Passing, At] | None:
        """The followed call that runs a function around this place, and its place."""
        for number in range(len(self.frames) - 1, -1, -1):
            frame = self.frames[number]
            if frame.path == self.module.path and frame.function == function:
                call, home = frame.passing.call, frame.passing.home
                return frame.passing, At(home, call.block, call.line, self.depth + 1, self.frames[:number])
        return None


class CallFrame(NamedTuple):
    """A call that the tracer followed into a function."""

    path: str
    function: int
    passing: Passing
