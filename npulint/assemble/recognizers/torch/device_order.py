"""Names bound before transfer_to_npu replaces them, and optimizers built before their model moves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from npulint.assemble.adaptors import packages_under_adaptor
from npulint.assemble.code_facts import CallFact, PlaceFact
from npulint.assemble.code_places import ImportPlace, imports
from npulint.assemble.context import Context, once
from npulint.assemble.cursors import CallSite, Scope, module_scopes, scope_at
from npulint.assemble.mentions import names_mentioned
from npulint.assemble.recognizers.registry import recognizes_in_modules
from npulint.assemble.recognizers.torch.device_texts import is_device_name, leaves
from npulint.data.frameworks import adaptors
from npulint.facts.code import Ref
from npulint.facts.kinds import fact_kind
from npulint.lazy_regex import lazy_compile

_ADAPTORS = tuple(f"{name}." for name in adaptors())
# Names that are replaced in their module: a name imported before keeps the original.
_REPLACED = frozenset(
    "torch.Generator torch.Event torch.jit.script torch.profiler.profile torch.profiler.schedule "
    "torch.profiler.tensorboard_trace_handler torch.distributed.init_process_group torch.distributed.new_group "
    "torch.cuda.amp.autocast torch.cuda.amp.GradScaler torch.distributed.is_nccl_available".split()
)
_FACTORIES = frozenset(
    f"torch.{n}"
    for n in (
        "load zeros ones empty full rand randn randint randperm arange tensor as_tensor eye linspace logspace normal "
        "zeros_like ones_like empty_like full_like rand_like randn_like range set_default_device"
    ).split()
)
_MODULES = frozenset(f"torch.cuda.{n}" for n in "amp comm nccl nvtx random profiler streams memory".split())
_OPTIMIZER = lazy_compile(r"^(?:torch|torch_npu|apex)\.optim(?:izers)?\.[A-Z]|Optimizer$")
Move = Literal["npu", "cuda", "to"]
_MOVES: tuple[Move, ...] = ("npu", "cuda", "to")

Early = dict[str, dict[tuple[int, str], str]]
"""From path to (line and name bound by an import) to the entry script that reaches it before the patch."""


@fact_kind("early_binding")
class EarlyBinding(PlaceFact):
    """A name is imported before transfer_to_npu replaces it in its module; the name is its canonical name."""

    after: str
    """The entry script whose imports reach it."""


@fact_kind("late_move")
class LateMove(CallFact):
    """An optimizer is built before its model moves to the device; the name is the model, as written."""

    by: Move
    """The method that moves the model."""
    line: str
    """The line of the move."""


@recognizes_in_modules
def early_bindings(module: Scope) -> list[EarlyBinding]:
    """The patched names that are imported before transfer_to_npu."""
    early = _early(module.context).get(module.path)
    if not early or module.path.startswith(packages_under_adaptor(module.context)):
        return []
    found = [(one, early.get((one.record.line, one.record.alias))) for one in imports(module)]
    return [
        EarlyBinding(one.scope, one.span, one.name, entry)
        for one, entry in found
        if entry is not None and (entry == module.path or not _is_for_start(one))
    ]


def _is_for_start(place: ImportPlace) -> bool:
    """Whether the name that an import binds is used only where its file is started as a script."""
    module, alias = place.scope.at(0), place.record.alias
    if not module.module.main_guards:
        return False
    code = module.module.code
    called = ((call.callee.name, call.block) for call in code.calls if isinstance(call.callee, Ref))
    blocks = [block for name, block in (*names_mentioned(code), *called) if name.partition(".")[0] == alias]
    return bool(blocks) and all(module.at(block).is_started_only for block in blocks)


@once
def _early(context: Context) -> Early:
    """The imports executed before the patch, starting at modules that nothing imports or that are entry scripts."""
    modules = module_scopes(context)
    found: Early = {}
    if not any(_patches(one) for module in modules for one in imports(module)):
        return found
    imported = {path for module in modules for one in imports(module) for path in _imported(one)}
    for module in modules:
        if module.path not in imported or module.module.main_guards:
            seen: list[ImportPlace] = []
            if _reaches_patch(module, set(), seen):
                for one in seen:
                    found.setdefault(one.scope.path, {})[one.record.line, one.record.alias] = module.path
    return found


def _imported(place: ImportPlace) -> dict[str, Scope]:
    """The project modules that an import executes, by path."""
    context = place.scope.context
    found = context.project.imported(place.scope.module, place.record)
    return {one.path: scope_at(context, one, 0) for one in found}


def _reaches_patch(module: Scope, done: set[str], seen: list[ImportPlace]) -> bool:
    """Walks through the imports that a module executes, in order; returns whether the patch is among them."""
    done.add(module.path)
    for one in sorted(imports(module), key=lambda one: (one.record.line, one.record.column)):
        if one.scope.function is not None or _is_for_type_checkers(one.scope):
            continue
        if _patches(one):
            return True
        for path, target in _imported(one).items():
            if path not in done and _reaches_patch(target, done, seen):
                return True
        if _keeps_original(one):
            seen.append(one)
    return False


def _is_for_type_checkers(scope: Scope) -> bool:
    """Whether code is under a condition for type checkers."""
    tests = (around.test.written for around in scope.ancestors if around.kind == "if")
    return any(written.rpartition(".")[2] == "TYPE_CHECKING" for written in tests)


def _patches(place: ImportPlace) -> bool:
    """Whether an import executes transfer_to_npu, or an adaptor that imports it."""
    return f"{place.name}.".startswith(_ADAPTORS) or f"{place.record.module}.".startswith(_ADAPTORS)


def _keeps_original(place: ImportPlace) -> bool:
    record, name = place.record, place.name
    if not record.name or record.level or not record.module.startswith("torch"):
        return False
    if name in _REPLACED:
        return True
    if name in _FACTORIES:
        return _is_asked_for_device(place.scope, name)
    return name.startswith("torch.cuda.") and name not in _MODULES and not name.rpartition(".")[2][:1].isupper()


def _is_asked_for_device(scope: Scope, name: str) -> bool:
    """Whether the module passes a device to a factory function, as the original of the patched function supports."""
    calls = scope.calls_named(name.rpartition(".")[2])
    return any(any(map(is_device_name, call.keywords)) and call.name == name for call in calls)


@recognizes_in_modules
def late_moves(module: Scope) -> Iterator[LateMove]:
    """The optimizers whose model moves to the device later in the same function."""
    listed = module.calls_named("parameters")
    moves = [(name, call) for call in module.calls_named(*_MOVES) if (name := _moved(call))] if listed else []
    if not moves:
        return
    owners = {call: owner for call in listed if (owner := _receiver(call))}
    for call in module.all_calls:
        model = next((owners[one.call] for one in call.arguments if one.call in owners), "")
        if model and _OPTIMIZER.search(call.name) and not _is_on_device(call, model):
            late = _late(call, [move for name, move in moves if name == model])
            if late is not None:
                by = next(move for move in _MOVES if move == late.last)
                yield LateMove(call, model, by, str(late.line))


def _is_on_device(call: CallSite, model: str) -> bool:
    """Whether the model was created on the device (``Net().npu()``)."""
    made = (one.value.call for one in call.scope.named(model, call.line).assignments)
    return any(one is not None and one.last in _MOVES for one in made)


def _late(call: CallSite, moves: list[CallSite]) -> CallSite | None:
    """The first move after a call, if none precedes it."""
    for move in moves:
        if move.scope.function is not call.scope.function:
            continue
        if move.line <= call.line:
            return None
        if call.scope.is_inside(move.scope) or move.scope.is_inside(call.scope):
            return None if _is_made_anew(call, move) else move
    return None


def _is_made_anew(call: CallSite, move: CallSite) -> bool:
    """Whether the name that is moved refers to another object by then."""
    name = _receiver(move)
    return any(one.target == name and call.line < one.line < move.line for one in call.scope.assignments)


def _moved(call: CallSite) -> str:
    """The name that a move is called on; empty for another call, such as ``x.to(torch.float16)``."""
    if call.last != "to":
        return _receiver(call)
    value = call.args[0] if call.args else call.keywords.get("device")
    if value is None:
        return ""
    named = value.is_literal or value.operator
    texts = leaves(value) if named else []
    device = is_device_name(value.written) or any(text.startswith(("npu", "cuda")) for text in texts)
    return _receiver(call) if device else ""


def _receiver(call: CallSite) -> str:
    """The dotted name that a method is called on; empty for anything else."""
    return call.written.rpartition(".")[0]
