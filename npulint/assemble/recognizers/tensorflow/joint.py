"""Train steps that run together: the steps of how many loss scale optimizers does one run of the session make?"""

from __future__ import annotations

from npulint.assemble.context import Context
from npulint.assemble.flow import Site, argument
from npulint.assemble.module import Module
from npulint.assemble.recognizers.tensorflow.optimizers import layers, scales
from npulint.assemble.recognizers.tensorflow.runs import is_session_run
from npulint.assemble.recognizers.tensorflow.steps import step_optimizer
from npulint.facts.code import Call, Const, Op, Ref, SequenceDisplay, Table, Value
from npulint.facts.model import Fact

_GROUPS = frozenset(("tensorflow.group", "tensorflow.tuple", "tensorflow.control_dependencies"))
_STEPS = frozenset(("minimize", "apply_gradients", "create_train_op", "optimize_loss"))
_DEPTH = 6
_WIDTH = 24  # operations of one run that are looked at
Place = tuple[str, int]
"""A path and a call there."""


def matches(name: str) -> bool:
    """Runs of a session, and what joins operations into one."""
    return name in _GROUPS or (name.endswith("run") and is_session_run(name))


def facts_for_call(context: Context, module: Module, index: int, name: str) -> list[Fact]:
    """A ``joint_step`` fact where one run makes the steps of several loss scale optimizers."""
    call = module.code.calls[index]
    fetched = [v for k, v in call.keywords if k in ("fetches", "control_inputs")]
    values = [*(call.args if name == "tensorflow.group" else call.args[:1]), *fetched]
    taken: set[Place] = set()
    count = 0
    for value in _operations(context, module, values, call):
        steps = _steps(context, module, value, call, 0)
        if steps and not steps & taken:
            count += 1
            taken |= steps
    return [context.call_fact("joint_step", name, module, index, scaled=str(count))] if count > 1 else []


def _operations(context: Context, module: Module, values: list[Value], call: Call) -> list[Value]:
    """The single operations in a fetch or group; lists are opened, also what is appended to them."""
    found: list[Value] = []
    queue = [(v, 0) for v in values]
    while queue and len(found) < _WIDTH:
        value, depth = queue.pop(0)
        inner = _opened(context, module, value, call) if depth < _DEPTH else []
        if inner:
            queue += [(v, depth + 1) for v in inner]
        else:
            found.append(value)
    return found


def _opened(context: Context, module: Module, value: Value, call: Call) -> list[Value]:
    if isinstance(value, SequenceDisplay):
        return list(value.items)
    if isinstance(value, Table):
        return list(value.values)
    if isinstance(value, Op) and value.op in ("star", "+"):
        return list(value.operands)
    if isinstance(value, Ref):
        binds = context.flow.bindings(module, value.name, call.block, call.line)
        shown = [b.value for home, b in binds if home is module and isinstance(b.value, SequenceDisplay | Table)]
        if shown and len(shown) == len(binds):
            return [*shown, *_appended(module, value.name, call.block)]
    return []


def _appended(module: Module, name: str, block: int) -> list[Value]:
    function = module.function_of(block)
    calls = (module.code.calls[i] for i in module.calls_of("append"))
    return [
        c.args[0]
        for c in calls
        if c.args and c.callee == Ref(f"{name}.append") and module.function_of(c.block) == function
    ]


def _steps(context: Context, module: Module, value: Value, call: Call, depth: int) -> set[Place]:
    """Where the steps of loss scale optimizers are made that an operation runs, groups opened."""
    if depth > _DEPTH:
        return set()
    sites = context.flow.sites(module, value, call.block, call.line)
    return {place for site in sites for place in _made(context, site, depth)}


def _made(context: Context, site: Site, depth: int) -> set[Place]:
    module, index = site
    name = context.names.of_call(module, index)
    call = module.code.calls[index]
    if name == "tensorflow.group":
        parts = _operations(context, module, list(call.args), call)
        return {place for part in parts for place in _steps(context, module, part, call, depth + 1)}
    made = name.rpartition(".")[2] in _STEPS and _judges_overflow(context, site)
    return {(module.path, index)} if made else set()


def _judges_overflow(context: Context, site: Site) -> bool:
    """Whether a step is one of a loss scale optimizer whose manager looks for overflow."""
    module, index = site
    value = step_optimizer(context, site)
    made = [] if value is None else layers(context, module, value, module.code.calls[index])
    return any(scales(at, name) and not _unchecked(context, at) for at, name in made)


def _unchecked(context: Context, site: Site) -> bool:
    """Whether every manager that a loss scale optimizer may have was told not to check for overflow."""
    module, index = site
    call = module.code.calls[index]
    value = argument(call, "loss_scale_manager", 1)
    sites = [] if value is None else context.flow.sites(module, value, call.block, call.line)
    checks = [argument(home.code.calls[at], "enable_overflow_check", 1) for home, at in sites]
    return bool(checks) and all(check == Const(False) for check in checks)
