"""Order: names bound before transfer_to_npu replaces them, optimizers built before their model moves."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from npulint.assemble.context import Context
from npulint.assemble.guards import is_main
from npulint.assemble.module import Module
from npulint.assemble.recognizers.torch.device_strings import is_device_name, leaves
from npulint.data.names import canonical
from npulint.facts.code import Call, CallResult, Const, Import, Op, Ref, Value
from npulint.facts.model import Fact, Span
from npulint.lazy_regex import lazy_compile

_TRANSFER = "torch_npu.contrib.transfer_to_npu"
# What is replaced in its module, so that a name taken out of it before keeps the original.
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
_MOVES = ("npu", "cuda", "to")

Early = dict[str, dict[tuple[int, str], str]]
"""Path -> (line and name bound by an import) -> the entry that comes to it before the patch."""


def early_bindings(context: Context, module: Module) -> Iterator[Fact]:
    """An ``early_binding`` for each patched name that is imported before transfer_to_npu is."""
    found = context.memoize("early_bindings", partial(_early, context)).get(module.path)
    for record in module.code.imports if found else ():
        entry = found.get((record.line, record.alias)) if found else None
        if entry is not None:
            span = Span(record.line, record.column, record.line, record.end_column)
            attrs = {"after": entry}
            yield Fact(
                "early_binding", _full(record), module.path, span, attrs, None, context.around(module, record.block)
            )


def _early(context: Context) -> Early:
    modules = context.project.modules
    patching = {path for path, module in modules.items() if any(_patches(r) for r in module.code.imports)}
    found: Early = {}
    if not patching:
        return found
    imported = {t.path for m in modules.values() for r in m.code.imports for t in context.project.imported(m, r)}
    for path, module in modules.items():
        if path not in imported or any(b.kind == "if" and is_main(b.test) for b in module.blocks):
            seen: list[tuple[Module, Import]] = []
            if _run(context, module, set(), seen):
                for home, record in seen:
                    found.setdefault(home.path, {})[(record.line, record.alias)] = path
    return found


def _run(context: Context, module: Module, done: set[str], seen: list[tuple[Module, Import]]) -> bool:
    """Go through the imports that running a module runs, in order; whether the patch is among them."""
    done.add(module.path)
    for record in sorted(module.code.imports, key=lambda r: (r.line, r.column)):
        if module.function_of(record.block) >= 0 or _is_apart(module, record):
            continue
        if _patches(record):
            return True
        for target in context.project.imported(module, record):
            if target.path not in done and _run(context, target, done, seen):
                return True
        if _keeps_original(context, module, record):
            seen.append((module, record))
    return False


def _is_apart(module: Module, record: Import) -> bool:
    """Whether an import stands below a condition that only type checkers meet."""
    tests = [module.blocks[b].test for b in module.ancestors(record.block) if module.blocks[b].kind == "if"]
    return any(isinstance(t, Ref) and t.name.rpartition(".")[2] == "TYPE_CHECKING" for t in tests)


def _patches(record: Import) -> bool:
    return record.module.startswith("torch_npu.contrib") and _TRANSFER in (record.module, _full(record))


def _full(record: Import) -> str:
    return canonical(f"{record.module}.{record.name}") if record.name else record.module


def _keeps_original(context: Context, module: Module, record: Import) -> bool:
    if not record.name or record.level or not record.module.startswith("torch"):
        return False
    name = _full(record)
    if name in _REPLACED:
        return True
    if name in _FACTORIES:
        return _asked_for_device(context, module, name)
    last = name.rpartition(".")[2]
    return name.startswith("torch.cuda.") and name not in _MODULES and not last[:1].isupper()


def _asked_for_device(context: Context, module: Module, name: str) -> bool:
    """Whether the module passes a device to a factory function: else its original does as well."""
    for index in module.calls_of(name.rpartition(".")[2]):
        keys = [key for key, _ in module.code.calls[index].keywords]
        if any(is_device_name(key) for key in keys) and context.names.of_call(module, index) == name:
            return True
    return False


def late_moves(context: Context, module: Module) -> Iterator[Fact]:
    """A ``late_move`` for each optimizer whose model moves to the device after it in the same function."""
    listed = module.calls_of("parameters")
    moves = [(name, i) for i in module.calls_of(*_MOVES) if (name := _moved(module, i))] if listed else []
    if not moves:
        return
    owners = {i: head for i in listed if (head := _head(module.code.calls[i]))}
    for index, call in enumerate(module.code.calls):
        holder = next((owners[v.call] for v in _arguments(call) if isinstance(v, CallResult) and v.call in owners), "")
        if (
            holder
            and _OPTIMIZER.search(context.names.of_call(module, index))
            and not _there(context, module, call, holder)
        ):
            late = _late(module, index, [i for name, i in moves if name == holder])
            if late >= 0:
                yield context.call_fact(
                    "late_move",
                    holder,
                    module,
                    index,
                    by=module.callee_name(late),
                    line=str(module.code.calls[late].line),
                )


def _there(context: Context, module: Module, call: Call, holder: str) -> bool:
    """Whether the model was made on the device (``Net().npu()``)."""
    bound = context.flow.bindings(module, holder, call.block, call.line)
    return any(isinstance(b.value, CallResult) and home.callee_name(b.value.call) in _MOVES for home, b in bound)


def _arguments(call: Call) -> list[Value]:
    return [*call.args, *(value for _, value in call.keywords)]


def _late(module: Module, index: int, moves: list[int]) -> int:
    """The first move after call `index` on its way, if none comes before it; else -1."""
    call = module.code.calls[index]
    around = set(module.ancestors(call.block))
    for move in moves:
        other = module.code.calls[move]
        if module.function_of(other.block) != module.function_of(call.block):
            continue
        if other.line <= call.line:
            return -1
        if other.block in around or call.block in module.ancestors(other.block):
            return -1 if _made_anew(module, index, move) else move
    return -1


def _made_anew(module: Module, index: int, move: int) -> bool:
    """Whether the name that is moved means another object by then."""
    first, last = module.code.calls[index].line, module.code.calls[move].line
    name = _head(module.code.calls[move])
    binds = module.dotted.get(name, []) if "." in name else [b for t in module.names.values() for b in t.get(name, ())]
    return any(first < bind.line < last for bind in binds)


def _moved(module: Module, index: int) -> str:
    """The name that a move is called on; empty for another call, as ``x.to(torch.float16)``."""
    call = module.code.calls[index]
    if module.callee_name(index) != "to":
        return _head(call)
    value = call.args[0] if call.args else dict(call.keywords).get("device")
    if isinstance(value, Ref):
        return _head(call) if is_device_name(value.name) else ""
    if isinstance(value, Const | Op) and any(text.startswith(("npu", "cuda")) for text in leaves(module, value)):
        return _head(call)
    return ""


def _head(call: Call) -> str:
    return call.callee.name.rpartition(".")[0] if isinstance(call.callee, Ref) else ""
