"""What makes the shapes of a training step depend on the data, and batches padded to their longest sample."""

from __future__ import annotations

import re

from npulint.assemble.context import Context
from npulint.assemble.cursors import scope_at
from npulint.assemble.flow import argument
from npulint.assemble.module import Module
from npulint.assemble.recognizers.torch.classes import is_idle
from npulint.assemble.recognizers.torch.tensors import depends_on_data, is_mask, method_of, names_in, on_host, written
from npulint.facts.calls import receiver_of
from npulint.facts.code import Assignment, Call, CallResult, Const, Op, Ref, SequenceDisplay, Unknown, Value
from npulint.facts.model import Fact
from npulint.lazy_regex import lazy_compile

_ALWAYS = {
    "torch.masked_select": "masked_select",
    "torch.nonzero": "nonzero",
    "torch.argwhere": "nonzero",
    "torch.unique": "unique",
    "torch.unique_consecutive": "unique",
    "torch.bincount": "bincount",
    "torch.nn.utils.rnn.pack_padded_sequence": "pack_padded",
    "torch.nn.utils.rnn.pack_sequence": "pack_padded",
    "torch.nn.utils.rnn.pad_sequence": "pad_sequence",
    "torchvision.ops.nms": "nms",
    "torchvision.ops.batched_nms": "nms",
    "torchvision.ops.boxes.nms": "nms",
    "torchvision.ops.boxes.batched_nms": "nms",
}
_METHODS = {
    "masked_select": "masked_select",
    "nonzero": "nonzero",
    "argwhere": "nonzero",
    "unique": "unique",
    "unique_consecutive": "unique",
    "bincount": "bincount",
}
_SOMETIMES = frozenset(("torch.where", "torch.topk", "torch.repeat_interleave", "torch.split"))
_SOMETIMES_METHODS = frozenset(("topk", "repeat_interleave", "split"))
_DECIDED = {"topk": ("k", "dynamic_topk"), "split": ("split_size_or_sections", "split_by_lengths")}
_SIZES = frozenset(("size", "numel", "__len__"))
_COLLATE = lazy_compile(r"(?:^|[._])\w*collat\w*$|[Cc]ollat\w*\.__call__$", re.IGNORECASE)
_PADS = lazy_compile(
    r"(?:^|[.:_])pad(?:_(?:lists?|sequences?|batch|tensors?|collate|to_longest|samples?|items|and_\w+))?$|collate_tokens$"
)
_BATCHES = lazy_compile(r":(?:\w+\.)*\w*(?:collat|batch|nested|stack|merge)\w*$")  # own functions that make one
_NO_BATCH = ("tensorflow.", "numpy.", "torch.nn.functional.", "cv2.", "?self.")
_LENGTH = lazy_compile(r"len|size|max|width", re.IGNORECASE)
_NUMBERS = lazy_compile(r"(?:math|numpy|torch)\.(?:inf|nan|pi|e|finfo\(\)\.\w+|iinfo\(\)\.\w+)$")
_BARE = 2  # at most so many arguments of a padding function that is not at hand: the samples and the filling
_IN_STEP = ("yes", "gated")


def matches(name: str) -> bool:
    """Calls whose result has a shape that depends on data; padding functions and ``max`` for collate functions."""
    if name in _ALWAYS or name in _SOMETIMES or name == "max":
        return True
    last = name.rpartition(".")[2]
    if last in _METHODS or last in _SOMETIMES_METHODS:
        return bool(method_of(name))
    return _joins(name) and not name.startswith(_NO_BATCH)


def _joins(name: str) -> bool:
    """Whether a name is customary for a function that makes a batch of samples."""
    return _PADS.search(name) is not None or _BATCHES.search(name) is not None


def facts_for_call(context: Context, module: Module, index: int, name: str) -> list[Fact]:
    """``dynamic_shape`` facts of calls."""
    block = module.code.calls[index].block
    if _collates(context, module, block):
        return _padding(context, module, index, name)
    if name == "max" or not _in_step(context, module, block):
        return []
    if context.names.function(name) is not None:
        return []
    cause = _cause(context, module, index, name)
    return [_call_fact(context, module, index, cause)] if cause else []


def facts_for_module(context: Context, module: Module) -> list[Fact]:
    """``dynamic_shape`` facts of subscripts by a boolean mask, read and written."""
    found = []
    for note in module.code.torch_expressions:
        if note.kind == "mask" and isinstance(note.value, Op) and _in_step(context, module, note.block):
            holder, key = note.value.operands
            if _selects(context, module, holder, key, note.block, note.line):
                text = written(module, note.value)
                found.append(context.note_fact("dynamic_shape", "boolean_mask", module, note, written=text))
    for target, binds in module.dotted.items():
        if target.endswith("]"):
            found += [fact for bind in binds for fact in _store(context, module, bind)]
    return found


def _in_step(context: Context, module: Module, block: int) -> bool:
    return context.around(module, block).get("step") in _IN_STEP and not is_idle(scope_at(context, module, block))


def _selects(context: Context, module: Module, holder: Value, key: Value, block: int, line: int) -> bool:
    return is_mask(context, module, key, block, line) and not (
        on_host(context, module, holder, block, line) or _host_mask(context, module, key, block, line)
    )


def _host_mask(context: Context, module: Module, key: Value, block: int, line: int) -> bool:
    """Whether the mask itself was computed by numpy or on the CPU."""
    parts = key.operands if isinstance(key, Op) else key.items if isinstance(key, SequenceDisplay) else (key,)
    return any(on_host(context, module, part, block, line) for part in parts if not isinstance(part, Const))


def _store(context: Context, module: Module, bind: Assignment) -> list[Fact]:
    """``x[mask] = 0`` is masked_store; with a tensor on the right the shape of what is written must fit."""
    if isinstance(bind.key, Unknown) or (isinstance(bind.value, Op) and bind.value.op == "+="):
        return []
    if not _in_step(context, module, bind.block):
        return []
    holder = Ref(bind.target.partition("[")[0])
    if not _selects(context, module, holder, bind.key, bind.block, bind.line):
        return []
    scalar = _is_scalar(context, module, bind)
    text = f"{holder.name}[{written(module, bind.key)}]"
    return [
        context.bind_fact("dynamic_shape", "masked_store" if scalar else "masked_assign", module, bind, written=text)
    ]


def _is_scalar(context: Context, module: Module, bind: Assignment) -> bool:
    value = bind.value.operands[0] if isinstance(bind.value, Op) and bind.value.op == "neg" else bind.value
    if isinstance(value, CallResult):
        return context.names.of_call(module, value.call) in ("float", "int", "bool")
    if _NUMBERS.match(context.names.of_value(module, value, bind.block, bind.line)):
        return True
    return isinstance(value, Const) or bool(context.flow.known(module, value, bind.block, bind.line).values)


def _cause(context: Context, module: Module, index: int, name: str) -> str:
    call = module.code.calls[index]
    method = "" if name in _ALWAYS or name in _SOMETIMES else method_of(name)
    receiver = receiver_of(call) if method else None
    if receiver is not None and on_host(context, module, receiver, call.block, call.line):
        return ""
    if not method and call.args and on_host(context, module, call.args[0], call.block, call.line):
        return ""
    cause = _ALWAYS.get(name) or _METHODS.get(method)
    if cause == "nonzero":
        return "count_by_nonzero" if _only_counted(context, module, index) else cause
    if cause:
        return cause
    if name == "torch.where":
        alone = len(call.args) == 1 and not call.keywords
        return "where_one_argument" if alone else ""
    return _by_argument(context, module, index, method or name.rpartition(".")[2], 0 if method else 1)


def _by_argument(context: Context, module: Module, index: int, function: str, position: int) -> str:
    """The cause if an argument decides: k, the repeats, the sections."""
    call = module.code.calls[index]
    if function == "repeat_interleave":
        if any(key == "output_size" for key, _ in call.keywords):
            return ""
        if position and len(call.args) == 1 and not any(key in ("repeats", "dim") for key, _ in call.keywords):
            return "repeat_interleave"
        value = argument(call, "repeats", position)
        return "repeat_interleave" if value is not None and _is_tensor(context, module, value, index) else ""
    if function not in _DECIDED:
        return ""
    keyword, cause = _DECIDED[function]
    value = argument(call, keyword, position)
    return cause if value is not None and depends_on_data(context, module, value, call.block, call.line) else ""


def _is_tensor(context: Context, module: Module, value: Value, index: int) -> bool:
    call = module.code.calls[index]
    if context.flow.known(module, value, call.block, call.line).values:
        return False
    name = context.names.of_value(module, value, call.block, call.line)
    if name.endswith((".item()", ".size()", ".dim()", ".numel()")):
        return False
    return name.startswith("torch.") and name.endswith("()")


def _only_counted(context: Context, module: Module, index: int) -> bool:
    """``nonzero(m).size(0)``, ``len(m.nonzero())``: a count of the mask's ones is all that is asked."""
    after = module.methods.get(index)
    if after is not None:
        return after[1] in _SIZES
    counted = context.memoize(("counted", module.path), lambda: _counted(module))
    return index in counted


def _counted(module: Module) -> frozenset[int]:
    """The calls whose result is handed to ``len`` or ``torch.numel``."""
    return frozenset(
        value.call
        for index in module.calls_of("len", "numel")
        for value in module.code.calls[index].args
        if isinstance(value, CallResult)
    )


def _call_fact(context: Context, module: Module, index: int, cause: str) -> Fact:
    text = written(module, module.code.calls[index].callee)
    text = "max(…)" if text == "max" else text
    return context.call_fact("dynamic_shape", cause, module, index, written=text)


def _collates(context: Context, module: Module, block: int) -> bool:
    function = module.function_of(block)
    if function < 0:
        return False
    if _COLLATE.search(module.blocks[function].name):
        return True
    return context.training.collates(module, function)


def _padding(context: Context, module: Module, index: int, name: str) -> list[Fact]:
    """Padding to the longest sample of a batch, found in a collate function."""
    call = module.code.calls[index]
    if name == "torch.nn.utils.rnn.pad_sequence":
        return [_call_fact(context, module, index, "pad_in_collate")]
    if name == "max":
        longest = _over_lengths(module, index) and not _replaced_by_number(module, call)
        return [_call_fact(context, module, index, "pad_in_collate")] if longest else []
    if not _joins(name) or any(_LENGTH.search(key) for key, _ in call.keywords):
        return []
    target = context.names.function(name)
    if target is None:
        to_longest = 1 <= len(call.args) <= _BARE and _PADS.search(name) is not None
    else:
        to_longest = _pads_to_longest(context, *target, len(call.args))
    return [_call_fact(context, module, index, "pad_in_collate")] if to_longest else []


def _pads_to_longest(context: Context, home: Module, function: int, given: int) -> bool:
    """Whether an own function pads to the longest sample: it looks for it, and is given no length."""
    longest = any("max" in home.callee_name(i) and _over_lengths(home, i) for i in home.calls_in.get(function, ()))
    params = home.blocks[function].params
    return longest and not any(_LENGTH.search(name) for name in params[:given])


def _replaced_by_number(module: Module, call: Call) -> bool:
    """Whether the variable that the longest length is put into is then set to a fixed one."""
    binds = [bind for bind in module.code.assignments if bind.block == call.block]
    targets = {bind.target for bind in binds if bind.line <= call.line <= bind.end_line}
    return any(b.target in targets and b.line > call.line and isinstance(b.value, Const) for b in binds)


def _over_lengths(module: Module, index: int) -> bool:
    """``max(len(x) for x in batch)``, ``max([x.shape[0] …])``, ``max(lengths)``."""
    call = module.code.calls[index]
    if len(call.args) != 1:
        return False
    value = call.args[0]
    if isinstance(value, Op) and value.op == "each":
        element = value.operands[0]
        if isinstance(element, CallResult):
            if module.callee_name(element.call) in ("list", "tuple"):
                return any(".shape" in name for part in module.code.calls[element.call].args for name in names_in(part))
            return module.callee_name(element.call) in ("len", "size", "numel", "__len__")
        return any(".shape" in n or _LENGTH.search(n) for n in names_in(element))
    return isinstance(value, Ref) and _LENGTH.search(value.name) is not None
