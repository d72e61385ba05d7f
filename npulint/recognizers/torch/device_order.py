"""Names bound before transfer_to_npu replaces them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from npulint.data.frameworks import adaptors
from npulint.facts.code import Ref
from npulint.facts.kinds import fact_kind
from npulint.model.code.mentions import names_mentioned
from npulint.model.running.adaptors import packages_under_adaptor
from npulint.model.running.code_facts import PlaceFact
from npulint.model.running.code_places import ImportPlace, imports
from npulint.model.values.context import Context, once
from npulint.model.values.cursors import Scope, module_scopes
from npulint.recognizers.registry import recognizes_in_modules
from npulint.recognizers.torch.device_texts import is_device_name

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

Early = dict[str, dict[tuple[int, str], str]]
"""From path to (line and name bound by an import) to the entry script that reaches it before the patch."""


@fact_kind("early_binding")
class EarlyBinding(PlaceFact):
    """A name is imported before transfer_to_npu replaces it in its module; the name is its canonical name."""

    after: str
    """The entry script whose imports reach it."""


@recognizes_in_modules
def early_bindings(module: Scope) -> list[EarlyBinding]:
    """The patched names that are imported before transfer_to_npu."""
    early = _early(module.context).get(module.path)
    if not early or module.path.startswith(packages_under_adaptor(module.context)):
        return []
    entries = [
        (import_place, early.get((import_place.record.line, import_place.record.alias)))
        for import_place in imports(module)
    ]
    return [
        EarlyBinding(import_place.scope, import_place.span, import_place.name, entry)
        for import_place, entry in entries
        if entry is not None and (entry == module.path or not _is_for_start(import_place))
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


class _Executed(NamedTuple):
    """An import that runs when its module is imported: the paths of the modules that it executes, whether the patch is
    among what it imports, and whether it binds a name to what the patch replaces."""

    place: ImportPlace
    targets: list[str]
    patches: bool
    keeps: bool


@once
def _early(context: Context) -> Early:
    """The imports executed before the patch, starting at modules that nothing imports or that are entry scripts."""
    modules = module_scopes(context)
    early: Early = {}
    if not any(_patches(import_place) for module in modules for import_place in imports(module)):
        return early
    executed = {module.path: _executed(module) for module in modules}
    imported = {path for module in modules for import_place in imports(module) for path in _targets(import_place)}
    for module in modules:
        if module.path not in imported or module.module.main_guards:
            seen: list[ImportPlace] = []
            if _reaches_patch(module.path, executed, set(), seen):
                for import_place in seen:
                    early.setdefault(import_place.scope.path, {})[
                        import_place.record.line, import_place.record.alias
                    ] = module.path
    return early


def _executed(module: Scope) -> list[_Executed]:
    """The imports that a module executes, in order."""
    executed = []
    for import_place in sorted(imports(module), key=lambda place: (place.record.line, place.record.column)):
        if import_place.scope.function is None and not _is_for_type_checkers(import_place.scope):
            executed.append(
                _Executed(import_place, _targets(import_place), _patches(import_place), _keeps_original(import_place))
            )
    return executed


def _targets(place: ImportPlace) -> list[str]:
    """The paths of the project modules that an import executes."""
    return [module.path for module in place.scope.context.project.imported(place.scope.module, place.record)]


def _reaches_patch(path: str, executed: Mapping[str, list[_Executed]], done: set[str], seen: list[ImportPlace]) -> bool:
    """Walks through the imports that a module executes, in order; returns whether the patch is among them."""
    done.add(path)
    for executed_import in executed[path]:
        if executed_import.patches:
            return True
        for target in executed_import.targets:
            if target not in done and _reaches_patch(target, executed, done, seen):
                return True
        if executed_import.keeps:
            seen.append(executed_import.place)
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
