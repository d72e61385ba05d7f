"""What is left over from debugging PyTorch programs, and the switches of precision and determinism."""

from __future__ import annotations

import re
from functools import partial

from npulint.assemble.context import Context
from npulint.assemble.flow import argument
from npulint.assemble.module import Module
from npulint.facts.code import CallResult, Const, Op, Ref, Table, Value
from npulint.facts.model import Fact
from npulint.lazy_regex import lazy_compile

_AIDS = {
    "torch.autograd.set_detect_anomaly": "anomaly",
    "torch.autograd.detect_anomaly": "anomaly",
    "torch.autograd.anomaly_mode.set_detect_anomaly": "anomaly",
    "torch.autograd.anomaly_mode.detect_anomaly": "anomaly",
    "torch.autograd.gradcheck": "gradcheck",
    "torch.autograd.gradgradcheck": "gradcheck",
    "torch.autograd.profiler.profile": "profiler",
    "torch.autograd.profiler.emit_nvtx": "profiler",
    "torch.profiler.profile": "profiler",
    "torch_npu.profiler.profile": "profiler",
    "torch.npu.profile": "profiler",
    "torch.npu.profiler.profile": "profiler",
    "torch.npu.init_dump": "dump",
    "torch.npu.set_dump": "dump",
    "torch.npu.set_aoe": "dump",
    "torch.npu.stress_detect": "dump",
    "torch.npu.set_sync_debug_mode": "dump",
    "torch.npu.memory._record_memory_history": "dump",
    "pdb.set_trace": "stop",
    "ipdb.set_trace": "stop",
    "pudb.set_trace": "stop",
    "IPython.embed": "stop",
    "code.interact": "stop",
    "breakpoint": "stop",
    "?breakpoint": "stop",
}
_AUTOGRAD_PROFILER = "torch.autograd.profiler.profile"  # its first parameter switches it on
_HOOKS = ("register_forward_hook", "register_full_backward_hook", "register_backward_hook", "register_forward_pre_hook")
_OPTIONS = ("torch.npu.set_option", "torch_npu.set_option")
_TOOL = lazy_compile(
    r"(?:msprobe|ptdbg_ascend|api_accuracy_checker)\.(?:.*[.)])?"
    r"(?:PrecisionDebugger|seed_all|module_dump|register_hook|set_dump_path|set_dump_switch|start)$"
)
_SWITCHES = {
    "deterministic": "torch.backends.cudnn.deterministic",
    "allow_hf32": "torch.npu.",
    "allow_internal_format": "torch.npu.config.allow_internal_format",
    "allow_tf32": "torch.backends.",
}
# What a condition, a function or a file is called that is there for debugging only.
_ASIDE = lazy_compile(
    r"prof(?!ile_?pic|essor|it)|debug|trace|dump|anomal|diagnos|verbose|benchmark|bench_|compar|hook|pdb|visuali|(?<![a-z])log",
    re.IGNORECASE,
)
_ASIDE_FILE = lazy_compile(r"prof(?!essor)|debug|trace|dump|compar|benchmark|gradcheck|visuali", re.IGNORECASE)
_COUNTER = lazy_compile(
    r"(?:^|[._])(?:i|j|it|itr|iters?|idx|index|n|cnt|count|counter|\w*_?(?:iter|step|batch|idx)s?\w*)$"
)
_READS = frozenset(("cpu", "numpy", "item", "tolist", "print", "save", "save_image", "imwrite", "info", "write"))


def matches(name: str) -> bool:
    """Profilers, dumps, breakpoints, hooks and options of the device."""
    return (
        name in _AIDS
        or name in _OPTIONS
        or name.endswith(_HOOKS)
        or (_TOOL.match(name) is not None if "." in name else False)
    )


def facts_for_call(context: Context, module: Module, index: int, name: str) -> list[Fact]:
    """A ``debug_aid`` for each; a ``device_option`` for each option that is set."""
    if name in _OPTIONS:
        return _options(context, module, index)
    what = _AIDS.get(name) or ("hook" if name.endswith(_HOOKS) else "tool")
    return [
        context.call_fact(
            "debug_aid",
            name,
            module,
            index,
            what=what,
            optional=partial(_optional, context, module, index),
            limited=partial(_limited, module, index),
            covers=partial(_covers, context, module, index) if what == "profiler" else "no",
            reads=partial(_reads, context, module, index) if what == "hook" else "no",
        )
    ]


def facts_for_module(context: Context, module: Module) -> list[Fact]:
    """A ``switch`` for each assignment to a switch of precision or determinism."""
    found = []
    for target, binds in module.dotted.items():
        start = _SWITCHES.get(target.rpartition(".")[2])
        for bind in binds if start else ():
            name = context.names.of_name(module, target, bind.block, bind.line)
            if start and name.startswith(start):
                found.append(context.bind_fact("switch", name, module, bind))
    return found


def _optional(context: Context, module: Module, index: int) -> str:
    """Whether what stands around the call says that it is for debugging only: a condition, a function's name, the
    file's; or whether the call itself is a choice (``a if debug else b``)."""
    call = module.code.calls[index]
    if _ASIDE_FILE.search(module.path):
        return "yes"
    for block in _places(module, index):
        around = [module.blocks[b].name.rpartition(".")[2] for b in module.ancestors(block)]
        if any(map(_ASIDE.search, (*context.guards.words(module, block), *around))):
            return "yes"
    enabled = argument(call, "enabled", 0 if context.names.of_call(module, index) == _AUTOGRAD_PROFILER else -1)
    if enabled is not None and enabled != Const(True):
        return "yes"
    chosen = [b.value for b in module.code.assignments if b.line <= call.line <= b.end_line and isinstance(b.value, Op)]
    chosen += [r.test for r in module.blocks if r.kind == "with" and r.line == call.line and isinstance(r.test, Op)]
    return "yes" if any(_chooses(value, index) for value in chosen) else "no"


def _chooses(value: Value, index: int) -> bool:
    return isinstance(value, Op) and value.op in ("if", "and", "or") and CallResult(index) in value.operands


def _limited(module: Module, index: int) -> str:
    """Whether a profiler has a schedule, or stands below a condition that holds in a few steps only."""
    schedule = [value for key, value in module.code.calls[index].keywords if key == "schedule"]
    if schedule and schedule != [Const(None)]:
        return "schedule"
    around = [module.blocks[b] for block in _places(module, index) for b in module.ancestors(block)]
    return "steps" if any(record.kind == "if" and _few(record.test) for record in around) else "no"


def _places(module: Module, index: int) -> list[int]:
    """The blocks of a call, and of the calls of ``start`` on its result."""
    call = module.code.calls[index]
    names = [b.target for b in module.code.assignments if b.value == CallResult(index)]
    starts = [i for name in names for i in module.calls_of("start", "__enter__") if _on(module, i, name)]
    return [call.block, *(module.code.calls[i].block for i in starts)]


def _covers(context: Context, module: Module, index: int) -> str:
    """Whether a profiler sees a training step, or as the context of a ``with`` a whole training loop."""
    steps = {context.training.step(module, block) for block in _places(module, index)}
    if steps & {"yes", "gated"}:
        return "step"
    opened = [b for b, record in enumerate(module.blocks) if record.kind == "with" and record.test == CallResult(index)]
    loops = context.training.loops
    if any(path == module.path and set(opened) & set(module.ancestors(loop)) for path, loop in loops):
        return "training"
    holders = {(path, context.project.modules[path].function_of(loop)) for path, loop in loops}
    for inner, call in enumerate(module.code.calls) if opened else ():
        if set(opened) & set(module.ancestors(call.block)):
            target = context.names.function(context.names.of_call(module, inner))
            if target is not None and (target[0].path, target[1]) in holders:
                return "training"
    return "no"


def _on(module: Module, index: int, name: str) -> bool:
    callee = module.code.calls[index].callee
    return isinstance(callee, Ref) and callee.name.rpartition(".")[0] == name


def _few(test: Value, depth: int = 0) -> bool:
    if not isinstance(test, Op) or depth > 6:
        return False
    if test.op in ("==", "<", "<=", "in", "%") and len(test.operands) > 1:
        counter, bound = test.operands[0], test.operands[1]
        if isinstance(counter, Op) and counter.op == "%":
            return True
        if isinstance(counter, Ref) and _COUNTER.search(counter.name):
            return not isinstance(bound, Const) or not isinstance(bound.value, str)
    return any(_few(operand, depth + 1) for operand in test.operands)


def _reads(context: Context, module: Module, index: int) -> str:
    """Whether the function of a hook prints, saves or fetches what it is given."""
    call = module.code.calls[index]
    value = argument(call, "hook", 0)
    targets = [] if value is None else context.flow.functions(module, value, call.block, call.line)
    for home, block in targets:
        inner = home.calls_in.get(block, ())
        if any(home.callee_name(i) in _READS for i in inner):
            return "yes"
    return "no"


def _options(context: Context, module: Module, index: int) -> list[Fact]:
    """The options of ``set_option``: of a display, or of a dict that is filled before."""
    call = module.code.calls[index]
    value = argument(call, "option", 0)
    tables = [value] if isinstance(value, Table) else []
    found = []
    if isinstance(value, Ref):
        binds = module.names.get(module.scope[call.block], {}).get(value.name, ())
        tables = [bind.value for bind in binds if isinstance(bind.value, Table)]
        for target, assigned in module.dotted.items():
            root, bracket, key = target.partition("[")
            if root == value.name and bracket and key.endswith("]"):
                found += [context.bind_fact("device_option", key[:-1], module, b) for b in assigned]
    for table in tables:
        for entry, item in zip(table.keys, table.values, strict=True):
            if isinstance(entry, Const) and isinstance(entry.value, str):
                known = context.known(module, item, call)
                found.append(context.call_fact("device_option", entry.value, module, index, value=known))
    return found
