"""Optimizers of PyTorch: stock ones, the NPU's fused ones of torch_npu and apex, and what is done with them."""

from __future__ import annotations

from npulint.assemble.context import Context
from npulint.assemble.cursors import CallSite, Expr, call_at, scope_at
from npulint.assemble.flow import Site, argument
from npulint.assemble.guards import is_main
from npulint.assemble.module import Module
from npulint.assemble.recognizers.torch.execution_order import exclusive
from npulint.assemble.recognizers.torch.optimizer_classes import (
    FUSED,
    PARAMETERS,
    counterpart,
    families,
    family,
    last_of,
    may_be,
    spelling,
)
from npulint.assemble.recognizers.torch.optimizer_names import named, subclasses
from npulint.assemble.recognizers.torch.receiver_types import INITIALIZE, is_model, makers
from npulint.facts.calls import receiver_of as receiver
from npulint.facts.code import Call, CallResult, Const, Ref, Value
from npulint.facts.model import Fact
from npulint.lazy_regex import lazy_compile
from npulint.suggest import closest_match

_HINTS = frozenset(("foreach", "fused"))  # how a stock optimizer launches its kernels
_DROPPABLE = frozenset(("maximize", "capturable", "differentiable"))
_USES = frozenset(
    "zero_grad add_param_group step clip_grad_norm_fused_ clip_optimizer_grad_norm_fused "
    "clip_optimizer_grad_norm_fused_".split()
)
_NO_OPTIMIZER = lazy_compile(r"sched|warmup|profiler?\(?\)?\.step|prof\.step|env\.step")


def matches(name: str) -> bool:
    """Constructors of optimizers, and methods of those that the fused classes change."""
    last = name.rpartition(".")[2]
    if last in _USES:
        return _NO_OPTIMIZER.search(name) is None
    return name == "functools.partial" or may_be(name)


def facts_for_call(context: Context, module: Module, index: int, name: str) -> list[Fact]:
    """``optimizer`` and ``optimizer_use`` facts."""
    last = name.rpartition(".")[2]
    if last in _USES and family(context, name) is None:
        return _use(context, module, index, last)
    if name == "functools.partial":
        return _partial(context, module, index)
    kind = family(context, name)
    if kind is None or _through_partial(context, module, index) or _tried(context, module, index):
        return []
    return [_optimizer(context, module, index, name, kind)]


def facts_for_module(context: Context, module: Module) -> list[Fact]:
    """Optimizer classes that are handed on instead of called: in a table, as an argument, as a base class; gradients
    that are replaced by an assignment."""
    return [*named(context, module), *subclasses(context, module), *_replaced_gradients(context, module)]


def _replaced_gradients(context: Context, module: Module) -> list[Fact]:
    """``p.grad = None``: what a fused optimizer has combined is another tensor then."""
    known = {"family": "unknown", "closure": "no", "model": "no"}
    return [
        context.bind_fact("optimizer_use", "grad", module, bind, **known)
        for target, binds in module.dotted.items()
        if target.endswith((".grad", ".grad.data")) and not target.startswith("self.grad")
        for bind in binds
    ]


def _optimizer(context: Context, module: Module, index: int, name: str, kind: str) -> Fact:
    call = module.code.calls[index]
    fused = counterpart(name)
    return context.call_fact(
        "optimizer",
        name,
        module,
        index,
        what="torch",
        family=kind,
        fused=fused,
        via="call",
        spelling=lambda: spelling(name),
        nearest=lambda: closest_match(last_of(name), PARAMETERS),
        extra=lambda: _extra(context, module, call, fused, kind),
        amp=lambda: _amp(context, module, index),
        scaler=lambda: "yes" if (module.path, index) in _scaled(context) else "no",
        called=lambda: _called(module, call, last_of(name)),
        replaced=lambda: _replaced(context, module, call),
        in_test=lambda: _in_test(context, module, call.block),
    )


def _called(module: Module, call: Call, last: str) -> str:
    """How the class is named where it is called: dotted, imported (by the name that an import gives it) or indirect."""
    written = call.callee.name if isinstance(call.callee, Ref) else ""
    if "." in written:
        return "dotted" if written.rpartition(".")[2] == last else "indirect"
    own = any(i.alias == written and i.name == last for i in module.code.imports)
    known = own and written not in module.shadowed
    return "imported" if known else "indirect"


def _in_test(context: Context, module: Module, block: int) -> str | None:
    """Also what a module makes only to try itself is for a test."""
    return "yes" if context.guards.is_trial(module, block) else context.around(module, block).get("in_test")


def _extra(context: Context, module: Module, call: Call, fused: str, kind: str) -> str:
    """The keywords that the fused class does not take; of a stock optimizer those that say something."""
    if fused not in PARAMETERS:
        return ""
    known = PARAMETERS[fused].split()
    found = []
    for key, value in call.keywords:
        if key == "**" or key in known:
            continue
        stock = kind not in ("npu", "apex_npu")
        if stock and (key in _HINTS or (key in _DROPPABLE and not _says_something(context, module, call, value))):
            continue
        found.append(key)
    return ", ".join(found)


def _says_something(context: Context, module: Module, call: Call, value: Value) -> bool:
    known = context.known(module, value, call)
    return not (known.exact and known.values and not any(known.values))


def _amp(context: Context, module: Module, index: int) -> str:
    """Whether apex's amp.initialize is given this optimizer; unknown where its class is one choice of several."""
    written = module.callee_name(index)
    if written != last_of(context.names.of_call(module, index)) and all(
        i.alias != written for i in module.code.imports
    ):
        return "unknown"
    given = context.memoize("given to amp", lambda: _given_to_amp(context))
    return "yes" if (module.path, index) in given else "unknown" if given and None in given else "no"


def _given_to_amp(context: Context) -> set[tuple[str, int] | None]:
    """The constructors of the optimizers that amp.initialize gets; None among them when one is not known."""
    found: set[tuple[str, int] | None] = set()
    for module in context.project.modules.values():
        for index in module.calls_of("initialize"):
            if context.names.of_call(module, index) != INITIALIZE:
                continue
            call = module.code.calls[index]
            value = argument(call, "optimizers", 1)
            if value is not None:
                made = _sites(makers(call_at(context, module, index).expr(value)))
                found.update(
                    (home.path, at)
                    for home, at in made
                    if home is not module
                    or not exclusive(call_at(context, module, at).scope, scope_at(context, module, call.block))
                )
                if not any(family(context, context.names.of_call(home, at)) for home, at in made):
                    found.add(None)
    return found


def _scaled(context: Context) -> set[tuple[str, int]]:
    """The constructors of the optimizers that a GradScaler steps."""

    def work() -> set[tuple[str, int]]:
        found: set[tuple[str, int]] = set()
        for module in context.project.modules.values():
            for index in module.calls_of("step"):
                call = module.code.calls[index]
                if call.args and "scaler" in context.names.of_call(module, index).lower():
                    made = _sites(makers(call_at(context, module, index).args[0]))
                    found.update((home.path, at) for home, at in made)
        return found

    return context.memoize("stepped by a scaler", work)


def _replaced(context: Context, module: Module, call: Call) -> str:
    """Whether a fused optimizer stands in another branch of the same function: this one is the alternative."""
    function = module.function_of(call.block)
    inner = module.ancestors(call.block)
    if not any(module.blocks[b].kind in ("if", "else", "except", "try") for b in inner if b > function):
        return "no"
    for index in module.calls_in.get(function, ()):
        name = context.names.of_call(module, index)
        if FUSED.match(name) or (":" in name and "NpuFused" in name):
            return "yes"
    return "no"


def _partial(context: Context, module: Module, index: int) -> list[Fact]:
    call = module.code.calls[index]
    name = context.names.of_value(module, call.args[0], call.block, call.line) if call.args else "?"
    kind = family(context, name)
    return [_optimizer(context, module, index, name, kind)] if kind is not None else []


def _tried(context: Context, module: Module, index: int) -> bool:
    """Whether an optimizer is made where a module of the project tries its own classes when it is started."""
    around = (module.blocks[b] for b in module.ancestors(module.code.calls[index].block))
    return any(record.kind == "if" and is_main(record.test) for record in around) and context.guards.tests_itself(
        module
    )


def _through_partial(context: Context, module: Module, index: int) -> bool:
    """Whether what is called is a ``functools.partial``, which is reported itself."""
    call = module.code.calls[index]
    known = isinstance(call.callee, Ref | CallResult)
    sites = context.flow.sites(module, call.callee, call.block, call.line) if known else []
    return any(context.names.of_call(home, at) == "functools.partial" for home, at in sites)


# -- uses -------------------------------------------------------------------------------------------


def _use(context: Context, module: Module, index: int, last: str) -> list[Fact]:
    call = module.code.calls[index]
    return [
        context.call_fact(
            "optimizer_use",
            last,
            module,
            index,
            family=lambda: _family_of(context, module, receiver(call), call),
            closure=lambda: _closure(context, module, call) if last == "step" else "no",
            model=lambda: "yes" if is_model(call_at(context, module, index).receiver) else "no",
        )
    ]


def _family_of(context: Context, module: Module, value: Value | None, call: Call) -> str:
    """The family of the optimizer that a method is called on; mixed when there are several."""
    if value is None or not _has_fused(context):
        return "unknown"
    return families(context, _sites(makers(Expr(value, scope_at(context, module, call.block), call.line))))


def _sites(calls: list[CallSite]) -> list[Site]:
    return [(call.module, call.index) for call in calls]


def _has_fused(context: Context) -> bool:
    """Whether the project names any fused optimizer of the NPU."""

    def work() -> bool:
        return any(
            "NpuFused" in name
            for module in context.project.modules.values()
            for name in (*(i.name for i in module.code.imports), *(m.name for m in module.code.name_uses))
        ) or any(
            "NpuFused" in module.callee_name(index)
            for module in context.project.modules.values()
            for index in range(len(module.code.calls))
        )

    return context.memoize("fused optimizers", work)


def _closure(context: Context, module: Module, call: Call) -> str:
    value = argument(call, "closure", 0)
    if value is None or isinstance(value, Const):
        return "no"
    if context.flow.functions(module, value, call.block, call.line):
        return "yes"
    named = isinstance(value, Ref) and "closure" in value.name
    return "unknown" if named or argument(call, "closure", -1) is not None else "no"
