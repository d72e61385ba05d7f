"""Steps for distributed training that do not count as a difference when only one program has them."""

from __future__ import annotations

from collections.abc import Iterator

from npulint.assemble.context import Context
from npulint.assemble.module import Module
from npulint.facts.code import CallResult, Op, SequenceDisplay, Table, Value
from npulint.training_config.program import TrainingConfig
from npulint.training_config.steps.model import CodeStep

_CONDITIONS = frozenset(("==", "!=", "<", ">", "<=", ">=", "in", "not in", "and", "or", "not", "if"))
_BROADCAST = "horovod.broadcast"
_BROADCASTING = "NPUEstimator"  # adds a broadcast hook to every distributed training


def is_insignificant(step: CodeStep, own: TrainingConfig, other: TrainingConfig) -> bool:
    """Whether a step does not count as a difference: a rank or world size used only in conditions (the guarded code is
    compared itself), or a broadcast of initial weights that the other program's Estimator performs."""
    if step.part == "ranks":
        return step.call >= 0 and step.call in _asked(own.context, step.module)
    return step.name == _BROADCAST and any(
        one.known is not None and one.known.name.endswith(_BROADCASTING)
        for steps in other.homes.values()
        for one in steps
    )


def _asked(context: Context, module: Module) -> frozenset[int]:
    """The calls of a module whose results are compared in conditions."""
    return context.memoize(("asked", module.path), lambda: frozenset(_in_conditions(module)))


def _in_conditions(module: Module) -> Iterator[int]:
    waiting: list[tuple[Value, bool]] = [(block.test, True) for block in module.blocks]
    waiting += [(bind.value, False) for bind in module.code.assignments]
    waiting += [(returned.value, False) for returned in module.code.returns]
    for call in module.code.calls:
        waiting += [(value, False) for value in (*call.args, *(value for _, value in call.keywords))]
    while waiting:
        value, asked = waiting.pop()
        if isinstance(value, CallResult):
            if asked:
                yield value.call
        elif isinstance(value, Op):
            test = value.op in _CONDITIONS
            first = asked or (test and value.op != "if")
            waiting += [(part, first or (test and at == 0)) for at, part in enumerate(value.operands)]
        elif isinstance(value, SequenceDisplay):
            waiting += [(item, asked) for item in value.items]
        elif isinstance(value, Table):
            waiting += [(item, asked) for item in value.values]
