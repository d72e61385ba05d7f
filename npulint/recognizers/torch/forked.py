"""Processes that are forked from one that has opened the NPU, and use it as well."""

from __future__ import annotations

from collections.abc import Iterator

from npulint.facts.attributes import Flag, attribute, flag
from npulint.facts.kinds import fact_kind
from npulint.model.running.code_facts import CallFact
from npulint.model.values.context import Context, once
from npulint.model.values.cursors import CallSite, Expr, Scope, module_scopes
from npulint.model.values.walker import walker
from npulint.recognizers.registry import recognizes

_PROCESSES = ("multiprocessing.Process", "torch.multiprocessing.Process")
_POOLS = ("multiprocessing.Pool", "torch.multiprocessing.Pool", "multiprocessing.pool.Pool")
_EXECUTORS = ("concurrent.futures.ProcessPoolExecutor", "concurrent.futures.process.ProcessPoolExecutor")
_SUBMITS = frozenset("map imap imap_unordered starmap apply apply_async map_async starmap_async submit".split())
# Members of torch.npu that initialise it; is_available, device_count and manual_seed do not.
_OPENING = frozenset(
    """set_device synchronize current_device get_device_name get_device_properties get_device_capability mem_get_info
    memory_allocated memory_reserved max_memory_allocated current_stream default_stream Stream Event init""".split()
)
_FREE = frozenset(("module", "function", "lambda", "with", "try", "class"))


@fact_kind("forked")
class ForkedProcesses(CallFact):
    """Processes are started in the default way, which is to fork; the name is the class."""

    @attribute
    def opened(self) -> Flag:
        """Whether the process has opened the NPU before; unknown unless that is certain."""
        return flag(True if _has_opened(self.call) else None)

    @attribute
    def uses(self) -> Flag:
        """Whether what the processes run uses the NPU; unknown unless that is certain."""
        return flag(True if any(_uses(function) for function in _work(self.call)) else None)


@recognizes(*_PROCESSES, *_POOLS, *_EXECUTORS)
def forked_processes(call: CallSite) -> list[ForkedProcesses]:
    """The processes and pools that are forked: nothing in the project chooses another way."""
    chosen = call.argument("mp_context", 1) if call.name in _EXECUTORS else None
    return [] if chosen is not None or _chooses_method(call.context) else [ForkedProcesses(call, call.name)]


@once
def _chooses_method(context: Context) -> bool:
    """Whether the project sets the start method."""
    return any(module.calls_named("set_start_method") for module in module_scopes(context))


@once
def _words(context: Context) -> tuple[str, ...]:
    """How devices are called that are NPUs: under transfer_to_npu also ``cuda``."""
    imports = (import_record for module in module_scopes(context) for import_record in module.module.code.imports)
    moved = any(
        "transfer_to_npu" in (import_record.name, import_record.module.rpartition(".")[2]) for import_record in imports
    )
    return ("npu", "cuda") if moved else ("npu",)


# -- what opens the NPU ------------------------------------------------------------------------------


def _opens(call: CallSite) -> bool:
    """Whether a call certainly works on the NPU."""
    words = _words(call.context)
    head, _, member = call.name.rpartition(".")
    if head in [f"torch.{word}" for word in words]:
        return member in _OPENING
    if call.last in words and call.receiver is not None:
        return True
    targets = [call.keywords.get("device"), call.args[0] if call.last == "to" and call.args else None]
    return any(target is not None and _is_npu(target, words) for target in targets)


def _is_npu(target: Expr, words: tuple[str, ...]) -> bool:
    """Whether a value is certainly an NPU as a device."""
    values = target.known
    if values.exact and values.values:
        return all(isinstance(value, str) and value.partition(":")[0] in words for value in values.values)
    made = target.sites
    return bool(made) and all(
        call.name == "torch.device" and bool(call.args) and _is_npu(call.args[0], words) for call in made
    )


def _has_opened(start: CallSite) -> bool:
    """Whether the NPU is open when a call runs."""
    call, seen = start, {start.scope.routine}
    for _ in range(6):
        if _opened_in(call.scope.routine, call):
            return True
        callers = call.scope.routine.callers if call.scope.routine.kind == "function" else []
        if len(callers) != 1 or callers[0].scope.routine in seen:
            return False
        call = callers[0]
        seen.add(call.scope.routine)
    return False


def _opened_in(routine: Scope, end: CallSite) -> bool:
    """Whether a function certainly opens the NPU before its call `end`."""
    around = set(end.scope.ancestors)
    earlier = (call for call in routine.calls if call is not end and call.record.end_line < end.line)
    return any(_is_sure(call, around) and (_opens(call) or _target_opens(call)) for call in earlier)


def _is_sure(call: CallSite, around: set[Scope]) -> bool:
    """Whether a call runs whenever its function does, or whenever the blocks `around` do."""
    for block in call.scope.ancestors:
        if block in around or block.kind == "function":
            return True
        if block.kind not in _FREE:
            return False
    return True


@walker(depth=4, otherwise=bool)
def _target_opens(call: CallSite) -> bool:
    """Whether the project's function that is called certainly opens the NPU."""
    function = call.target
    if function is None or function.kind != "function":
        return False
    return any(_is_sure(called, set()) and (_opens(called) or _target_opens(called)) for called in function.calls)


# -- what the processes run --------------------------------------------------------------------------


def _work(call: CallSite) -> Iterator[Scope]:
    """The project's functions that the processes run."""
    if call.name in _PROCESSES:
        given = [call.argument("target", 1)]
    else:
        submits = (submit for submit in call.scope.calls_named(*_SUBMITS) if submit.scope.routine is call.scope.routine)
        given = [call.argument("initializer", 1 if call.name in _POOLS else 2)]
        given += [
            submit.args[0]
            for submit in submits
            if submit.args and submit.receiver is not None and call in _pools(submit)
        ]
    for value in given:
        yield from () if value is None else value.functions


def _pools(submit: CallSite) -> list[CallSite]:
    """The calls that may have made the pool that work is given to."""
    receiver = submit.receiver
    if receiver is None:
        return []
    contexts = (ancestor.test.call for ancestor in submit.scope.ancestors if ancestor.kind == "with")
    return [*receiver.sites, *(context for context in contexts if context is not None)]


@walker(depth=6, otherwise=bool)
def _uses(function: Scope) -> bool:
    """Whether a function, or one that it calls, works on the NPU."""
    calls = function.calls
    return any(map(_opens, calls)) or any(
        call.target is not None and call.target.kind == "function" and _uses(call.target) for call in calls
    )


__all__ = ["ForkedProcesses", "forked_processes"]
