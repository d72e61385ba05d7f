"""By what programs divide a setting among processes: the devices of one machine, or all processes."""

from __future__ import annotations

from collections.abc import Iterator

from npulint.commands.training_config.setting_parts import setting_part
from npulint.commands.training_config.steps.model import CodeStep
from npulint.model.values.cursors import Expr

_DIVIDED = frozenset(("update", "batch_size", "learning_rate", "steps", "epochs"))
_OF_MACHINE = frozenset(("device_count", "LOCAL_WORLD_SIZE", "local_size"))
_OF_ALL = frozenset(("get_world_size", "WORLD_SIZE", "RANK_SIZE", "world_size", "get_rank_size"))


def count_otherwise(step: CodeStep, other: CodeStep) -> bool:
    """Whether two formulas of a setting count processes differently, which shows on several machines."""
    if setting_part(step.shown) not in _DIVIDED or step.whole is None or other.whole is None:
        return False
    return {_counted(step.whole.expr), _counted(other.whole.expr)} == {"machine", "all"}


def _counted(formula: Expr) -> str:
    """What a formula counts: ``machine``, ``all``, or nothing (empty), also if that is not clear."""
    names = set(_sources(formula))
    found = {word for word, of in (("machine", _OF_MACHINE), ("all", _OF_ALL)) if names & of}
    return found.pop() if len(found) == 1 else ""


def _sources(formula: Expr) -> Iterator[str]:
    """What a formula, and what its names are assigned, calls and reads from the environment."""
    for part in formula.nested:
        assigned = [bind.value for bind in part.assignments] if part.written else []
        for value in (part, *(inner for expr in assigned for inner in expr.nested)):
            yield from _named(value)


def _named(value: Expr) -> Iterator[str]:
    """The function that a value calls, and functions and texts in its arguments: ``int(os.environ["SIZE"])``."""
    call = value.call
    for part in (value, *(inner for expr in (call.args if call is not None else ()) for inner in expr.nested)):
        if part.call is not None:
            yield part.call.last
        elif part.is_literal:
            yield str(part.literal)
