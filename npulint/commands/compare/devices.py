"""Steps for distributed training that do not count as a difference when only one program has them."""

from __future__ import annotations

from collections.abc import Iterator

from npulint.commands.training_config.program import TrainingConfig
from npulint.commands.training_config.steps.model import CodeStep
from npulint.core.lazy_regex import lazy_compile
from npulint.model.running.code_places import returned_values
from npulint.model.values.cursors import CallSite, Scope

_CONDITIONS = frozenset(("==", "!=", "<", ">", "<=", ">=", "in", "not in", "and", "or", "not", "if"))
_PREFIX = r"^(?:HCCL_|OMPI_COMM_WORLD_|PMI_|MPI_|SLURM_|CM_|ASCEND_|NPU_)?"
_SIZES = lazy_compile(_PREFIX + r"(?:RANK_SIZE|WORLD_SIZE|WORKER_SIZE|SIZE|NTASKS|DEVICE_NUM|RANK_NUM)$")
_PLACES = lazy_compile(_PREFIX + r"(?:RANK_ID|RANK|LOCAL_RANK|LOCAL_RANK_ID|PROCID|LOCALID|DEVICE_ID|DEVICE_INDEX)$")
_BROADCAST = "horovod.broadcast"
_BROADCASTING = "NPUEstimator"  # adds a broadcast hook to every distributed training


def is_insignificant(step: CodeStep, own: TrainingConfig, other: TrainingConfig) -> bool:
    """Whether a step does not count as a difference: a rank or world size used only in conditions (the guarded code is
    compared itself), or that the other program reads from the environment, or a broadcast of initial weights that the
    other program's Estimator performs."""
    if step.part == "ranks":
        if _is_read(step, other):
            return True
        asked = own.context.memoize(("asked", step.scope.path), lambda: frozenset(_in_conditions(step.scope)))
        return step.site is not None and step.site in asked
    return step.name == _BROADCAST and any(
        one.known is not None and one.known.name.endswith(_BROADCASTING)
        for steps in other.homes.values()
        for one in steps
    )


def _is_read(step: CodeStep, other: TrainingConfig) -> bool:
    """Whether a step asks for a number of devices or a rank that the other program reads from variables of launchers.
    What is done with it is compared itself."""
    neutral = "" if step.known is None else step.known.neutral
    name = _SIZES if neutral == "ranks" else _PLACES if neutral == "rank" else None
    return name is not None and any(map(name.search, other.program.index.names("environment_read")))


def _in_conditions(module: Scope) -> Iterator[CallSite]:
    """The calls of a module whose results are compared in conditions."""
    waiting = [(module.at(block).test, True) for block in range(len(module.module.blocks))]
    waiting += [(value, False) for value in (*(bind.value for bind in module.assignments), *returned_values(module))]
    waiting += [(value, False) for site in module.all_calls for value in site.arguments]
    while waiting:
        value, asked = waiting.pop()
        if value.call is not None and asked:
            yield value.call
        first = asked or (value.operator in _CONDITIONS and value.operator != "if")
        for at, part in enumerate(value.operands()):
            waiting.append((part, first or (at == 0 and value.operator in _CONDITIONS)))
        waiting += [(item, asked) for item in (*value.items, *(inner for _, inner in value.entries))]
