"""Code that runs while a graph is captured, and cannot be captured."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Literal

import msgspec

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.kinds import fact_kind
from npulint.model.running.code_facts import PlaceFact
from npulint.model.running.code_places import expressions
from npulint.model.values.context import Context, once
from npulint.model.values.cursors import CallSite, Expr, Scope, module_scopes
from npulint.recognizers.registry import recognizes_in_modules
from npulint.recognizers.torch.fused_calls import ROOTS
from npulint.recognizers.torch.host_made import is_made_on_host
from npulint.recognizers.torch.tensors import is_host_tensor, is_mask, on_host

Hindrance = Literal["read", "wait", "shape", "copy", "operator"]
_CAPTURES = frozenset(("torch.npu.graph", "torch.cuda.graph"))
_BEGINS = frozenset(f"{graph}().capture_begin" for graph in ("torch.npu.NPUGraph", "torch.cuda.CUDAGraph"))
_GRAPHED = frozenset(("torch.npu.make_graphed_callables", "torch.cuda.make_graphed_callables"))
_ITSELF = frozenset("npu cuda to cpu eval train half float bfloat16 requires_grad_".split())
_BACKENDS = frozenset(("npugraphs", "npugraph_ex"))
_MODES = frozenset(("reduce-overhead",))
_KEPT_IN_GRAPHS = ("capture_scalar_outputs", "capture_dynamic_output_shape_ops")
_READS = frozenset(("item", "tolist", "cpu"))
_NUMBERS = frozenset(("bool", "int", "float", "print"))
_WAITS = frozenset(("torch.npu.synchronize", "torch.cuda.synchronize"))
_WAITING = lazy_compile(r"(?i)(?:stream|event)\w*(?:\(\))?\.synchronize$")
_SHAPES = frozenset(("nonzero", "masked_select", "argwhere", "unique", "unique_consecutive"))
_MOVES = frozenset(("npu", "cuda", "to"))
_FROM_HOST = frozenset(("torch.tensor", "torch.as_tensor"))
_UNCAPTURED = frozenset(("npu_fusion_attention", "npu_fusion_attention_v2"))
_MODULE = lazy_compile(r"(?:^|[._])(?:\w*model|net|module)$")
_BRANCHES = frozenset(("if", "else", "except", "while"))
_DEPTH = 3  # functions that the captured code calls, and those that these call


@fact_kind("uncapturable")
class UncapturableCode(PlaceFact):
    """Code that certainly runs while a graph is captured (``with torch.npu.graph(g):``, between ``g.capture_begin()``
    and ``g.capture_end()``, called by ``make_graphed_callables``, or compiled with ``fullgraph=True`` for such graphs)
    and cannot be captured. The name is what it does: read (a value on the host), wait (for the device), shape (one
    that depends on data), copy (of new values from the host) or operator (one that graphs cannot contain)."""

    written: str
    """What is called, as written."""


@recognizes_in_modules
def uncapturable_code(module: Scope) -> Iterator[UncapturableCode]:
    """What hinders a capture in the captured code of a file."""
    regions = [region for region in _captured(module.context) if region.scope.module is module.module]
    for region in regions:
        for call in module.all_calls:
            what = _hindrance(call) if _surely_runs(call.scope, call.line, region) else None
            if region.compiled and not _breaks(call, what):
                continue
            if what is not None:
                yield UncapturableCode(call.scope, call.span, what, call.written or call.last)
        for place in expressions(module, "mask"):
            subscript = place.expression.subscript
            surely = subscript is not None and _surely_runs(place.scope, place.span.line, region)
            if subscript is not None and surely and _selects(*subscript):
                yield UncapturableCode(place.scope, place.span, "shape", subscript[0].written or "[]")


# -- what is captured --------------------------------------------------------------------------------


class _Region(msgspec.Struct, frozen=True):
    """Captured code: a block, or its lines between `begin` and `end`."""

    scope: Scope
    begin: int = 0
    end: int = sys.maxsize
    compiled: bool = False
    """By torch.compile, as one graph."""


@once
def _captured(context: Context) -> tuple[_Region, ...]:
    """The code that captures a graph, and the project's functions that it surely calls."""
    modules = module_scopes(context)
    regions = [region for module in modules for region in _capturing(module)]
    if not any(module.assignments_to(*_KEPT_IN_GRAPHS) for module in modules):
        regions += [region for module in modules for region in _compiled(module)]
    captured = dict.fromkeys(regions)
    reached = regions
    for _ in range(_DEPTH):
        called = (_Region(target, compiled=region.compiled) for region in reached for target in _called_in(region))
        reached = [region for region in dict.fromkeys(called) if region not in captured]
        captured |= dict.fromkeys(reached)
    return tuple(captured)


def _capturing(module: Scope) -> Iterator[_Region]:
    """The code of a file that captures a graph, and the functions that it passes for that."""
    if module.calls_named("graph"):
        blocks = ((scope, scope.test.call) for scope in module.blocks_of("with"))
        yield from (_Region(scope) for scope, made in blocks if made is not None and made.name in _CAPTURES)
    ends = module.calls_named("capture_end")
    for begin in module.calls_named("capture_begin") if ends else ():
        after = (
            end_call.line
            for end_call in ends
            if end_call.scope == begin.scope and end_call.line > begin.line and _same(end_call, begin)
        )
        end = min(after, default=0)
        if end and begin.name in _BEGINS:
            yield _Region(begin.scope, begin.line, end)
    for call in module.calls_named("make_graphed_callables"):
        passed = call.argument("callables", 0) if call.name in _GRAPHED else None
        targets = (_run_by(expr) for expr in passed.items or [passed]) if passed is not None else ()
        yield from (_Region(target) for target in targets if target is not None)


def _compiled(module: Scope) -> Iterator[_Region]:
    """The functions that a file compiles for graphs of the NPU, without permission to break them."""
    calls = [call for call in module.calls_named("compile") if call.name == "torch.compile" and _is_one_graph(call)]
    passed = (call.argument("model", 0) for call in calls)
    targets = [None if expr is None else _run_by(expr) for expr in passed]
    if calls:
        targets += [scope for scope in module.blocks_of("function") if any(d.call in calls for d in scope.decorators)]
    yield from (_Region(target, compiled=True) for target in targets if target is not None)


def _is_one_graph(call: CallSite) -> bool:
    """Whether a call of torch.compile demands a single graph, which is then captured on the NPU."""
    expr, backend, mode = (call.argument(name) for name in ("fullgraph", "backend", "mode"))
    made = () if backend is None else (site.last for site in backend.sites)
    captured = backend is not None and (backend.single in _BACKENDS or "get_npu_backend" in made)
    captured = captured or (mode is not None and mode.single in _MODES)
    return captured and expr is not None and expr.single is True


def _same(call: CallSite, other: CallSite) -> bool:
    """Whether two methods are called on the same object, as written."""
    return call.written.rpartition(".")[0] == other.written.rpartition(".")[0] != ""


def _run_by(called: Expr) -> Scope | None:
    """The project's function that runs when a value is called, if it is only one: of a module its ``forward``."""
    classes = dict.fromkeys(_classes(called, _DEPTH))
    functions: list[Scope | None] = [*called.functions] or [
        None if owner is None else owner.definition("forward") for owner in classes
    ]
    scope = functions[0] if len(functions) == 1 else None
    return scope if scope is not None and scope.kind == "function" else None


def _classes(value: Expr, depth: int) -> Iterator[Scope | None]:
    """The project's classes whose instance a value may be; None for what else it may be."""
    for made in value.sites if depth else ():
        if made.last in _ITSELF and made.receiver is not None:
            yield from _classes(made.receiver, depth - 1)
        else:
            yield made.target


def _called_in(region: _Region) -> list[Scope]:
    """The project's functions that a region surely calls."""
    calls = (call for call in region.scope.routine.calls if _surely_runs(call.scope, call.line, region))
    targets = (_target(call) for call in calls)
    return [target for target in targets if target is not None and target.kind == "function"]


def _target(call: CallSite) -> Scope | None:
    """The project's function that a call runs: of a class its ``__init__``, of a module its ``forward``."""
    scope = call.target
    return _run_by(call.callee) if scope is None or call.name.endswith("()") else scope.called_block


def _surely_runs(scope: Scope, line: int, region: _Region) -> bool:
    """Whether a line of a block runs whenever a region does: it lies in it, under no condition."""
    if not region.begin < line < region.end:
        return False
    for around in scope.ancestors:
        if around == region.scope:
            return True
        if around.kind in _BRANCHES or around.kind in ("function", "lambda", "class"):
            return False
    return False


# -- what cannot be captured -------------------------------------------------------------------------


def _hindrance(call: CallSite) -> Hindrance | None:
    """Why a call cannot be captured; None if it may be."""
    name, last = call.name, call.last
    if name in _WAITS or _WAITING.search(call.written):
        return "wait"
    if name.startswith(ROOTS) and last in _UNCAPTURED:
        return "operator"
    if last in _SHAPES and (name.startswith("torch.") or call.receiver is not None):
        return "shape" if not _is_host(call) else None
    if name == "torch.where" and len(call.arguments) == 1:
        return "shape"
    if last in _READS and call.receiver is not None and not call.record.args:
        return "read" if not _is_host(call) and not _MODULE.search(call.receiver.written) else None
    if name in _NUMBERS:
        return "read" if any(_is_made_here(value) for value in call.args) else None
    return "copy" if _copies(call) else None


def _breaks(call: CallSite, what: Hindrance | None) -> bool:
    """Whether a hindrance also ends a graph of torch.compile, which moves copies and operators into it."""
    return what == "shape" or (what == "read" and call.last not in ("cpu", "print"))


def _is_host(call: CallSite) -> bool:
    """Whether a call works on a value of the host."""
    is_function = call.name.startswith("torch.") and "()" not in call.name
    value = call.receiver if not is_function else call.args[0] if call.args else None
    return value is None or on_host(value) or is_host_tensor(value)


def _is_made_here(value: Expr) -> bool:
    """Whether a value is the result of a network, or computed from one, in the captured block itself."""
    if value.call is not None:
        return value.call.receiver is not None and _is_made_here(value.call.receiver)
    operands = value.operands("<", "<=", ">", ">=", "+", "-", "*", "/")
    if operands:
        return any(map(_is_made_here, operands))
    if not value.written or "." in value.written:
        return False
    made = [assignment.value.call for assignment in value.assignments if assignment.scope == value.scope]
    return bool(made) and all(call is not None and _is_network(call) for call in made)


def _is_network(call: CallSite) -> bool:
    """Whether a call is one of a module."""
    return call.name.startswith("torch.nn.") or _MODULE.search(call.written) is not None


def _copies(call: CallSite) -> bool:
    """Whether a call makes a tensor on the host and copies it to the device."""
    if call.last in _MOVES and call.receiver is not None:
        return is_made_on_host(call.receiver)
    device = call.argument("device") if call.name in _FROM_HOST else None
    return device is not None and device.single != "cpu"


def _selects(holder: Expr, key: Expr) -> bool:
    """Whether a subscript reads elements by a boolean mask on the device."""
    return is_mask(key) and not on_host(holder)


__all__ = ["UncapturableCode", "uncapturable_code"]
