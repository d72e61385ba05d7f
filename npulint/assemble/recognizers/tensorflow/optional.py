"""Whether code is surely run: it is tried, chosen among others, meant for another device, or used by nobody."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from itertools import islice

from npulint.assemble.context import Context
from npulint.assemble.module import Module
from npulint.facts.code import CallResult, Const, Op, Ref, SequenceDisplay, Value
from npulint.lazy_regex import lazy_compile

_TPU = lazy_compile(r"tpu(?!t)", re.IGNORECASE)  # no output
_DEPTH = 8
_CALLERS, _MANY = 2, 40  # callers of callers that are asked, and how many of each
_LISTED = ("_export", "deprecated")  # decorators that make nobody call a function


def is_optional(context: Context, module: Module, index: int) -> bool:
    """Whether a call stands within a ``try``, or in an arm of a conditional expression."""
    block = module.code.calls[index].block
    if any(module.blocks[b].kind == "try" for b in module.ancestors(block)):
        return True
    return index in context.memoize(("chosen", module.path), lambda: _chosen(module))


def is_for_tpu(context: Context, module: Module, block: int, depth: int = 0) -> bool:
    """Whether the file, a function or a class around it, a parameter or a condition of that function, or some caller
    of it says that code is for TPUs."""
    if _TPU.search(module.path):
        return True
    around = [module.blocks[b] for b in module.ancestors(block)]
    if any(_TPU.search(word) for record in around for word in (record.name, *record.params)):
        return True
    function = module.function_of(block)
    beside = [r for b, r in enumerate(module.blocks) if r.kind == "if" and module.function_of(b) == function >= 0]
    conditions = beside + [record for record in around if record.kind in ("if", "else")]
    if any(_TPU.search(word) for record in conditions for word in _words(module, record.test)):
        return True
    name = module.blocks[function].name.rpartition(".")[2] if function >= 0 else ""
    return bool(name) and depth < _CALLERS and _called_for_tpu(context, name, depth + 1)


def _called_for_tpu(context: Context, name: str, depth: int) -> bool:
    """Whether a call of a function of this name stands in code for TPUs."""
    calls = ((module, at) for module in context.project.modules.values() for at in module.calls_of(name))
    return any(is_for_tpu(context, module, module.code.calls[at].block, depth) for module, at in islice(calls, _MANY))


def is_used(context: Context, module: Module, block: int) -> str:
    """No for code of a function or class whose name nothing in the project says."""
    inside = [module.blocks[b] for b in module.ancestors(block) if module.blocks[b].kind in ("function", "class")]
    if not inside:
        return "yes"
    decorators = [d.name for d in map(partial(_callee, module), inside[-1].decorators) if isinstance(d, Ref)]
    if len(decorators) < len(inside[-1].decorators) or not all(name.endswith(_LISTED) for name in decorators):
        return "yes"
    return "yes" if inside[-1].name in context.memoize("named", lambda: _named(context)) else "no"


def _callee(module: Module, value: Value) -> Value:
    """The decorator itself where it is called."""
    return module.code.calls[value.call].callee if isinstance(value, CallResult) else value


def _named(context: Context) -> set[str]:
    """The last segments of all names that are called or mentioned, and the names that are imported."""
    found: set[str] = set()
    for module in context.project.modules.values():
        found.update(module.callee_name(index) for index in range(len(module.code.calls)))
        found.update(record.name.rpartition(".")[2] for record in module.code.name_uses)
        found.update(record.name for record in module.code.imports)
    return found


def _chosen(module: Module) -> set[int]:
    """The calls in the arms of conditional expressions, with those that are among their arguments."""
    code = module.code
    found: set[int] = set()
    for values in (b.value for b in code.assignments), (r.value for r in code.returns):
        for value in values:
            found.update(_arms(value))
    for call in code.calls:
        for value in (*call.args, *(v for _, v in call.keywords)):
            found.update(_arms(value))
    queue = list(found)
    while queue:
        call = code.calls[queue.pop()]
        inner = {r for value in (*call.args, *(v for _, v in call.keywords)) for r in _results(value)} - found
        found |= inner
        queue += inner
    return found


def _arms(value: Value, depth: int = 0) -> Iterator[int]:
    if isinstance(value, Op) and depth < _DEPTH:
        if value.op == "if":
            yield from (index for arm in value.operands[1:] for index in _results(arm))
        else:
            yield from (index for part in value.operands for index in _arms(part, depth + 1))
    elif isinstance(value, SequenceDisplay) and depth < _DEPTH:
        yield from (index for part in value.items for index in _arms(part, depth + 1))


def _results(value: Value, depth: int = 0) -> Iterator[int]:
    if isinstance(value, CallResult):
        yield value.call
    elif isinstance(value, Op | SequenceDisplay) and depth < _DEPTH:
        parts = value.operands if isinstance(value, Op) else value.items
        yield from (index for part in parts for index in _results(part, depth + 1))


def _words(module: Module, value: Value, depth: int = 0) -> Iterator[str]:
    """The names and texts in a condition."""
    if isinstance(value, Ref):
        yield value.name
    elif isinstance(value, Const):
        yield str(value.value)
    elif isinstance(value, CallResult) and depth < _DEPTH:
        call = module.code.calls[value.call]
        for part in (call.callee, *call.args):
            yield from _words(module, part, depth + 1)
    elif isinstance(value, Op | SequenceDisplay) and depth < _DEPTH:
        parts = value.operands if isinstance(value, Op) else value.items
        for part in parts:
            yield from _words(module, part, depth + 1)
