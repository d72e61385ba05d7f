"""Options of torch_npu: ``torch.npu.set_option`` with its dict, and compile modes that spawned processes lose."""

from __future__ import annotations

from npulint.assemble.context import Context
from npulint.assemble.flow import argument
from npulint.assemble.module import Module
from npulint.facts.code import Const, Ref, Table, Value
from npulint.facts.model import Fact
from npulint.facts.values import PossibleValues
from npulint.suggest import closest_match

_SWITCH = ("enable", "disable")
# What the releases from 1.8 to 2.13 accept; None: any value.
_OPTIONS: dict[str, tuple[str, ...] | None] = {
    "ACL_PRECISION_MODE": ("allow_fp32_to_fp16", "must_keep_origin_dtype"),
    "ACL_OP_SELECT_IMPL_MODE": ("high_performance", "high_precision"),
    "ACL_OPTYPELIST_FOR_IMPLMODE": None,
    "ACL_AICORE_NUM": tuple(map(str, range(1, 33))),
    "ACL_OP_DEBUG_LEVEL": ("0", "1", "2", "3", "4"),
    "ACL_OP_DEBUG_OPTION": None,
    "ACL_DEBUG_DIR": None,
    "ACL_OP_COMPILER_CACHE_MODE": (*_SWITCH, "force"),
    "ACL_OP_COMPILER_CACHE_DIR": None,
    "ACL_AUTO_TUNE_MODE": None,
    "NPU_FUZZY_COMPILE_BLACKLIST": None,
    "FORCE_ACLNN_OP_LIST": None,
    "OP_HOOK_ENABLE": None,
    "MM_BMM_ND_ENABLE": None,
    "ALLOW_INTERNAL_FORMAT": None,
    "ALLOW_CONV_HF32": None,
    "ALLOW_MATMUL_HF32": None,
    "CUBE_MATH_TYPE": None,
    "STRONG_CONSISTENCY": None,
    "TORCH_NPU_USE_COMPATIBLE_IMPL": None,
    "PROFILING_MODE": None,
} | dict.fromkeys(
    """jitCompile jitCompileInit autotune autotunegraphdumppath bmmv2_enable mdldumpswitch mdldumpconfigpath
    deliverswitch profiling profilerResultPath fuzzycompileswitch dynamicCompileswitch""".split()
)
_SPAWNS = frozenset(("torch.multiprocessing.spawn", "torch.multiprocessing.start_processes"))
_COMPILE_MODE = "torch.npu.set_compile_mode"


def matches(name: str) -> bool:
    """Calls that set options, and that start processes."""
    return name == "torch.npu.set_option" or name in _SPAWNS


def facts_for_call(context: Context, module: Module, index: int, name: str) -> list[Fact]:
    """``npu_option`` facts, one per key; ``spawn`` facts."""
    if name in _SPAWNS:
        return _spawned(context, module, index)
    call = module.code.calls[index]
    value = argument(call, "option", 0)
    if value is None:
        return []
    found = []
    for table in context.flow.displays(module, value, call.block, call.line):
        for key, given in zip(table.keys, table.values, strict=True) if isinstance(table, Table) else ():
            if isinstance(key, Const) and isinstance(key.value, str):
                known = context.known(module, given, call)
                attrs = _judged(key.value, known)
                found.append(context.call_fact("npu_option", key.value, module, index, value=known, **attrs))
    return found + (_written(context, module, value.name, call.block) if isinstance(value, Ref) else [])


def facts_for_module(context: Context, module: Module) -> list[Fact]:
    """None beside calls."""
    return []


def _written(context: Context, module: Module, name: str, block: int) -> list[Fact]:
    """``option["ACL_OP_DEBUG_LEVEL"] = 0`` in the same function."""
    found = []
    for target, binds in module.dotted.items():
        key = target[len(name) + 1 : -1] if target.startswith(f"{name}[") and target.endswith("]") else ""
        for bind in binds if key and key != "*" else ():
            if module.function_of(bind.block) == module.function_of(block):
                known = context.known(module, bind.value, bind)
                found.append(context.bind_fact("npu_option", key, module, bind, value=known, **_judged(key, known)))
    return found


def _judged(key: str, value: PossibleValues) -> dict[str, str]:
    """What is to be said of a key with a value; texts and numbers are the same to set_option."""
    if key not in _OPTIONS:
        return {"legal": "no", "nearest": closest_match(key, _OPTIONS), "value_ok": "unknown", "allowed": ""}
    allowed = _OPTIONS[key]
    right = "yes" if allowed is None else "unknown"
    if allowed is not None and value.exact and value.values:
        right = "yes" if all(str(v) in allowed for v in value.values) else "no"
    return {"legal": "yes", "nearest": "", "value_ok": right, "allowed": ", ".join(allowed or ())}


def _spawned(context: Context, module: Module, index: int) -> list[Fact]:
    """A started function; `jit` is lost when only the process that starts it sets the compile mode."""
    call = module.code.calls[index]
    value: Value | None = argument(call, "fn", 0)
    workers = [] if value is None else context.flow.functions(module, value, call.block, call.line)
    setters = context.memoize("compile mode", lambda: _setters(context))
    if not setters or not workers:
        jit = "unset"
    else:
        jit = "kept" if any(_comes_to(context, home, inner, setters) for home, inner in workers) else "lost"
        if any(home == -1 for _, home in setters):  # at module level: every process imports it
            jit = "kept"
    return [context.call_fact("spawn", "torch.multiprocessing.spawn", module, index, jit=jit)]


def _setters(context: Context) -> frozenset[tuple[str, int]]:
    """The functions that set the compile mode; -1 for code that runs on import."""
    return frozenset(
        (module.path, module.function_of(module.code.calls[index].block) if not _started(module, index) else -2)
        for module in context.project.modules.values()
        for index in module.calls_of("set_compile_mode")
        if context.names.of_call(module, index) == _COMPILE_MODE
        and context.guards.active(module, module.code.calls[index].block) != "no"
    )


def _started(module: Module, index: int) -> bool:
    """Whether a call at module level stands below ``if __name__ == "__main__"``."""
    block = module.code.calls[index].block
    return module.function_of(block) < 0 and block > 0


def _comes_to(context: Context, module: Module, block: int, wanted: frozenset[tuple[str, int]]) -> bool:
    """Whether a function, or any that it calls, is one of `wanted`."""
    queue = [(module, block)]
    seen: set[tuple[str, int]] = set()
    while queue:
        home, inner = queue.pop()
        place = (home.path, inner)
        if place in wanted:
            return True
        if place in seen:
            continue
        seen.add(place)
        for index in home.calls_in.get(inner, ()):
            target = context.names.function(context.names.of_call(home, index))
            if target is not None:
                queue.append(target)
    return False
