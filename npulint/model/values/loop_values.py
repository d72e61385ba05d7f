"""Python numbers that differ from one iteration of a loop to the next: counters, and what is computed from them."""

from __future__ import annotations

from npulint.core.lazy_regex import lazy_compile
from npulint.model.values.cursors import CallSite, Expr
from npulint.model.values.walker import walker

_FEW = 3  # rounds of a loop that are not worth mentioning
_SHOWING = lazy_compile(r"(?:^|[._])(?:tqdm|trange|track|progress\w*)$")
_OF_NUMBERS = frozenset(("int", "float", "abs", "min", "max", "round", "pow", "sum"))
_ARITHMETIC = frozenset(("+", "-", "*", "/", "//", "**", "%"))
_OPTIONS = lazy_compile(
    r"^(?:self\.)?(?:args|opt|opts|options|cfg|config|conf|flags|FLAGS|hparams|hp|params)\.|^[A-Z][A-Z0-9_]+$"
)
_TENSORS = ("tensorflow.", "torch.", "numpy.", "keras.")


@walker(depth=10, otherwise=bool)
def changes(value: Expr) -> bool:
    """Whether a value certainly is a Python number that differs between iterations of a loop; or a list or tuple with
    such a number."""
    if value.items:
        return any(map(changes, value.items))
    if value.operator == "iter":
        return _counts(value.operands()[0])
    if value.operator == "[]":
        return _is_number_of_enumerate(value)
    if value.operator in _ARITHMETIC:
        operands = value.operands()
        return any(map(changes, operands)) and all(_is_number(operand) or changes(operand) for operand in operands)
    call = value.call
    if call is not None:
        return _is_computed(call)
    return bool(value.written) and _is_changed_name(value)


def _counts(iterated: Expr) -> bool:
    """Whether what a loop goes over are the numbers of a ``range``, more than a few."""
    call = iterated.call
    if call is None:
        return False
    if _SHOWING.search(call.name) and call.last != "trange":
        return bool(call.args) and _counts(call.args[0])
    if call.name != "range" and call.last != "trange":
        return False
    ends = [argument.single for argument in call.args]
    return not (len(ends) == 1 and isinstance(ends[0], int) and ends[0] <= _FEW)


def _is_number_of_enumerate(value: Expr) -> bool:
    """Whether a value is the first element of what ``enumerate`` gives."""
    parts = value.subscript
    iterated = parts[0].operands("iter") if parts is not None and parts[1].literal == 0 else []
    call = iterated[0].call if iterated else None
    if call is not None and _SHOWING.search(call.name) and call.args:
        call = call.args[0].call
    return call is not None and call.name == "enumerate"


def _is_changed_name(value: Expr) -> bool:
    """Whether a name gets such a number: it is counted up in a loop, or given one by an assignment or a caller."""
    sources = value.sources
    if any(_is_tensor(source) for source in sources):
        return False
    updates = [assignment.value for assignment in value.assignments if assignment.scope.loop is not None]
    counted = any(update.operator in ("+=", "-=", "*=") and _is_counter(update) for update in updates)
    return counted or any(map(changes, sources))


def _is_counter(update: Expr) -> bool:
    return all(operand.is_literal or changes(operand) for operand in update.operands())


def _is_tensor(value: Expr) -> bool:
    call = value.call
    return call is not None and call.name.startswith(_TENSORS)


def _is_computed(call: CallSite) -> bool:
    """Whether a function that gives Python numbers gets such a number."""
    given = any(map(changes, call.arguments))
    if call.name in _OF_NUMBERS or call.name.startswith("math."):
        return given
    target = call.target
    if not given or target is None or target.kind != "function":
        return False
    return bool(target.returns) and all(map(_is_plain, target.returns))


@walker(depth=6, otherwise=bool)
def _is_plain(value: Expr) -> bool:
    """Whether a returned value is computed from numbers, parameters and options only."""
    if value.is_literal:
        return True
    call = value.call
    if call is not None:
        plain = call.name in _OF_NUMBERS or call.name.startswith("math.")
        return plain and all(map(_is_plain, call.arguments))
    if value.written:
        assigned = value.assignments
        return all(_is_plain(assignment.value) for assignment in assigned)
    parts = value.alternatives or value.operands()
    return bool(parts) and all(map(_is_plain, parts))


def _is_number(value: Expr) -> bool:
    """Whether a value is a Python number by what is known of it, or is taken from options."""
    if value.is_literal:
        return isinstance(value.literal, int | float)
    if value.operator in _ARITHMETIC:
        return all(map(_is_number, value.operands()))
    call = value.call
    if call is not None:
        return call.name == "len" or (call.name in _OF_NUMBERS and all(map(_is_number, call.arguments)))
    if _OPTIONS.search(value.written):
        return True
    values = value.known
    return bool(values.values) and all(isinstance(scalar, int | float) for scalar in values.values)
