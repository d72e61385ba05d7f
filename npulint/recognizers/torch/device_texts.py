"""Device texts in expressions: the devices that an expression may name, and whether it depends on CUDA."""

from __future__ import annotations

import re
from collections.abc import Iterator

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.code import CallResult, Code, Const, Ref, Value, parts_of
from npulint.model.running.code_places import operations
from npulint.model.running.npu_server import npu_server
from npulint.model.values.context import Context, once, once_per_file
from npulint.model.values.cursors import CallSite, Expr, Scope, module_scopes
from npulint.model.values.script_role import is_test_file
from npulint.model.values.walker import walker
from npulint.recognizers.torch.device_names import AVAILABLE

DEVICE = lazy_compile(r"^(?:cuda|npu)(?::\d+)?$")
_COMPOSED = lazy_compile(r"^(?:cuda|npu)(?::(?! )|\{|%|$)")
_DEVICES = ("cuda", "npu")
_BEGINNINGS = frozenset(("cuda", "npu", "npu:"))
_NAME = lazy_compile(
    r"(?:^|[._])(?:(?:\w+_)?(?:device|devices|dev|device_type|device_name|device_str)|map_location|maplocation|accelerator|loc)\]?$",
    re.IGNORECASE,
)
_CHOICES = ("if", "or", "and")
_NO_NPU = ("cpu", "mps", "xpu")
_COMPOSING = frozenset((*_CHOICES, "+", "%", "join"))
_TEXT_CALLS = frozenset(("format", "str"))


@walker(depth=7, otherwise=list)
def leaves(value: Expr, inner: bool = False, anywhere: bool = False) -> list[str]:
    """The possible device texts of an expression, computed ones by their literal prefix; `inner`: it is part of another
    expression; `anywhere`: also those that are not chosen on an NPU server, which costs less."""
    if isinstance(value.literal, str):
        return [value.literal]
    operands = value.operands()
    if value.operator in _CHOICES:
        chosen = value.operands() if anywhere else _possible(value)
        return [text for expr in chosen for text in leaves(expr, True, anywhere)]
    if value.operator in ("+", "%", "join") and operands:
        return [f"{text}…" if value.operator == "+" else text for text in leaves(operands[0], True, anywhere)]
    call = value.call
    if call is None:
        return []
    holder = call.callee.attribute
    if holder is not None and holder[1] == "format":
        return leaves(value.sibling(holder[0].value), True, anywhere)
    if call.args and (call.written == "str" or (inner and call.last == "device")):
        return leaves(value.sibling(call.record.args[0]), True, anywhere)
    return []


def _possible(choice: Expr) -> list[Expr]:
    """What a choice may give on an NPU server; all of it where it gives the CPU or a device of another maker there,
    since a GPU was meant."""
    if choice.operator != "if":
        return choice.operands()
    server = npu_server(choice.context)
    test, chosen, other = choice.operands()
    truth = server.truth(test)
    given = server.value(chosen if truth else other).values
    if truth is None or all(str(device).partition(":")[0] in _NO_NPU for device in given):
        return [chosen, other]
    return [chosen if truth else other]


def device_text(value: Expr) -> str:
    """The CUDA device, else the NPU, that an expression may name; empty if it names none."""
    if value.is_literal:
        return value.text if value.text[:4] in _BEGINNINGS and DEVICE.match(value.text) else ""
    if value.written:  # most values that are no literals
        return ""
    if value.is_display or value.is_dict:
        texts = list(map(device_text, value.items or [entry for _, entry in value.entries]))
    elif value.operator in _COMPOSING or (value.call is not None and value.call.last in _TEXT_CALLS):
        named = any(map(_COMPOSED.match, leaves(value, False, True)))
        texts = [text for text in leaves(value) if _COMPOSED.match(text)] if named else []
    else:
        return ""
    return next((text for text in texts if text.startswith("cuda")), "") or next(filter(None, texts), "")


def may_say_device(value: Value, code: Code, depth: int = 4) -> bool:
    """Whether an expression, or an argument of a call in it, has a text that begins as a device does: without one it
    names none. Asks nothing of the project, unlike `device_text`."""
    queue = [value]
    for part in queue:
        kind = part.__class__
        if kind is Ref:  # most values
            continue
        if kind is Const:
            if part.value.__class__ is str and part.value.startswith(_DEVICES):  # type: ignore[union-attr]
                return True
        elif isinstance(part, CallResult):
            call = code.calls[part.call] if depth else None
            if call is not None and any(may_say_device(inner, code, depth - 1) for inner in (call.callee, *call.args)):
                return True
        else:
            queue += parts_of(part)
    return False


def is_device_name(name: str) -> bool:
    """Whether a name (``self.device``, ``map_location``) is customary for a device."""
    return _NAME.search(name) is not None


@walker(depth=7, otherwise=bool)
def asks_cuda(value: Expr) -> bool:
    """Whether a condition depends on ``torch.cuda.is_available()``, also through names."""
    call = value.call
    if call is not None:
        return call.name in AVAILABLE or any(asks_cuda(value.sibling(argument)) for argument in call.record.args)
    if value.written:
        return any(asks_cuda(assignment.value) for assignment in value.assignments[:4])
    return any(map(asks_cuda, value.operands()))


# Devices that somebody chooses: defaults of parameters and options for CUDA that need not happen on an NPU server.

_NPU = lazy_compile(r"^npu\b")
_COMPARING = ("==", "!=", "in", "not in")
_KIND = lazy_compile(r"[._](?:type|name|str)$")


@once
def npu_choices(context: Context) -> frozenset[str]:
    """The customary names of devices (see `choice_of`) that the project compares with the NPU: it is one of their
    values."""
    modules = (module for module in module_scopes(context) if module.module.code.npu and not is_test_file(module.path))
    return frozenset(choice_of(name) for module in modules for _, name in _compared_with_npu(module))


def choice_of(name: str) -> str:
    """The last segment of a name for a device without what says that it is only its kind: ``device`` of
    ``args.device``, ``device.type`` and ``device_type``."""
    return _KIND.sub("", name).rpartition(".")[2].lower()


@once_per_file
def _compared_with_npu(module: Scope) -> frozenset[tuple[int, str]]:
    """The customary names of devices that a file compares with the NPU, each with the block of the function around."""
    subjects = (
        (operation.scope, name) for operation in operations(module, *_COMPARING) for name in _subjects(operation)
    )
    return frozenset((scope.routine.block, name) for scope, name in subjects if is_device_name(_KIND.sub("", name)))


def _subjects(comparison: Expr) -> Iterator[str]:
    """The names that a comparison compares with a text for the NPU."""
    left, right = comparison.operands()
    for subject, other in ((left, right), (right, left)):
        if subject.written and any(_NPU.search(expr.text) for expr in (*other.items, other)):
            yield subject.written


@once_per_file
def computed_defaults(module: Scope) -> dict[int, tuple[Scope, str]]:
    """The functions and parameters of a file whose defaults are the results of calls (``device=torch.device("cuda")``),
    by the number of the call."""
    return {
        value.value.call: (function, name)
        for function in module.blocks_of("function")
        for name, value in function.defaults
        if isinstance(value.value, CallResult)
    }


def leaving_out(function: Scope, parameter: str) -> list[CallSite] | None:
    """The project's calls that use the default of a parameter, apart from those of tests: none also if nothing calls a
    function of that name, or the function itself compares the parameter with the NPU. None if the calls are unknown."""
    compared = _compared_with_npu(function)
    if any(block == function.block and _KIND.sub("", name) == parameter for block, name in compared):
        return []
    passed = [(call, value) for call, value in function.passed(parameter) if not is_test_file(call.path)]
    if passed:
        return [call for call, value in passed if value is None and not call.starred]
    owner = function.owner
    name = owner.last_name if owner is not None and function.last_name == "__init__" else function.last_name
    modules = (module for module in module_scopes(function.context) if not is_test_file(module.path))
    return None if any(module.module.calls_of(name) for module in modules) else []
