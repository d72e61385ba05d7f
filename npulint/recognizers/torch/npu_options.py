"""Options of torch_npu: ``torch.npu.set_option``, and compile modes that spawned processes do not inherit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from npulint.core.suggest import closest_match
from npulint.facts.attributes import Flag, attribute, flag
from npulint.facts.kinds import fact_kind
from npulint.facts.values import NOTHING, PossibleValues
from npulint.model.running.code_facts import AssignmentFact, CallFact, CodeFact
from npulint.model.running.code_places import item_assignments
from npulint.model.running.guards import active
from npulint.model.values.context import Context, once
from npulint.model.values.cursors import CallSite, Expr, Scope, module_scopes
from npulint.recognizers.registry import recognizes

_SWITCH = ("enable", "disable")
# The values accepted by releases 1.8 to 2.13; None: any value.
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
_COMPILE_MODE = "torch.npu.set_compile_mode"


class NpuOption(CodeFact):
    """The attributes of facts about an option of torch_npu; ``set_option`` treats strings and numbers alike."""

    @attribute
    def value(self) -> PossibleValues:
        """What the option is set to."""
        return NOTHING

    @attribute
    def legal(self) -> bool:
        """Whether the option exists."""
        return self.name in _OPTIONS

    @attribute
    def nearest(self) -> str:
        """The option that an unknown one is probably a misspelling of, or nothing."""
        return "" if self.name in _OPTIONS else closest_match(self.name, _OPTIONS)

    @attribute
    def value_ok(self) -> Flag:
        """Whether the option accepts the value."""
        allowed = _OPTIONS.get(self.name)
        if allowed is None:
            return "yes" if self.name in _OPTIONS else "unknown"
        is_known = self.value.exact and self.value.values
        return flag(all(str(possible) in allowed for possible in self.value.values) if is_known else None)

    @attribute
    def allowed(self) -> str:
        """The values that the option accepts, if they are restricted."""
        return ", ".join(_OPTIONS.get(self.name) or ())


@fact_kind("npu_option")
class PassedOption(CallFact, NpuOption):
    """A key of the dict passed to ``torch.npu.set_option``; the name is the key."""

    _expr: Expr

    @attribute
    def value(self) -> PossibleValues:
        """What the option is set to."""
        return self._expr.known


@fact_kind("npu_option")
class AssignedOption(AssignmentFact, NpuOption):
    """An option is added to the dict passed to ``torch.npu.set_option``: ``option["ACL_OP_DEBUG_LEVEL"] = 0``."""


@recognizes("torch.npu.set_option")
def options(call: CallSite) -> Iterator[PassedOption | AssignedOption]:
    """Each key of the passed dict, including those that the same function adds."""
    value = call.argument("option", 0)
    if value is None:
        return
    for key, expr in (entry for display in value.displays for entry in display.entries):
        if key is not None and isinstance(key.literal, str):
            yield PassedOption(call, key.literal, expr)
    for name, assignment in item_assignments(value):
        if name not in ("", "*") and assignment.scope.routine is call.scope.routine:
            yield AssignedOption(assignment, name)


# -- compile modes ----------------------------------------------------------------------------------


@recognizes("torch.multiprocessing.spawn", "torch.multiprocessing.start_processes")
@fact_kind("spawn")
class SpawnedProcesses(CallFact):
    """Processes that do not inherit the state of this one are started; the name is ``torch.multiprocessing.spawn``."""

    def __post_init__(self) -> None:
        self.name = "torch.multiprocessing.spawn"

    @attribute
    def jit(self) -> Literal["lost", "kept", "unset"]:
        """The compile mode: lost if only the parent process sets it, kept if the started processes set it too,
        otherwise unset."""
        value = self.call.argument("fn", 0)
        workers = [] if value is None else value.functions
        setters = _compile_mode_setters(self.call.context)
        if not setters or not workers:
            return "unset"
        if any(setter.kind == "module" for setter in setters):  # executed in every process
            return "kept"
        return "kept" if any(_reaches(worker, setters) for worker in workers) else "lost"


@once
def _compile_mode_setters(context: Context) -> set[Scope]:
    """The functions that set the compile mode; for module-level code its block, or the module itself if it does so on
    every import."""
    calls = (call for module in module_scopes(context) for call in module.calls_named("set_compile_mode"))
    set_here = (call.scope for call in calls if call.name == _COMPILE_MODE)
    return {scope.function or scope for scope in set_here if active(scope) != "no"}


def _reaches(function: Scope, targets: set[Scope]) -> bool:
    """Whether a function, or any that it calls, is one of `targets`."""
    queue, seen = [function], {function}
    while queue:
        current = queue.pop()
        if current in targets:
            return True
        called = {target for call in current.calls if (target := call.target) is not None}
        queue += called - seen
        seen |= called
    return False
