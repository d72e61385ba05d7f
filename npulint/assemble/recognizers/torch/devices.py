"""Device use: every place where code uses CUDA, as ``cuda`` facts; texts, tests and order in modules beside this."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from npulint.assemble.context import Context
from npulint.assemble.module import Module
from npulint.assemble.recognizers.torch import device_moves, device_order, device_strings, device_tests
from npulint.assemble.recognizers.torch import device_names as known
from npulint.facts.code import Call, Op, Ref
from npulint.facts.model import Fact, Span
from npulint.lazy_regex import lazy_compile

_FOREIGN = ("numba.", "cupy.", "cupyx.", "pycuda.", "jax.", "tensorflow.", "mxnet.", "paddle.", "mindspore.", "taichi.")
_FLAGS = ("torch.backends.cudnn", "torch.backends.cuda")
_FLAG_NAMES = frozenset(
    "benchmark enabled deterministic allow_tf32 fastest benchmark_limit verbose allow_fp16_reduced_precision_reduction "
    "allow_bf16_reduced_precision_reduction max_size".split()
)
_VERSION = "torch.version.cuda"
_METHODS = frozenset(("torch.Tensor.cuda", "torch.nn.Module.cuda"))
_STORAGE = lazy_compile(r"[sS]torage\w*(?:\(\))?\.cuda$")
_PARSERS = frozenset(("float", "int", "LooseVersion", "StrictVersion", "Version", "parse", "parse_version"))


def matches(name: str) -> bool:
    """Members of torch.cuda and of the cuDNN flags, ``.cuda()`` of anything, the NPU's capability."""
    if name.endswith(".cuda"):
        return not name.startswith(_FOREIGN)
    return name.startswith((known.CUDA, *_FLAGS, _VERSION)) or name in known.CAPABILITY


def facts_for_call(context: Context, module: Module, index: int, name: str) -> list[Fact]:
    """A ``cuda`` fact for a call that needs a CUDA device or asks for one."""
    return _with_place(context, module, _of_call(context, module, index, name))


def _with_place(context: Context, module: Module, facts: list[Fact]) -> list[Fact]:
    """The facts, each told whether its file is a script to start, and texts whether something guards them."""
    for fact in facts:
        if fact.kind == "cuda":
            fact.attrs["script"] = partial(known.script, context, module)
            fact.attrs["move"] = partial(device_moves.move, context, module, fact)
            fact.attrs["torch"] = partial(device_moves.imports_torch, module)
            if fact.attrs.get("form") == "text" and fact.around is not None:
                place = (fact.around.block, fact.span.line, fact.span.column)
                fact.attrs.setdefault("guarded", partial(_guarded, module, *place))
    return facts


def _of_call(context: Context, module: Module, index: int, name: str) -> list[Fact]:
    call = module.code.calls[index]
    if name.endswith(".cuda"):
        return [] if context.names.function(name) else [_method(context, module, index, name)]
    if name.startswith(_VERSION):
        use = "read" if _never_called(context, module, call.block) else "parsed"
        breaks = "yes" if use == "parsed" else "no"
        return [context.call_fact("cuda", _VERSION, module, index, form="version", use=use, breaks=breaks)]
    if name in known.CAPABILITY:
        return device_tests.capability(context, module, index, name)
    if name.startswith(_FLAGS):
        return [context.call_fact("cuda", name, module, index, form="flag", breaks="no")]
    if "(" in name:
        return []
    chosen = _of_choice(context, module, call)
    guarded = "yes" if chosen else _guarded(module, call.block, call.line, call.column)
    return [context.call_fact("cuda", name, module, index, **_member(context, module, call.block, name, guarded))]


def facts_for_module(context: Context, module: Module) -> list[Fact]:
    """``cuda`` facts that are no calls of a known name, ``early_binding`` and ``late_move`` facts."""
    found = [
        *device_strings.texts(context, module),
        *device_tests.tests(context, module),
        *_mentions(context, module),
        *_flags(context, module),
    ]
    return [
        *_with_place(context, module, found),
        *device_order.early_bindings(context, module),
        *device_order.late_moves(context, module),
    ]


def _never_called(context: Context, module: Module, block: int) -> bool:
    """Whether code stands in a function of a module that nobody in the project calls or names."""
    function = module.function_of(block)
    if function < 0 or module.class_of(block) >= 0 or context.flow.callers(module, function):
        return False
    name = module.blocks[function].name
    return not any(
        m.name.rpartition(".")[2] == name for home in context.project.modules.values() for m in home.code.name_uses
    )


def _method(context: Context, module: Module, index: int, name: str) -> Fact:
    call = module.code.calls[index]
    receiver = partial(_receiver, context, module, name)
    fact = context.call_fact(
        "cuda",
        "cuda",
        module,
        index,
        form="method",
        covered="no" if _STORAGE.search(name) else "yes",
        breaks="yes",
        counterpart="npu",
        receiver=receiver,
        holder=name.removesuffix(".cuda"),
        guarded=_guarded(module, call.block, call.line, call.column),
        ported=partial(known.ported, context, module),
    )
    return fact if call.end_line == call.line or call.args else device_strings.at_end(fact, len(".cuda()"))


def _receiver(context: Context, module: Module, name: str) -> str:
    """What ``.cuda()`` is called on: module, tensor, storage or unknown."""
    holder = name.removesuffix(".cuda")
    if _STORAGE.search(name):
        return "storage"
    if holder.startswith("torch.nn.") or (":" in holder and not holder.startswith("?")):
        return "module"
    return "tensor" if holder.startswith("torch.") else "unknown"


def _member(context: Context, module: Module, block: int, name: str, guarded: str) -> dict[str, object]:
    """The attributes of the use of a member of torch.cuda."""
    attrs: dict[str, object] = {
        "counterpart": known.counterpart(name),
        "covered": known.covered(name),
        "breaks": known.breaks(name),
        "group": known.group(name),
        "guarded": guarded,
        "ported": partial(known.ported, context, module),
    }
    if name in known.AVAILABLE:
        attrs["form"] = "available"
    elif known.TENSOR_TYPE.match(name):
        attrs["form"] = "type"
        attrs["covered"] = "no" if "Double" in name else "yes"
    else:
        attrs["form"] = "api"
    return attrs


def _guarded(module: Module, block: int, line: int, column: int) -> str:
    """Whether code is tried, is what a conditional expression gives on CUDA, or is an own ``cuda`` method."""
    tried = any(module.blocks[b].kind in ("try", "except") for b in module.ancestors(block))
    if tried or module.qualname(block).rpartition(".")[2] == "cuda":
        return "yes"
    here = (line, column)
    chosen = (n for n in module.code.torch_expressions if n.kind == "choice")
    return "yes" if any((n.line, n.column) <= here < (n.end_line, n.end_column) for n in chosen) else "no"


def _of_choice(context: Context, module: Module, call: Call) -> bool:
    """Whether the name that is called stands for one of several: ``kind = torch.cuda.X if cuda else torch.X``."""
    name = call.callee.name if isinstance(call.callee, Ref) else ""
    binds = context.flow.bindings(module, name, call.block, call.line) if name and "." not in name else []
    return any(isinstance(bind.value, Op) and bind.value.op in ("if", "or") for _, bind in binds)


def _mentions(context: Context, module: Module) -> Iterator[Fact]:
    """Members of torch.cuda and ``Tensor.cuda`` that are handed on or kept instead of called."""
    parsed: set[tuple[int, int]] = set()
    for record in module.code.name_uses:
        name = module.plain.get(record.name) or context.names.of_name(module, record.name, record.block, record.line)
        if not name.startswith("torch.") or "(" in name or name in (known.CUDA[:-1], *_FLAGS):
            continue
        if name == _VERSION:
            parsed = parsed or _parsed(module, record.name)
            use = "parsed" if (record.line, record.block) in parsed else "read"
            attrs: dict[str, object] = {"form": "version", "use": use, "breaks": "yes" if use == "parsed" else "no"}
        elif name in _METHODS:
            attrs = {"form": "method", "covered": "yes", "breaks": "yes", "counterpart": "npu", "receiver": "tensor"}
            attrs["guarded"] = _guarded(module, record.block, record.line, record.column)
        elif name.startswith(known.CUDA) and _is_member(name):
            guarded = _guarded(module, record.block, record.line, record.column)
            attrs = {**_member(context, module, record.block, name, guarded), "breaks": "no", "mentioned": "yes"}
        else:
            continue
        span = Span(record.line, record.column, record.line, record.end_column)
        yield Fact("cuda", name, module.path, span, attrs, None, context.around(module, record.block))


def _is_member(name: str) -> bool:
    """Whether a name is more than a module of torch.cuda."""
    return name.removeprefix(known.CUDA) not in ("amp", "comm", "nccl", "nvtx", "random", "profiler", "streams")


def _parsed(module: Module, written: str) -> set[tuple[int, int]]:
    """The lines and blocks where ``torch.version.cuda`` is handed to something that takes a version apart."""
    return {
        (call.line, call.block)
        for index, call in enumerate(module.code.calls)
        if module.callee_name(index) in _PARSERS and Ref(written) in call.args
    }


def _flags(context: Context, module: Module) -> Iterator[Fact]:
    """``torch.backends.cudnn.benchmark = True`` and its like."""
    for target, binds in module.dotted.items():
        root, _, last = target.rpartition(".")
        if last in _FLAG_NAMES and root:
            for bind in binds:
                name = context.names.of_name(module, target, bind.block, bind.line)
                if name.startswith(_FLAGS):
                    yield context.bind_fact("cuda", name, module, bind, form="flag", breaks="no")
