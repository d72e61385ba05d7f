"""Whether code runs in one start of a program, as far as its options decide."""

from __future__ import annotations

from functools import cached_property

from npulint.assemble.call_graph import Reached
from npulint.assemble.call_graph import home as home_of
from npulint.assemble.module import Module
from npulint.training_config.provenance.following import Following
from npulint.training_config.provenance.place import At

_BOUNDARIES = frozenset(("function", "lambda", "class", "module"))


class Conditions:
    """Evaluates the conditions around blocks."""

    def __init__(self, tracer: Following) -> None:
        self._tracer = tracer

    def hold(self, at: At, block: int, around: frozenset[int] = frozenset(), home: Module | None = None) -> bool | None:
        """Whether the conditions around `block` (of the module `home`, default: that of `at`) within its function hold;
        those in `around` are ignored. None when undetermined."""
        module = home or at.module
        answer: bool | None = True
        for inner in module.ancestors(block):
            record = module.blocks[inner]
            if inner in around or record.kind in _BOUNDARIES:
                break
            if record.kind in ("if", "else"):
                held = self._tracer.found(record.test, at.moved(module, record.parent, record.line)).truth
                if held is not None and held != (record.kind == "if"):
                    return False
                answer = answer if held is not None else None
            elif record.kind in ("loop", "except"):
                answer = None
        return answer

    def reached(self, module: Module, block: int) -> bool:
        """Whether the program may reach a block at all."""
        running = self._running
        return running is None or (module.path, home_of(module, block)) in running

    @cached_property
    def _running(self) -> set[tuple[str, int]] | None:
        project, start = self._tracer.context.project, self._tracer.start
        if start.entry not in project.modules:
            return None
        reached = self._tracer.context.memoize(Reached, lambda: Reached(project))
        return reached.all_of(sorted(start.modules), start.entry)
