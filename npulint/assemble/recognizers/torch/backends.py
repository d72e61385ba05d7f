"""The communication backend: every text that a process group may be started with, at the place where it is written."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from npulint.assemble.context import Context
from npulint.assemble.flow import argument
from npulint.assemble.module import Module
from npulint.assemble.recognizers.torch.device_moves import imports_torch
from npulint.facts.code import Assignment, Call, CallResult, Const, Op, Ref, Table, Value
from npulint.facts.model import Fact, Span
from npulint.lazy_regex import lazy_compile

# Callee -> the parameter that takes the backend, and its position.
_STARTS = {
    "torch.distributed.init_process_group": ("backend", 0),
    "torch.distributed.new_group": ("backend", 2),
    "deepspeed.init_distributed": ("dist_backend", 0),
    "mmcv.runner.init_dist": ("backend", 1),
    "mmcv.runner.dist_utils.init_dist": ("backend", 1),
    "mmengine.dist.init_dist": ("backend", 1),
}
_KEYS = ("backend", "dist_backend", "distributed_backend", "ddp_backend")
_KNOWN = lazy_compile(r"^(?:\w+:)?(?:nccl|gloo|hccl|mpi|lccl)(?:,\w+:\w+)*$")
_SETTING = lazy_compile(r"Config|Cfg|Args|Params|[Pp]aram|[Ss]ettings?|Plugin|Strategy")
_DEPTH = 8
_FIRST = ("nccl", "hccl", "gloo")


class Origin(msgspec.Struct, frozen=True):
    """A backend's text as written: where, and in what (`source`)."""

    text: str
    source: str
    module: Module
    block: int
    span: Span


def matches(name: str) -> bool:
    """What starts a process group; what holds settings (``dict(backend="nccl")``)."""
    return name in _STARTS or name == "dict" or (":" in name and bool(_SETTING.search(name)))


def facts_for_call(context: Context, module: Module, index: int, name: str) -> list[Fact]:
    """``backend`` facts."""
    call = module.code.calls[index]
    if name in _STARTS:
        return _of_start(context, module, call, name)
    if not any(key in _KEYS for key, _ in call.keywords):
        return []
    here = Origin("", "config", module, call.block, _span(call))
    given = [value for key, value in call.keywords if key in _KEYS]
    origins = [found for value in given for found in _texts(value, here)]
    return [_fact(context, found, name, "", origins) for found in origins]


def facts_for_module(context: Context, module: Module) -> list[Fact]:
    """None: everything starts from a call."""
    return []


def _of_start(context: Context, module: Module, call: Call, name: str) -> list[Fact]:
    origins = _started(context, module, call, name)
    siblings = [
        origin
        for index in module.calls_of(name.rpartition(".")[2])
        if context.names.of_call(module, index) == name
        for origin in _started(context, module, module.code.calls[index], name)
    ]
    runs = context.around(module, call.block).get("active") or "unknown"
    return [_fact(context, origin, name, runs, [*origins, *siblings]) for origin in origins]


def _started(context: Context, module: Module, call: Call, name: str) -> list[Origin]:
    value = argument(call, *_STARTS[name])
    if value is None:
        return []
    return list(_origins(context, value, Origin("", "literal", module, call.block, _span(call)), call.line, 0))


def _fact(context: Context, origin: Origin, callee: str, runs: str, among: list[Origin]) -> Fact:
    """A fact at the place of one text; `among` are all that this start, or one beside it, may be given."""
    texts = {_family(other.text) for other in among}
    attrs = {
        "text": origin.text,
        "source": origin.source,
        "callee": callee,
        "runs": runs,
        "beside": " ".join(sorted(texts - {_family(origin.text)})),
        "torch": imports_torch(origin.module),
    }
    around = context.around(origin.module, origin.block)
    return Fact("backend", _family(origin.text), origin.module.path, origin.span, dict(attrs), None, around)


def _family(text: str) -> str:
    """``nccl`` also for ``cpu:gloo,cuda:nccl``."""
    lowered = text.lower()
    return next((word for word in _FIRST if word in lowered), lowered)


def _texts(value: Value, here: Origin) -> Iterator[Origin]:
    if isinstance(value, Const) and isinstance(value.value, str) and _KNOWN.match(value.value.lower()):
        yield msgspec.structs.replace(here, text=value.value)


def _origins(context: Context, value: Value, here: Origin, line: int, depth: int) -> Iterator[Origin]:
    """The texts that `value` may be, followed to where they are written."""
    if depth > _DEPTH:
        return
    if isinstance(value, Const):
        yield from _texts(value, here)
    elif isinstance(value, Ref):
        yield from _of_name(context, value, here, line, depth)
    elif isinstance(value, Op) and value.op in ("if", "or"):
        for operand in value.operands[1:] if value.op == "if" else value.operands:
            yield from _origins(context, operand, here, line, depth + 1)
    elif isinstance(value, CallResult):
        yield from _of_result(context, value, here, depth)


def _of_result(context: Context, value: CallResult, here: Origin, depth: int) -> Iterator[Origin]:
    """``os.environ.get("BACKEND", "nccl")``, ``backend.lower()``, and what an own function returns."""
    module, call = here.module, here.module.code.calls[value.call]
    name = context.names.of_call(module, value.call)
    if name in ("os.environ.get", "os.getenv") or module.callee_name(value.call) == "get":
        for inner in call.args[1:2]:
            yield from _origins(context, inner, here, call.line, depth + 1)
    elif module.callee_name(value.call) in ("lower", "strip") and isinstance(call.callee, Ref):
        yield from _origins(context, Ref(call.callee.name.rpartition(".")[0]), here, call.line, depth + 1)
    elif name in ("getattr", "str"):
        for inner in call.args[2:3] if name == "getattr" else call.args[:1]:
            yield from _origins(context, inner, here, call.line, depth + 1)
    else:
        target = context.names.function(name)
        for returned in target[0].returns.get(target[1], ()) if target is not None else ():
            span = Span(returned.line, 1, returned.line, 1)
            there = Origin("", "assigned", target[0], returned.block, span) if target is not None else here
            yield from _origins(context, returned.value, there, returned.line + 1, depth + 1)


def _of_name(context: Context, value: Ref, here: Origin, line: int, depth: int) -> Iterator[Origin]:
    module, name = here.module, value.name
    bound = context.flow.bindings(module, name, here.block, line)
    certain = False
    for home, bind in bound:
        yield from _origins(context, bind.value, _at_bind(home, bind), bind.line, depth + 1)
        certain = certain or (home is module and bind.line < line and bind.block in module.ancestors(here.block))
    if certain:
        return
    options = list(_of_options(context, module, name))
    yield from options
    if not options and not bound:
        yield from _of_parameter(context, name, here, depth)
    if not options and not bound and "." in name:
        yield from _of_config(context, name)


def _of_options(context: Context, module: Module, name: str) -> Iterator[Origin]:
    """The default of a command line option, and what launchers pass for it."""
    holder, _, last = name.rpartition(".")
    found = context.options.table.get(last, []) if holder else []
    for option in [o for o in found if o.module is module] or found:
        place = Origin("", "option", option.module, option.call.block, _span(option.call))
        yield from _origins(context, option.value, place, option.call.line, _DEPTH - 2)
    if found:
        option = found[0]
        place = Origin("", "launcher", option.module, option.call.block, _span(option.call))
        for text in context.options.launched(last, module):
            yield from _texts(Const(text), place)


def _of_parameter(context: Context, name: str, here: Origin, depth: int) -> Iterator[Origin]:
    """What callers pass for a parameter, else its default."""
    module = here.module
    function = module.function_of(here.block)
    while function >= 0 and name not in module.blocks[function].params:
        function = module.function_of(module.blocks[function].parent)
    if function < 0:
        return
    record = module.blocks[function]
    passed = context.flow.passed(module, function, name)
    left_out = any(value is None and not _spreads(home.code.calls[index]) for (home, index), value in passed)
    for (home, index), value in passed:
        if value is not None:
            call = home.code.calls[index]
            place = Origin("", "literal", home, call.block, _span(call))
            yield from _origins(context, value, place, call.line, depth + 1)
    position = record.params.index(name) - (len(record.params) - len(record.defaults))
    if position >= 0 and (left_out or not passed):
        place = Origin(
            "", "parameter" if left_out else "default", module, record.parent, Span(record.line, 1, record.line, 1)
        )
        yield from _origins(context, record.defaults[position], place, record.line, depth + 1)


def _spreads(call: Call) -> bool:
    """Whether a call passes on ``*args`` or ``**kwargs``, which may hold anything."""
    return any(key == "**" for key, _ in call.keywords) or any(isinstance(a, Op) and a.op == "star" for a in call.args)


def _of_config(context: Context, name: str) -> Iterator[Origin]:
    """``cfg.DIST_BACKEND`` of a configuration that the project builds elsewhere."""
    yield from context.memoize("backends set", lambda: _set_somewhere(context)).get(name.rpartition(".")[2], ())


def _set_somewhere(context: Context) -> dict[str, list[Origin]]:
    """Last segment of a name or key -> the backends that the project assigns to it."""
    found: dict[str, list[Origin]] = {}
    for home in context.project.modules.values():
        for bind in home.code.assignments:
            last = bind.target.rpartition(".")[2]
            for key, value in ((last, bind.value), *_pairs(bind.value)):
                if "backend" in key.lower():
                    for origin in _texts(value, _at_bind(home, bind)):
                        found.setdefault(key, []).append(msgspec.structs.replace(origin, source="config"))
    return found


def _pairs(value: Value) -> Iterator[tuple[str, Value]]:
    if isinstance(value, Table):
        for key, inner in zip(value.keys, value.values, strict=True):
            if isinstance(key, Const) and isinstance(key.value, str):
                yield key.value, inner


def _at_bind(home: Module, bind: Assignment) -> Origin:
    span = Span(bind.line, bind.column, bind.end_line, bind.end_column)
    return Origin("", "assigned", home, bind.block, span)


def _span(call: Call) -> Span:
    return Span(call.line, call.column, call.end_line, call.end_column)
