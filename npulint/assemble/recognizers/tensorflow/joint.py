"""How many loss scale optimizers apply their steps in one session run."""

from __future__ import annotations

from npulint.assemble.code_facts import CallFact
from npulint.assemble.cursors import CallSite, Expr
from npulint.assemble.recognizers.registry import recognizes
from npulint.assemble.recognizers.tensorflow.optimizers import layers, scales
from npulint.assemble.recognizers.tensorflow.runs import is_session_run
from npulint.assemble.recognizers.tensorflow.steps import step_optimizer
from npulint.assemble.walker import walker
from npulint.facts.kinds import fact_kind

_GROUPS = frozenset(("tensorflow.group", "tensorflow.tuple", "tensorflow.control_dependencies"))
_STEPS = frozenset(("minimize", "apply_gradients", "create_train_op", "optimize_loss"))
_DEPTH = 6
_WIDTH = 24  # maximum operations per run


@fact_kind("joint_step")
class JointStep(CallFact):
    """One session run applies the steps of several loss scale optimizers; the name is the canonical callee."""

    scaled: str
    """How many of these optimizers check for overflow."""


@recognizes(matching=lambda name: name in _GROUPS or (name.endswith("run") and is_session_run(name)))
def joint_steps(call: CallSite) -> list[JointStep]:
    """Session runs, and calls that group operations."""
    fetched = [value for key, value in call.keywords.items() if key in ("fetches", "control_inputs")]
    taken: set[CallSite] = set()
    count = 0
    for operation in _operations([*(call.args if call.name == "tensorflow.group" else call.args[:1]), *fetched]):
        steps = set(_steps(operation))
        if steps and not steps & taken:
            count += 1
            taken |= steps
    return [JointStep(call, call.name, str(count))] if count > 1 else []


def _operations(values: list[Expr]) -> list[Expr]:
    """The single operations in a fetch or group; lists are expanded, including appended elements."""
    found: list[Expr] = []
    queue = [(value, 0) for value in values]
    while queue and len(found) < _WIDTH:
        value, depth = queue.pop(0)
        inner = _opened(value) if depth < _DEPTH else []
        if inner:
            queue += [(one, depth + 1) for one in inner]
        else:
            found.append(value)
    return found


def _opened(value: Expr) -> list[Expr]:
    """The elements of a list, dict or sum of lists, also behind a name."""
    if not value.written:
        return value.items or [entry for _, entry in value.entries] or value.operands("star", "+")
    assigned = [one.value for one in value.assignments]
    are_displays = all(one.module is value.module and (one.is_display or one.is_dict) for one in assigned)
    return [*assigned, *_appended(value)] if assigned and are_displays else []


def _appended(name: Expr) -> list[Expr]:
    """The values appended to a list in the same function."""
    calls = [call for call in name.scope.calls_named("append") if call.written == f"{name.written}.append"]
    return [call.args[0] for call in calls if call.args and call.scope.function is name.scope.function]


@walker(depth=7, otherwise=list)
def _steps(operation: Expr) -> list[CallSite]:
    """The calls that create the loss scale optimizer steps run by an operation; groups are expanded."""
    return [step for call in operation.sites for step in _made(call)]


def _made(call: CallSite) -> list[CallSite]:
    if call.name == "tensorflow.group":
        return [step for part in _operations(call.args) for step in _steps(part)]
    return [call] if call.name.rpartition(".")[2] in _STEPS and _judges_overflow(call) else []


def _judges_overflow(call: CallSite) -> bool:
    """Whether a step belongs to a loss scale optimizer whose manager checks for overflow."""
    optimizer = step_optimizer(call)
    made = [] if optimizer is None else layers(optimizer.sites)
    return any(scales(one) and not _is_unchecked(one) for one in made)


def _is_unchecked(optimizer: CallSite) -> bool:
    """Whether every possible manager of a loss scale optimizer is created without the overflow check."""
    manager = optimizer.argument("loss_scale_manager", 1)
    checks = [] if manager is None else [call.argument("enable_overflow_check", 1) for call in manager.sites]
    return bool(checks) and all(check is not None and check.literal is False for check in checks)
