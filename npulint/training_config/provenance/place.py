"""Where an expression stands, and through which calls the search for its value came there."""

from __future__ import annotations

from typing import NamedTuple

from npulint.assemble.module import Module
from npulint.training_config.provenance.passing import Passing


class At(NamedTuple):
    """A line in a block of a module, so many steps from the question. `frames` are the calls that the search followed
    into the functions that it is in, the outermost first: those alone give their parameters. `bound` are the variables
    of a comprehension with their values in one of its rounds."""

    module: Module
    block: int
    line: int
    depth: int = 0
    frames: tuple[CallFrame, ...] = ()
    bound: tuple[tuple[str, object], ...] = ()

    def deeper(self) -> At:
        """The same place, one step on."""
        return self._replace(depth=self.depth + 1)

    def moved(self, module: Module, block: int, line: int) -> At:
        """Another place, one step on; the rounds of a comprehension are left with its block."""
        bound = self.bound if module is self.module and block == self.block else ()
        return At(module, block, line, self.depth + 1, self.frames, bound)

    def entered(self, module: Module, function: int, passing: Passing, line: int, block: int) -> At:
        """A place in a function that a call here runs."""
        return At(module, block, line, self.depth + 1, (*self.frames, CallFrame(module.path, function, passing)))

    def caller(self, function: int) -> tuple[Passing, At] | None:
        """The followed call that runs a function around this place, and where it stands."""
        for number in range(len(self.frames) - 1, -1, -1):
            frame = self.frames[number]
            if frame.path == self.module.path and frame.function == function:
                call, home = frame.passing.call, frame.passing.home
                return frame.passing, At(home, call.block, call.line, self.depth + 1, self.frames[:number])
        return None


class CallFrame(NamedTuple):
    """A call that the search followed into a function."""

    path: str
    function: int
    passing: Passing
