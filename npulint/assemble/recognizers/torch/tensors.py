"""What kind of value an expression of PyTorch code is: a boolean mask, an object of the host, a number that depends
on the data of a tensor. Everything is answered only when surely so."""

from __future__ import annotations

from collections.abc import Iterator

from npulint.assemble.context import Context
from npulint.assemble.module import Module
from npulint.facts.calls import receiver_of
from npulint.facts.code import Call, CallResult, Const, Op, Ref, SequenceDisplay, Table, Unknown, Value
from npulint.lazy_regex import lazy_compile

_DEPTH = 7
_COMPARISONS = frozenset(("==", "!=", "<", "<=", ">", ">="))
_MASK_METHODS = frozenset(
    """gt ge lt le eq ne greater less greater_equal less_equal not_equal bool byte isnan isinf isfinite logical_and
    logical_or logical_not logical_xor isin isclose BoolTensor""".split()
)
_SAME = frozenset(  # what gives a tensor of the same kind with the same values
    """view reshape squeeze unsqueeze expand expand_as repeat t flatten contiguous clone cuda npu to transpose permute
    detach view_as reshape_as chunk cat stack broadcast_to roll flip index_select gather triu tril T mT data""".split()
)
_MADE = frozenset(
    "zeros ones full empty zeros_like ones_like full_like tensor as_tensor new_zeros new_ones new_full to type".split()
)
_BOOL_TYPES = ("torch.bool", "torch.uint8", "torch.BoolTensor")
_HOST_NAME = lazy_compile(
    r"^(?:numpy|pandas|scipy|cv2|PIL|skimage|sklearn|random|math|json|list|dict|tuple|range|sorted|set|len|open|zip)\b"
    r"|[.)](?:numpy|tolist|cpu|items|keys|split)\(\)"
)
_ON_HOST_NAME = lazy_compile(r"^(?:numpy|pandas|scipy|cv2|sklearn|skimage)\.")
_READS = frozenset(("item", "tolist"))
_COUNTS = frozenset(
    """sum max min amax amin argmax argmin count_nonzero mean median clamp round ceil floor int long float type to
    cpu""".split()
)
_PYTHON = frozenset(("int", "float", "max", "min", "round", "abs", "sum", "math.ceil", "math.floor", "list", "tuple"))
_FIXED = frozenset(
    "size dim numel ndimension len get_world_size current_device element_size nelement shape range".split()
)


def is_mask(context: Context, module: Module, value: Value, block: int, line: int, depth: int = 0) -> bool:
    """Whether a value surely is a boolean tensor, or (as an index) has one among its parts."""
    if depth > _DEPTH:
        return False
    if isinstance(value, SequenceDisplay):
        return any(is_mask(context, module, item, block, line, depth + 1) for item in value.items)
    if isinstance(value, Op):
        return _is_mask_operation(context, module, value, block, line, depth)
    if isinstance(value, CallResult):
        return _is_mask_result(context, module, value.call, depth)
    if not isinstance(value, Ref):
        return False
    head, _, last = value.name.rpartition(".")
    if head and last in _SAME and last != "to":
        return is_mask(context, module, Ref(head), block, line, depth + 1)
    values = _given(context, module, value.name, block, line)
    return bool(values) and all(is_mask(context, home, given, at, on, depth + 1) for home, given, at, on in values)


def _is_mask_operation(context: Context, module: Module, value: Op, block: int, line: int, depth: int) -> bool:
    def mask(part: Value) -> bool:
        return is_mask(context, module, part, block, line, depth + 1)

    if value.op in _COMPARISONS:
        return _compares_tensors(context, module, value, block, line)
    if value.op == "~":
        return not isinstance(value.operands[0], Const)
    if value.op in ("&", "|", "^", "*"):
        found = [mask(part) for part in value.operands]
        return all(found) if value.op == "*" else any(found)
    if value.op == "[]":
        return mask(value.operands[0])
    if value.op == "." and isinstance(value.operands[1], Const):
        return value.operands[1].value in _SAME and mask(value.operands[0])
    return value.op == "if" and all(mask(part) for part in value.operands[1:])


def _compares_tensors(context: Context, module: Module, value: Op, block: int, line: int) -> bool:
    """Whether a comparison is one of tensors: no text, None or two plain numbers."""
    numbers = 0
    for operand in value.operands:
        if isinstance(operand, Const) and not isinstance(operand.value, int | float):
            return False
        plain = _is_plain(context, module, operand, block, line)
        numbers += plain or bool(context.flow.known(module, operand, block, line).values)
    return numbers < len(value.operands)


def _is_plain(context: Context, module: Module, value: Value, block: int, line: int, depth: int = 0) -> bool:
    """Whether a value is a number of Python: a size, a counter of a loop."""
    if isinstance(value, CallResult):
        return module.callee_name(value.call) in _FIXED or context.names.of_call(module, value.call) in _PYTHON
    if isinstance(value, Op) and value.op in ("[]", "iter", "+", "-", "*", "//", "%") and depth < _DEPTH:
        return _is_plain(context, module, value.operands[0], block, line, depth + 1)
    if not isinstance(value, Ref) or depth > _DEPTH:
        return False
    if value.name.endswith((".shape", ".ndim")):
        return True
    binds = context.flow.bindings(module, value.name, block, line)
    return bool(binds) and all(
        _is_plain(context, home, bind.value, bind.block, bind.line, depth + 1) or _is_counter(context, home, bind.value)
        for home, bind in binds
    )


def _is_counter(context: Context, module: Module, value: Value) -> bool:
    """The first element of what ``enumerate`` gives."""
    if not isinstance(value, Op) or value.op != "[]" or not isinstance(value.operands[0], Op):
        return False
    source = value.operands[0].operands[0]
    first = isinstance(value.operands[1], Const) and value.operands[1].value == 0
    return first and isinstance(source, CallResult) and context.names.of_call(module, source.call) == "enumerate"


def _is_mask_result(context: Context, module: Module, index: int, depth: int) -> bool:
    name = context.names.of_call(module, index)
    call = module.code.calls[index]
    if _ON_HOST_NAME.match(name):
        return False
    target = context.names.function(name)
    if target is not None:
        home, inner = target
        returns = home.returns.get(inner, ())
        return bool(returns) and all(is_mask(context, home, r.value, r.block, r.line + 1, depth + 1) for r in returns)
    last = module.callee_name(index)
    if last in _MASK_METHODS:
        return True
    if last in _MADE and any(t in _types(context, module, call) for t in _BOOL_TYPES):
        return True
    receiver = receiver_of(call)
    if last not in _SAME or (receiver is None and not call.args):
        return False
    source = call.args[0] if name.startswith("torch.") and "(" not in name and call.args else receiver
    return source is not None and is_mask(context, module, source, call.block, call.line, depth + 1)


def _types(context: Context, module: Module, call: Call) -> list[str]:
    values = [*call.args, *(value for key, value in call.keywords if key in ("dtype", "type"))]
    return [context.names.of_value(module, v, call.block, call.line) for v in values if isinstance(v, Ref)]


def on_host(context: Context, module: Module, value: Value, block: int, line: int, depth: int = 0) -> bool:
    """Whether a value may well be an array, list or table of the host, or a tensor that was copied there."""
    if isinstance(value, SequenceDisplay | Table):
        return True
    if depth > _DEPTH:
        return False
    if isinstance(value, CallResult | Ref) and _HOST_NAME.search(context.names.of_value(module, value, block, line)):
        return True
    if isinstance(value, Op):
        parts = value.operands[:1] if value.op in ("[]", ".", "iter") else value.operands
        return any(on_host(context, module, p, block, line, depth + 1) for p in parts if not isinstance(p, Const))
    if isinstance(value, CallResult):
        receiver = receiver_of(module.code.calls[value.call])
        return receiver is not None and on_host(context, module, receiver, block, line, depth + 1)
    if not isinstance(value, Ref):
        return False
    return any(
        on_host(context, home, given, at, on, depth + 1)
        for home, given, at, on in _given(context, module, value.name, block, line)
    ) or _shared_with_numpy(context, module, value.name, block)


def _shared_with_numpy(context: Context, module: Module, name: str, block: int) -> bool:
    """Whether a function of numpy is given this name in the same function."""
    function = module.function_of(block)
    return name in context.memoize(("numpy", module.path, function), lambda: _numpy_names(context, module, function))


def _numpy_names(context: Context, module: Module, function: int) -> frozenset[str]:
    return frozenset(
        name
        for index in module.calls_in.get(function, ())
        if _ON_HOST_NAME.match(context.names.of_call(module, index))
        for value in module.code.calls[index].args
        for name in names_in(value)
    )


def depends_on_data(context: Context, module: Module, value: Value, block: int, line: int, depth: int = 0) -> bool:
    """Whether a number surely comes out of a tensor's data: ``n.item()``, ``int(mask.sum()) * 3``."""
    if depth > _DEPTH:
        return False

    def depends(part: Value) -> bool:
        return depends_on_data(context, module, part, block, line, depth + 1)

    if isinstance(value, Op):
        parts = value.operands[:1] if value.op in ("[]", ".", "iter") else value.operands
        return value.op not in _COMPARISONS and any(depends(part) for part in parts)
    if isinstance(value, SequenceDisplay):
        return any(depends(part) for part in value.items)
    if isinstance(value, Ref):
        return any(
            depends_on_data(context, home, given, at, on, depth + 1)
            for home, given, at, on in _given(context, module, value.name, block, line)
        )
    return isinstance(value, CallResult) and _result_depends(context, module, value.call, depth)


def _result_depends(context: Context, module: Module, index: int, depth: int) -> bool:
    call = module.code.calls[index]
    name = context.names.of_call(module, index)
    last = module.callee_name(index)
    if last in _FIXED or _ON_HOST_NAME.match(name):
        return False
    if name in _PYTHON:
        return any(depends_on_data(context, module, a, call.block, call.line, depth + 1) for a in call.args)
    target = context.names.function(name)
    if target is not None:
        home, inner = target
        returns = home.returns.get(inner, ())
        return any(depends_on_data(context, home, r.value, r.block, r.line + 1, depth + 1) for r in returns)
    receiver = receiver_of(call)
    if last in _READS and receiver is not None:
        return not on_host(context, module, receiver, call.block, call.line)
    if last not in _COUNTS:
        return False
    if name.startswith("torch.") and "(" not in name:
        return True
    return receiver is not None and not on_host(context, module, receiver, call.block, call.line)


def _given(context: Context, module: Module, name: str, block: int, line: int) -> list[tuple[Module, Value, int, int]]:
    """What may stand behind a name: its assignments, else what the project's calls pass for a parameter."""
    binds = context.flow.bindings(module, name, block, line)
    if binds:
        return [(home, b.value, b.block, b.line) for home, b in binds if not _adds(b.value)]
    function = module.function_of(block)
    while function > 0 and name not in module.blocks[function].params:
        function = module.function_of(module.blocks[function].parent)
    found: list[tuple[Module, Value, int, int]] = []
    for (home, index), value in context.flow.passed(module, function, name) if function > 0 else ():
        if value is not None:
            call = home.code.calls[index]
            found.append((home, value, call.block, call.line))
    return found


def _adds(value: Value) -> bool:
    return isinstance(value, Op) and value.op == "+="


def names_in(value: Value) -> Iterator[str]:
    """The names in an expression as written, results of calls left out."""
    queue = [value]
    while queue:
        part = queue.pop()
        if isinstance(part, Ref):
            yield part.name
        elif isinstance(part, Op):
            queue += part.operands
        elif isinstance(part, SequenceDisplay):
            queue += part.items


def method_of(name: str) -> str:
    """The method that a canonical callee is, called on something that may be a tensor; empty for others."""
    head, _, last = name.rpartition(".")
    if not head or _HOST_NAME.search(head + "."):
        return ""
    tensor = head.startswith("?") or head.endswith((")", "]")) or ":" in head or head == "torch.Tensor"
    return last if tensor else ""


def written(module: Module, value: Value, depth: int = 0) -> str:
    """A short text of an expression for messages: ``boxes[keep]`` for a longer one ``boxes[…]``."""
    if isinstance(value, Ref):
        return value.name
    if isinstance(value, Op) and value.op == "[]" and depth < 2:
        return f"{written(module, value.operands[0], depth + 1)}[{written(module, value.operands[1], depth + 1)}]"
    if isinstance(value, CallResult):
        callee = module.code.calls[value.call].callee
        return f"{written(module, callee, depth + 1)}()" if depth < 2 else "…"
    if isinstance(value, Op) and value.op == "." and depth < 3 and isinstance(value.operands[1], Const):
        base = written(module, value.operands[0], depth + 1)
        return f"({base}).{value.operands[1].value}" if " " in base else f"{base}.{value.operands[1].value}"
    if isinstance(value, Op) and value.op in _COMPARISONS | {"&", "|"} and depth < 2:
        return f" {value.op} ".join(written(module, part, depth + 1) for part in value.operands)
    if isinstance(value, Op) and value.op == "~" and depth < 2:
        return f"~{written(module, value.operands[0], depth + 1)}"
    if isinstance(value, SequenceDisplay) and depth < 2:
        return ", ".join(":" if isinstance(part, Unknown) else written(module, part, depth + 1) for part in value.items)
    return str(value.value) if isinstance(value, Const) else "…"
