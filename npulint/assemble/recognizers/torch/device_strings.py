"""Device texts: ``"cuda"``, ``f"cuda:{rank}"`` and the like where a device is meant."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from npulint.assemble.context import Context
from npulint.assemble.flow import argument
from npulint.assemble.module import Module
from npulint.assemble.recognizers.torch.device_names import AVAILABLE, TENSOR_TYPE, ported
from npulint.facts.code import Call, CallResult, Const, Function, Op, Ref, SequenceDisplay, Table, Unknown, Value
from npulint.facts.model import Fact, Span
from npulint.facts.values import PossibleValues
from npulint.lazy_regex import lazy_compile

_PLAIN = lazy_compile(r"^(?:cuda|npu)(?::\d+)?$")
_COMPOSED = lazy_compile(r"^(?:cuda|npu)(?::(?! )|\{|%|$)")
_SAYS = lazy_compile(r"cuda|^npu")
_BEGINNINGS = frozenset(("cuda", "npu", "npu:"))
_OTHER_DEVICE = lazy_compile(r"^(?:npu|cpu|mps|xpu)\b")
_NAME = lazy_compile(
    r"(?:^|[._])(?:(?:\w+_)?(?:device|devices|dev|device_type|device_name|device_str)|map_location|maplocation|accelerator|loc)\]?$",
    re.IGNORECASE,
)
_KEYWORDS = ("device", "map_location", "device_type", "device_name", "devices", "accelerator")
_POSITIONS = {
    "torch.device": 0,
    "torch.load": 1,
    "torch.jit.load": 1,
    "torch.set_default_device": 0,
    "torch.autocast": 0,
    "torch.Generator": 0,
    "torch.amp.GradScaler": 0,
    "torch.get_device_module": 0,
    "torch.distributed.init_device_mesh": 0,
    "torch.distributed.device_mesh.init_device_mesh": 0,
}
_TENSOR_METHOD = lazy_compile(r"\.(?:new_\w+|to|to_empty)$")
_MOVES = frozenset(("to", "to_empty"))
_TYPED = frozenset(("type", "set_default_tensor_type"))
_OPTIONS = {
    "add_argument": ("default", -1),
    "DEFINE_string": ("default", 1),
    "DEFINE_enum": ("default", 1),
    "option": ("default", -1),
}
# Where the values stand that an option may have.
_CHOOSING = {
    "add_argument": "default choices",
    "DEFINE_string": "default 1",
    "DEFINE_enum": "default 1 enum_values 2",
    "option": "default type",
}
_FOREIGN = ("numba.", "cupy.", "pycuda.", "jax.", "tensorflow.", "mxnet.", "paddle.", "mindspore.", "chainer.")
_INDEX = lazy_compile(r"^(?:\w+[._])?(?:rank|local_rank|gpu|gpu_id|device_id|dev_id)$", re.IGNORECASE)
_DEPTH = 6
_SILENT = (Ref, Unknown, Function)
_DISPLAYS = (SequenceDisplay, Table)
_COMPOSING = frozenset(("if", "or", "and", "+", "%", "join"))
_TEXT_CALLS = frozenset(("format", "str"))


def texts(context: Context, module: Module) -> list[Fact]:
    """The ``cuda`` facts of the form ``text`` (and of ``type``, ``index``) of a module, and the ``npu`` texts."""
    if not module.code.devices:
        return list(_numbered(context, module))
    found = (*_in_calls(context, module), *_assigned(context, module), *_defaults(context, module))
    return [_named(fact) for fact in (*found, *_returned(context, module))]


def _numbered(context: Context, module: Module) -> Iterator[Fact]:
    """``x.to(0)``: the device texts of a module that names no device."""
    for index in module.calls_of(*_MOVES):
        if module.code.calls[index].args:
            yield from _move(context, module, index, module.code.calls[index])


def _named(fact: Fact) -> Fact:
    """The fact itself, or an ``npu`` fact when its device is the NPU."""
    if fact.attrs["form"] != "text" or fact.name.startswith("cuda"):
        return fact
    return Fact("npu", fact.name, fact.path, fact.span, {"on": fact.attrs["position"]}, fact.args, fact.around)


def leaves(module: Module, value: Value, depth: int = 0) -> list[str]:
    """The device texts that an expression may be, composed ones by their literal beginning."""
    if isinstance(value, Const):
        return [value.value] if isinstance(value.value, str) else []
    if isinstance(value, Ref | Table) or depth > _DEPTH:
        return []
    if isinstance(value, Op):
        if value.op in ("if", "or", "and"):
            parts = value.operands[1:] if value.op == "if" else value.operands
            return [text for operand in parts for text in leaves(module, operand, depth + 1)]
        if value.op in ("+", "%", "join") and value.operands:
            found = leaves(module, value.operands[0], depth + 1)
            return [f"{text}…" if value.op == "+" else text for text in found]
    if isinstance(value, CallResult):
        call = module.code.calls[value.call]
        if isinstance(call.callee, Op) and call.callee.operands[-1] == Const("format"):
            return leaves(module, call.callee.operands[0], depth + 1)
        if call.args and (call.callee == Ref("str") or (depth and module.callee_name(value.call) == "device")):
            return leaves(module, call.args[0], depth + 1)
    return []


def device_text(module: Module, value: Value) -> str:
    """The CUDA device, else the NPU, that an expression may name; empty when it names none."""
    if isinstance(value, Const):
        text = value.value
        return text if isinstance(text, str) and text[:4] in _BEGINNINGS and _PLAIN.match(text) else ""
    if isinstance(value, _DISPLAYS):
        inner = [device_text(module, v) for v in (value.values if isinstance(value, Table) else value.items)]
        return next((t for t in inner if t.startswith("cuda")), "") or next(filter(None, inner), "")
    if isinstance(value, Op):
        composed = value.op in _COMPOSING
    else:
        composed = isinstance(value, CallResult) and module.callee_name(value.call) in _TEXT_CALLS
    if composed:
        found = [text for text in leaves(module, value) if _COMPOSED.match(text)]
        return next((t for t in found if t.startswith("cuda")), "") or next(iter(found), "")
    return ""


def is_device_name(name: str) -> bool:
    """Whether a name (``self.device``, ``map_location``) is customary for a device."""
    return _NAME.search(name) is not None


def asks_cuda(context: Context, module: Module, value: Value, block: int, line: int, depth: int = 0) -> bool:
    """Whether a condition depends on ``torch.cuda.is_available()``, also through names."""
    if depth > _DEPTH:
        return False
    if isinstance(value, CallResult):
        if context.names.of_call(module, value.call) in AVAILABLE:
            return True
        return any(asks_cuda(context, module, v, block, line, depth + 1) for v in module.code.calls[value.call].args)
    if isinstance(value, Op):
        return any(asks_cuda(context, module, v, block, line, depth + 1) for v in value.operands)
    if isinstance(value, Ref):
        return any(
            asks_cuda(context, home, bind.value, bind.block, bind.line, depth + 2)
            for home, bind in context.flow.bindings(module, value.name, block, line)[:4]
        )
    return False


def _attrs(
    context: Context, module: Module, value: Value, block: int, line: int, text: str, position: str, breaks: str
) -> dict[str, object]:
    others = [t for t in leaves(module, value) if _OTHER_DEVICE.match(t)]
    beside_npu = any(t.startswith("npu") for t in others)

    def fallback() -> str:
        chosen = isinstance(value, Op) and value.op in ("if", "and", "or")
        return "yes" if chosen and not beside_npu and asks_cuda(context, module, value, block, line) else "no"

    return {
        "form": "text",
        "value": PossibleValues((text,), True),
        "position": position,
        "breaks": "no" if others else breaks,
        "covered": "yes",
        "counterpart": text.replace("cuda", "npu", 1),
        "beside_npu": "yes" if beside_npu else "no",
        "fallback": fallback,
        "ported": partial(ported, context, module),
    }


def _in_calls(context: Context, module: Module) -> Iterator[Fact]:
    names = context.names.of_calls(module)
    for index, call in enumerate(module.code.calls):
        for key, value in call.keywords:
            if key.endswith(_KEYWORDS) and (text := device_text(module, value)):
                yield from _keyword(context, module, index, value, key, text)
        written = module.callee_name(index)
        if written in _OPTIONS and (call.args or written == "option"):
            yield from _option(context, module, index, written)
        elif not call.args:
            continue
        elif written in _MOVES:
            yield from _move(context, module, index, call)
        elif names[index] in _POSITIONS:
            yield from _placed(context, module, index, names[index])
        else:
            for position, value in enumerate(call.args):
                if value.__class__ is Const and _says(value):
                    yield from _passed(context, module, index, position)


def _keyword(context: Context, module: Module, index: int, value: Value, key: str, text: str) -> Iterator[Fact]:
    name = context.names.of_call(module, index)
    if name.startswith((*_FOREIGN, "torch.cuda.")):
        return
    call = module.code.calls[index]
    makes = name.startswith("torch.") and not name.startswith(("torch.autocast", "torch.amp"))
    sure = "yes" if makes or _TENSOR_METHOD.search(name) else "unknown"
    attrs = _attrs(context, module, value, call.block, call.line, text, f"{key}=", sure)
    attrs["callee"], attrs["within"] = name, key
    fact = context.call_fact("cuda", text, module, index, **attrs)
    last = call.end_line > call.line and call.keywords[-1][1] is value
    yield at_end(fact, len(f'{key}="{text}")')) if last else fact


def at_end(fact: Fact, length: int) -> Fact:
    """The fact at the last `length` characters of its call: there stands the end of a call over several lines."""
    line, column = fact.span.end_line, fact.span.end_column
    span = Span(line, max(1, column - length), line, column)
    return Fact(fact.kind, fact.name, fact.path, span, fact.attrs, fact.args, fact.around)


def _says(value: Value) -> bool:
    """Whether a literal is a text that may name a device."""
    text = value.value if isinstance(value, Const) else None
    return text.__class__ is str and _SAYS.search(str(text)) is not None


def _placed(context: Context, module: Module, index: int, name: str) -> Iterator[Fact]:
    """The argument of a function of PyTorch that is a device."""
    call, at = module.code.calls[index], _POSITIONS[name]
    value = call.args[at] if at < len(call.args) else None
    text = device_text(module, value) if value is not None else ""
    if value is not None and text:
        attrs = _attrs(context, module, value, call.block, call.line, text, name, "yes")
        yield context.call_fact("cuda", text, module, index, **attrs, callee=name, within=str(at))


def _passed(context: Context, module: Module, index: int, position: int) -> Iterator[Fact]:
    """A text that is passed by position: a tensor type, or the device that an own function takes."""
    call = module.code.calls[index]
    value = call.args[position]
    text = str(value.value) if isinstance(value, Const) else ""
    if TENSOR_TYPE.match(text) and module.callee_name(index) in _TYPED:
        typed = {"form": "type", "covered": _type_covered(text), "breaks": "yes", "within": str(position)}
        yield context.call_fact("cuda", text, module, index, **typed)
    elif _PLAIN.match(text):
        name = context.names.of_call(module, index)
        if _takes_device(context, name, position):
            attrs = _attrs(context, module, value, call.block, call.line, text, "argument", "unknown")
            yield context.call_fact("cuda", text, module, index, **attrs, callee=name, within=str(position))


def _type_covered(text: str) -> str:
    return "no" if "Double" in text else "unknown"


def _takes_device(context: Context, name: str, position: int) -> bool:
    """Whether an own function has a device as its parameter at this position."""
    target = context.names.function(name)
    if target is None:
        return False
    home, block = target
    if home.blocks[block].kind == "class":
        block = home.definition(block, "__init__")
    if block < 0:
        return False
    params = home.blocks[block].params
    shift = 1 if params[:1] in (("self",), ("cls",)) else 0
    return position + shift < len(params) and is_device_name(params[position + shift])


def _move(context: Context, module: Module, index: int, call: Call) -> Iterator[Fact]:
    """``x.to("cuda")``; also ``x.to(0)`` and ``x.to(rank)``, whose number means whatever device comes first."""
    value = call.args[0]
    text = device_text(module, value)
    if text:
        attrs = _attrs(context, module, value, call.block, call.line, text, ".to", "yes")
        yield context.call_fact("cuda", text, module, index, **attrs, callee=".to", within="0")
        return
    number = isinstance(value, Const) and isinstance(value.value, int) and not isinstance(value.value, bool)
    if (number or (isinstance(value, Ref) and _INDEX.match(value.name))) and len(call.args) == 1:
        said = str(value.value) if isinstance(value, Const) else value.name if isinstance(value, Ref) else "?"
        subject = "number" if number else "name"
        attrs = {"form": "index", "position": ".to", "breaks": "unknown", "subject": subject}
        yield context.call_fact("cuda", said, module, index, **attrs)


def _option(context: Context, module: Module, index: int, written: str) -> Iterator[Fact]:
    call = module.code.calls[index]
    keyword, position = _OPTIONS[written]
    value = argument(call, keyword, position)
    text = device_text(module, value) if value is not None else ""
    flags = [a.value for a in call.args if isinstance(a, Const) and isinstance(a.value, str)]
    flags += [v.value for k, v in call.keywords if k == "dest" and isinstance(v, Const) and isinstance(v.value, str)]
    names = [flag.lstrip("-").replace("-", "_") for flag in flags]
    if value is None or not text or not (":" in text or any(is_device_name(name) for name in names)):
        return
    attrs = _attrs(context, module, value, call.block, call.line, text, "option", "yes")
    if _offers_npu(context, module, call, names):
        attrs["beside_npu"] = "yes"
    yield context.call_fact("cuda", text, module, index, **attrs, callee=written, within=_CHOOSING[written])


def _offers_npu(context: Context, module: Module, call: Call, names: list[str]) -> bool:
    """Whether an option has the NPU among its choices, or a launcher chooses it."""
    choices = argument(call, "choices", -1)
    offered = (
        [str(c.value) for c in choices.items if isinstance(c, Const)] if isinstance(choices, SequenceDisplay) else []
    )
    if any(choice.startswith("npu") for choice in offered):
        return True
    launched = [value for name in names for value in context.options.launched(name, module)]
    return any(value is None or value.startswith("npu") for value in launched)


def _assigned(context: Context, module: Module) -> Iterator[Fact]:
    for bind in module.code.assignments:
        value = bind.value
        if value.__class__ in _SILENT or not (text := device_text(module, value)):
            continue
        if isinstance(value, Table):
            named = any(
                isinstance(k, Const) and isinstance(k.value, str) and is_device_name(k.value) and device_text(module, v)
                for k, v in zip(value.keys, value.values, strict=True)
            )
            named = named or (":" in text and is_device_name(bind.target))
        else:
            named = not isinstance(value, SequenceDisplay) and (":" in text or is_device_name(bind.target))
        if named:
            attrs = _attrs(context, module, value, bind.block, bind.line, text, bind.target, "yes")
            attrs.pop("value")
            attrs["within"] = "value"
            yield context.bind_fact("cuda", text, module, bind, **attrs)


def _defaults(context: Context, module: Module) -> Iterator[Fact]:
    for record in module.blocks:
        if not record.defaults or record.kind not in ("function", "lambda"):
            continue
        named = zip(record.params[-len(record.defaults) :], record.defaults, strict=True)
        for name, value in named:
            text = device_text(module, value)
            if text and (":" in text or is_device_name(name)):
                attrs = _attrs(context, module, value, record.parent, record.line, text, f"{name}=", "unknown")
                attrs["position"], attrs["within"] = "default", name
                span = Span(record.line, 1, record.line, 1)
                yield Fact("cuda", text, module.path, span, attrs, None, context.around(module, record.parent))


def _returned(context: Context, module: Module) -> Iterator[Fact]:
    for returned in module.code.returns:
        text = device_text(module, returned.value) if not isinstance(returned.value, SequenceDisplay | Table) else ""
        if text and (":" in text or "device" in module.qualname(returned.block).rpartition(".")[2].lower()):
            attrs = _attrs(context, module, returned.value, returned.block, returned.line, text, "return", "unknown")
            attrs["within"] = "value"
            span = Span(returned.line, 1, returned.line, 1)
            yield Fact("cuda", text, module.path, span, attrs, None, context.around(module, returned.block))
