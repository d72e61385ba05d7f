"""Which optimizers apply their steps in one session run, and which steps no run is known to apply."""

from __future__ import annotations

from collections import Counter

from npulint.facts.kinds import fact_kind
from npulint.model.running.code_facts import CallFact
from npulint.model.values.context import Context, once, once_per_file
from npulint.model.values.cursors import CallSite, Expr, Scope, module_scopes
from npulint.model.values.walker import walker
from npulint.recognizers.registry import recognizes
from npulint.recognizers.tensorflow.optimizers import layers, scales
from npulint.recognizers.tensorflow.runs import is_session_run
from npulint.recognizers.tensorflow.steps import step_optimizer

_GROUPS = frozenset(("tensorflow.group", "tensorflow.tuple", "tensorflow.control_dependencies"))
_STEPS = frozenset(("minimize", "apply_gradients", "create_train_op", "optimize_loss"))
_SPEC = "EstimatorSpec"
_DEPTH = 6
_WIDTH = 24  # maximum operations per run


@fact_kind("joint_step")
class JointStep(CallFact):
    """One session run applies the steps of several optimizers; the name is the canonical callee."""

    steps: str
    """How many optimizers they belong to."""
    scaled: str
    """How many of these scale the loss and check for overflow."""


@fact_kind("loose_step")
class LooseStep(CallFact):
    """A train step that may meet another one of its class, or of the functions of its file, in one session run: no run
    is known to apply it. The name is the method or function that makes it."""


@recognizes(matching=lambda name: _is_run(name))
def joint_steps(call: CallSite) -> list[JointStep]:
    """Session runs, and calls that group operations."""
    applied = [_steps(operation) for operation in _fetched(call)]
    steps = _apart(applied)
    scaled = _apart([list(filter(_judges_overflow, calls)) for calls in applied]) if steps > 1 else 0
    return [JointStep(call, call.name, str(steps), str(scaled))] if steps > 1 else []


@recognizes(matching=lambda name: name.rpartition(".")[2] in _STEPS)
def loose_steps(call: CallSite) -> list[LooseStep]:
    """Calls that make train steps."""
    if call in _applied(call.context) or _family(call) not in _families_of_several(call.scope):
        return []
    return [LooseStep(call, call.last)]


@once_per_file
def _families_of_several(module: Scope) -> set[Scope]:
    """The classes with several train steps, and the module if its functions have several."""
    counted = Counter(map(_family, module.calls_named(*_STEPS)))
    return {family for family, number in counted.items() if number > 1}


def _family(call: CallSite) -> Scope:
    """The class around a call, otherwise the module."""
    around = (scope for scope in (call.scope, *call.scope.ancestors) if scope.kind in ("class", "module"))
    return next(around, call.scope)


@once
def _applied(context: Context) -> set[CallSite]:
    """The calls that make the train steps which some session run, group or EstimatorSpec gets."""
    calls: set[CallSite] = set()
    for module in module_scopes(context):
        for index, name in enumerate(module.call_names):
            if _is_run(name) or name.endswith(_SPEC):
                calls.update(step for operation in _fetched(module.call(index)) for step in _steps(operation))
    return calls


def _is_run(name: str) -> bool:
    return name in _GROUPS or (name.endswith("run") and is_session_run(name))


def _fetched(call: CallSite) -> list[Expr]:
    """The single operations that a session run, group or EstimatorSpec gets."""
    named = [value for key, value in call.keywords.items() if key in ("fetches", "control_inputs", "train_op")]
    placed = call.args if call.name == "tensorflow.group" else [] if call.name.endswith(_SPEC) else call.args[:1]
    return _operations([*placed, *named])


def _apart(applied: list[list[CallSite]]) -> int:
    """How many of the operations apply steps that none before applies."""
    taken: set[CallSite] = set()
    count = 0
    for steps in map(set, applied):
        if steps and not steps & taken:
            count += 1
            taken |= steps
    return count


def _operations(values: list[Expr]) -> list[Expr]:
    """The single operations in a fetch or group; lists are expanded, including appended elements."""
    exprs: list[Expr] = []
    queue = [(value, 0) for value in values]
    while queue and len(exprs) < _WIDTH:
        value, depth = queue.pop(0)
        inner = _opened(value) if depth < _DEPTH else []
        if inner:
            queue += [(expr, depth + 1) for expr in inner]
        else:
            exprs.append(value)
    return exprs


def _opened(value: Expr) -> list[Expr]:
    """The elements of a list, dict or sum of lists, also behind a name."""
    if not value.written:
        return value.items or [entry for _, entry in value.entries] or value.operands("star", "+")
    assigned = [assignment.value for assignment in value.assignments]
    are_displays = all(expr.module is value.module and (expr.is_display or expr.is_dict) for expr in assigned)
    return [*assigned, *_appended(value)] if assigned and are_displays else []


def _appended(name: Expr) -> list[Expr]:
    """The values appended to a list in the same function."""
    calls = [call for call in name.scope.calls_named("append") if call.written == f"{name.written}.append"]
    return [call.args[0] for call in calls if call.args and call.scope.function is name.scope.function]


@walker(depth=7, otherwise=list)
def _steps(operation: Expr) -> list[CallSite]:
    """The calls that create the optimizer steps run by an operation; groups are expanded."""
    return [step for call in operation.sites for step in _made(call)]


def _made(call: CallSite) -> list[CallSite]:
    if call.name == "tensorflow.group":
        return [step for part in _operations(call.args) for step in _steps(part)]
    return [call] if call.last in _STEPS else []


def _judges_overflow(call: CallSite) -> bool:
    """Whether a step belongs to a loss scale optimizer whose manager checks for overflow."""
    optimizer = step_optimizer(call)
    made = [] if optimizer is None else layers(optimizer.sites)
    return any(scales(layer) and not _is_unchecked(layer) for layer in made)


def _is_unchecked(optimizer: CallSite) -> bool:
    """Whether every possible manager of a loss scale optimizer is created without the overflow check."""
    manager = optimizer.argument("loss_scale_manager", 1)
    checks = [] if manager is None else [call.argument("enable_overflow_check", 1) for call in manager.sites]
    return bool(checks) and all(check is not None and check.literal is False for check in checks)
