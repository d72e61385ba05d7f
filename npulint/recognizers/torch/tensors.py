"""The kind of value of a PyTorch expression: a boolean mask, a host object, a number that depends on tensor data. Every
answer is yes only if certain."""

from __future__ import annotations

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.code import Ref
from npulint.model.running.code_places import item_assignments
from npulint.model.values.context import Context, once
from npulint.model.values.cursors import CallSite, Expr, Scope, module_scopes
from npulint.model.values.walker import walker

_COMPARISONS = frozenset(("==", "!=", "<", "<=", ">", ">="))
_MASK_METHODS = frozenset(
    """gt ge lt le eq ne greater less greater_equal less_equal not_equal bool byte isnan isinf isfinite logical_and
    logical_or logical_not logical_xor isin isclose BoolTensor""".split()
)
_SAME = frozenset(  # functions that return a tensor of the same kind with the same values
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
_ELEMENTS = ("[]", ".", "iter")  # operators that return part of the first operand
_READS = frozenset(("item", "tolist"))
_COUNTS = frozenset(
    """sum max min amax amin argmax argmin count_nonzero mean median clamp round ceil floor int long float type to
    cpu""".split()
)
_PYTHON = frozenset(("int", "float", "max", "min", "round", "abs", "sum", "math.ceil", "math.floor", "list", "tuple"))
_FIXED = frozenset(
    "size dim numel ndimension len get_world_size current_device element_size nelement shape range".split()
)


def values_of(name: Expr) -> list[Expr]:
    """The possible values of a name: those assigned to it, else the arguments that the project's calls pass for a
    parameter."""
    assigned = name.assignments
    if assigned:
        return [assignment.value for assignment in assigned if assignment.value.operator != "+="]
    function = name.parameter_of
    passed = [] if function is None else function.passed(name.written)
    return [value for _, value in passed if value is not None]


def _taken_from(value: Expr) -> list[Expr]:
    """What an operation computes with: of an element the element itself where the project shows it (``a, b = f()``),
    else the object that it, or an attribute, is taken from."""
    shown = value.sources if value.subscript is not None else []
    return shown or (value.operands()[:1] if value.operator in _ELEMENTS else value.operands())


# -- boolean masks -----------------------------------------------------------------------------------


@walker(depth=8, otherwise=bool)
def is_mask(value: Expr) -> bool:
    """Whether a value is certainly a boolean tensor, or an index that contains one."""
    if value.is_display:
        return any(is_mask(item) for item in value.items)
    if value.operator:
        return _is_mask_operation(value)
    if value.call is not None:
        return _gives_mask(value.call)
    head, _, last = value.written.rpartition(".")
    if head and last in _SAME and last != "to":
        return is_mask(value.sibling(Ref(head)))
    values = values_of(value) if value.written else []
    return bool(values) and all(is_mask(expr) for expr in values)


def _is_mask_operation(value: Expr) -> bool:
    operator, parts = value.operator, value.operands()
    if operator in _COMPARISONS:
        return _compares_tensors(parts)
    if operator == "~":
        return not parts[0].is_literal
    if operator in ("&", "|", "^"):
        return any(is_mask(part) for part in parts)
    if operator == ".":
        return parts[1].text in _SAME and is_mask(parts[0])
    followed = {"*": parts, "[]": _taken_from(value), "if": parts[1:]}.get(operator, [])
    return bool(followed) and all(is_mask(part) for part in followed)


def _compares_tensors(operands: list[Expr]) -> bool:
    """Whether a comparison is between tensors: no text, None or two plain numbers."""
    if any(operand.is_literal and not isinstance(operand.literal, int | float) for operand in operands):
        return False
    return not all(_is_plain(operand) or operand.known.values for operand in operands)


@walker(depth=8, otherwise=bool)
def _is_plain(value: Expr) -> bool:
    """Whether a value is a Python number: a size, a loop counter."""
    call = value.call
    if call is not None:
        return call.last in _FIXED or call.name in _PYTHON
    if value.operator in ("[]", "iter", "+", "-", "*", "//", "%"):
        return _is_plain(value.operands()[0])
    if value.written.endswith((".shape", ".ndim")):
        return True
    assigned = [assignment.value for assignment in value.assignments]
    return bool(assigned) and all(_is_plain(expr) or _is_counter(expr) for expr in assigned)


def _is_counter(value: Expr) -> bool:
    """Whether a value is the first element of ``enumerate``."""
    element = value.subscript
    source = element[0].operands() if element is not None and element[1].literal == 0 else []
    return bool(source) and source[0].call is not None and source[0].call.name == "enumerate"


def _gives_mask(call: CallSite) -> bool:
    """Whether a call returns a mask."""
    name, last = call.name, call.last
    if _ON_HOST_NAME.match(name):
        return False
    target = call.target
    if target is not None:
        returns = target.returns
        return bool(returns) and all(is_mask(expr) for expr in returns)
    if last in _MASK_METHODS or (last in _MADE and not _types(call).isdisjoint(_BOOL_TYPES)):
        return True
    if last not in _SAME:
        return False
    source = call.args[0] if name.startswith("torch.") and "(" not in name and call.record.args else call.receiver
    return source is not None and is_mask(source)


def _types(call: CallSite) -> set[str]:
    """The canonical names passed to a call by position or as a type."""
    values = [*call.args, *(value for key, value in call.keywords.items() if key in ("dtype", "type"))]
    return {value.name for value in values if value.written}


# -- values of the host ------------------------------------------------------------------------------


@walker(depth=8, otherwise=bool)
def on_host(value: Expr) -> bool:
    """Whether a value is probably an array, list or table on the host, or a tensor copied there."""
    if value.is_display or value.is_dict:
        return True
    if value.operator:
        return any(on_host(part) for part in _taken_from(value) if not part.is_literal)
    call = value.call
    if not value.written and call is None:
        return False
    if _HOST_NAME.search(value.name):
        return True
    if call is not None:
        return _gives_host(call)
    return any(on_host(expr) for expr in values_of(value)) or value.written in _shared_with_numpy(value.scope.routine)


def _gives_host(call: CallSite) -> bool:
    """Whether a call returns a value of the host: a method of one, a tensor made with ``device="cpu"``, or what an own
    function returns, one value."""
    if call.receiver is not None and on_host(call.receiver):
        return True
    device = call.argument("device") if call.name.startswith("torch.") else None
    returns = [] if call.target is None else call.target.returns
    put_there = device is not None and device.single == "cpu"
    return put_there or (bool(returns) and not any(expr.is_display for expr in returns) and all(map(on_host, returns)))


@once
def _shared_with_numpy(function: Scope) -> frozenset[str]:
    """The names that a function passes to numpy functions."""
    arguments = (value for call in function.calls if _ON_HOST_NAME.match(call.name) for value in call.args)
    return frozenset(name for value in arguments for name in value.written_names)


_SIZED = frozenset("zeros ones full empty arange linspace eye rand randn randint randperm".split())
_DEFAULTS = ("set_default_device", "set_default_tensor_type")


@walker(depth=8, otherwise=bool)
def is_host_tensor(value: Expr) -> bool:
    """Whether a value is certainly a tensor of the host with a size: made there, and never moved.
    Where one is combined with others, these are on the host as well."""
    call = value.call
    if call is not None:
        return _gives_host_tensor(call)
    if value.operator:
        part = value.subscript
        stored = [] if part is None or not part[0].written else item_assignments(part[0])
        kept = [
            assignment.value for key, assignment in stored if part is not None and key in ("*", str(part[1].literal))
        ]
        if kept:
            return all(map(is_host_tensor, kept))
        parts = value.operands()
        if value.operator == "+=":  # beside what it is added to
            return parts[0].is_literal or is_host_tensor(parts[0])
        return any(map(is_host_tensor, _taken_from(value)))
    if not value.written or value.parameter_of is not None:
        return False
    assigned = [assignment.value for assignment in value.assignments]
    return bool(assigned) and all(map(is_host_tensor, assigned))


def _gives_host_tensor(call: CallSite) -> bool:
    """Whether a call makes a tensor of the host, or computes one of another."""
    name, last = call.name, call.last
    if name.startswith("torch.") and "(" not in name:
        if last in _SIZED or (last in ("tensor", "as_tensor") and _is_list(call)):
            device = call.argument("device")
            if device is not None:
                return device.single == "cpu"
            return not (call.has_unknown_options or _has_default_device(call.context))
        return name.count(".") == 1 and any(map(is_host_tensor, call.args))
    return call.receiver is not None and not _moves(call) and is_host_tensor(call.receiver)


def _moves(call: CallSite) -> bool:
    return call.last in ("cuda", "npu", "to", "type", "type_as", "expand_as", "view_as")


def _is_list(call: CallSite) -> bool:
    """Whether a call is given a display or a comprehension."""
    return bool(call.record.args) and (call.args[0].is_display or call.args[0].operator == "each")


@once
def _has_default_device(context: Context) -> bool:
    """Whether tensors are made on a device unless they say another."""
    return any(module.calls_named(*_DEFAULTS) for module in module_scopes(context))


# -- numbers that depend on data ---------------------------------------------------------------------


@walker(depth=8, otherwise=bool)
def depends_on_data(value: Expr) -> bool:
    """Whether a number certainly depends on tensor data: ``n.item()``, ``int(mask.sum()) * 3``."""
    if value.call is not None:
        return _gives_data(value.call)
    if value.written:
        return any(depends_on_data(expr) for expr in values_of(value))
    if value.operator in _COMPARISONS:
        return False
    return any(map(depends_on_data, _taken_from(value) or value.items))


def _gives_data(call: CallSite) -> bool:
    """Whether the number returned by a call depends on tensor data."""
    name, last = call.name, call.last
    if last in _FIXED or _ON_HOST_NAME.match(name):
        return False
    if name in _PYTHON:
        return any(depends_on_data(value) for value in call.args)
    target = call.target
    if target is not None:
        return any(depends_on_data(value) for value in target.returns)
    receiver = call.receiver
    if last in _COUNTS and name.startswith("torch.") and "(" not in name:
        return True
    return (last in _COUNTS or last in _READS) and receiver is not None and not on_host(receiver)


# -- names and texts ---------------------------------------------------------------------------------


def method_of(name: str) -> str:
    """The method name of a canonical callee whose receiver may be a tensor; empty for others."""
    head, _, last = name.rpartition(".")
    if not head or _HOST_NAME.search(head + "."):
        return ""
    tensor = head.startswith("?") or head.endswith((")", "]")) or ":" in head or head == "torch.Tensor"
    return last if tensor else ""


def short_text(value: Expr, levels: int = 2) -> str:
    """A short text of an expression for messages, with a limited nesting: ``boxes[keep]``, or ``boxes[…]`` for a longer
    index."""
    if value.written or value.is_literal:
        return value.written or str(value.literal)
    if value.attribute is not None and levels >= 0:
        holder, name = value.attribute
        text = short_text(holder, levels - 1)
        return f"({text}).{name}" if " " in text else f"{text}.{name}"
    return _compound_text(value, levels - 1) if levels > 0 else "…"


def _compound_text(value: Expr, levels: int) -> str:
    operator, texts = value.operator, [short_text(part, levels) for part in value.operands()]
    if operator == "[]":
        return f"{texts[0]}[{texts[1]}]"
    if operator in _COMPARISONS or operator in ("&", "|"):
        return f" {operator} ".join(texts)
    if operator == "~":
        return f"~{texts[0]}"
    if value.is_display:
        return ", ".join(":" if part.is_unknown else short_text(part, levels) for part in value.items)
    return f"{short_text(value.call.callee, levels)}()" if value.call is not None else "…"
