"""Questions about CUDA: comparisons with device names, ``is_cuda``, compute capability and device properties."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from npulint.assemble.context import Context
from npulint.assemble.module import Module
from npulint.assemble.recognizers.torch.device_names import TENSOR_TYPE
from npulint.facts.code import CallResult, Const, Op, Ref, SequenceDisplay, TorchExpression, Value
from npulint.facts.model import Fact
from npulint.lazy_regex import lazy_compile

_FIELDS = frozenset(
    "major minor multi_processor_count max_threads_per_multi_processor warp_size gcnArchName "
    "regs_per_multiprocessor".split()
)
_PROPERTIES = lazy_compile(r"^torch\.(?:cuda|npu)\.get_device_properties\(\)\.")
_TEXT = lazy_compile(r"^(?:torch\.)?cuda(?:$|[:.])")
_NPU = lazy_compile(r"^(?:torch\.)?npu")
_CHOICE = lazy_compile(r"(?:^|[._])(?:args?|opts?|cfg|config|conf|hparams?|hps|params|flags|FLAGS|options|settings)\.")
_BACKEND = lazy_compile(r"backend", re.IGNORECASE)
_GPU_LIBRARIES = frozenset(("tensorrt", "pycuda", "cupy", "torch2trt", "torch_tensorrt"))
_DEPTH = 8


def tests(context: Context, module: Module) -> Iterator[Fact]:
    """The ``cuda`` facts of the forms ``compare``, ``is_cuda`` and ``capability`` (a field) of a module."""
    for note in module.code.torch_expressions:
        if note.kind == "attribute":
            yield from _attribute(context, module, note)
        elif note.kind == "compare" and isinstance(note.value, Op):
            yield from _compare(context, module, note, note.value)
    for index in module.calls_of("startswith"):
        call = module.code.calls[index]
        text = _text(call.args[0]) if call.args else ""
        subject = _receiver(call.callee)
        if text and subject is not None:
            attrs = {**_compared(_subject(module, subject), [text]), "subject": _written(subject), "within": "0"}
            yield context.call_fact("cuda", text, module, index, **attrs)


def capability(context: Context, module: Module, index: int, name: str) -> list[Fact]:
    """A ``cuda`` fact for a call that asks for the compute capability or the properties of a device."""
    use = partial(_use, module, index) if name.endswith("capability") else "properties"
    return [
        context.call_fact(
            "cuda",
            name,
            module,
            index,
            form="capability",
            use=use,
            covered="no" if name.endswith("capability") else "yes",
            breaks="yes" if name.startswith("torch.cuda.") else "unknown",
            counterpart=name.replace("torch.cuda", "torch.npu", 1),
        )
    ]


def _attribute(context: Context, module: Module, note: TorchExpression) -> Iterator[Fact]:
    written = note.value.name if isinstance(note.value, Ref) else ""
    last = _last(note.value)
    if last == "is_cuda":
        yield context.note_fact(
            "cuda", "is_cuda", module, note, form="is_cuda", covered="yes", breaks="no", counterpart="is_npu"
        )
    elif last in _FIELDS:
        if written:
            name = context.names.of_name(module, written, note.block, note.line)
        else:
            name = context.names.of_value(module, note.value, note.block, note.line)
        if _PROPERTIES.match(name):
            yield context.note_fact(
                "cuda", name, module, note, form="capability", use="field", covered="no", breaks="yes"
            )


def _compare(context: Context, module: Module, note: TorchExpression, value: Op) -> Iterator[Fact]:
    left, right = value.operands
    for text_side, subject in ((right, left), (left, right)):
        texts = _texts(text_side)
        cuda = next((text for text in texts if _TEXT.match(text) or text.lower() == "nccl"), "")
        if cuda:
            of = "backend" if cuda.lower() == "nccl" else _subject(module, subject)
            attrs = _compared(of, texts)
            attrs["gpu_only"] = partial(_lets_cuda_in, context, module, note.line, note.value)
            attrs["subject"] = _written(subject)
            if isinstance(text_side, Ref):
                attrs.pop("within")
            yield context.note_fact("cuda", cuda, module, note, **attrs, op=value.op)
            return


def _lets_cuda_in(context: Context, module: Module, line: int, test: Value) -> str:
    """Whether a comparison only keeps CUDA functions from being called elsewhere, or stands in code for TensorRT."""
    if any(record.module.partition(".")[0] in _GPU_LIBRARIES for record in module.code.imports):
        return "yes"
    names = context.names.of_calls(module)
    branches = {i for i, b in enumerate(module.blocks) if b.kind == "if" and b.line == line and _contains(b.test, test)}
    inner = [
        n for n, c in zip(names, module.code.calls, strict=True) if branches.intersection(module.ancestors(c.block))
    ]
    if not branches:
        inner = [
            n for n, c in zip(names, module.code.calls, strict=True) if c.line == line and n.startswith("torch.cuda.")
        ]
    return "yes" if inner and all(name.startswith("torch.cuda.") for name in inner) else "no"


def _contains(value: Value, part: Value, depth: int = 0) -> bool:
    if value == part:
        return True
    return isinstance(value, Op) and depth < _DEPTH and any(_contains(v, part, depth + 1) for v in value.operands)


def _compared(of: str, texts: list[str]) -> dict[str, object]:
    return {
        "form": "compare",
        "of": of,
        "covered": "no" if of in ("tensor", "type", "backend") else "unknown",
        "breaks": "no",
        "beside_npu": "yes" if any(_NPU.match(text) or text.lower() == "hccl" for text in texts) else "no",
        "gpu_only": "no",
        "within": "value",
    }


def _texts(value: Value) -> list[str]:
    """The texts that an operand holds: its own, those of a display, a tensor type."""
    if isinstance(value, SequenceDisplay):
        return [text for item in value.items for text in _texts(item)]
    if isinstance(value, Const):
        return [value.value] if isinstance(value.value, str) else []
    if isinstance(value, Ref):
        return [value.name] if TENSOR_TYPE.match(value.name) else []
    return []


def _text(value: Value) -> str:
    return value.value if isinstance(value, Const) and isinstance(value.value, str) and _TEXT.match(value.value) else ""


def _subject(module: Module, value: Value) -> str:
    """What is compared: the device of a tensor, a device, a tensor's type, a backend, or what somebody chose."""
    if isinstance(value, CallResult):
        call = module.code.calls[value.call]
        last = module.callee_name(value.call)
        if call.callee == Ref("str") and call.args:
            return _subject(module, call.args[0])
        if last in ("type", "typename") and not (isinstance(call.callee, Ref) and call.callee.name == "type"):
            return "type"
        return "backend" if _BACKEND.search(last) else "other"
    written = _written(value)
    if not written:
        return "other"
    if written.endswith((".device.type", ".device")) and not _holds_choices(written):
        return "tensor"
    if _BACKEND.search(written):
        return "backend"
    return "device" if written.endswith("device.type") else "choice"


def _holds_choices(written: str) -> bool:
    """Whether a name with ``.device`` means a choice or the device of an object that only keeps one."""
    holder = written.rpartition(".device")[0]
    return holder in ("self", "cls", "") or _CHOICE.search(f"{holder}.") is not None


def _written(value: Value) -> str:
    """A name as written; of an attribute of a computed object ``?`` with the attributes."""
    if isinstance(value, Ref):
        return value.name
    if isinstance(value, Op) and value.op == "." and isinstance(value.operands[1], Const):
        return f"{_written(value.operands[0]) or '?'}.{value.operands[1].value}"
    return ""


def _last(value: Value) -> str:
    return _written(value).rpartition(".")[2]


def _receiver(callee: Value) -> Value | None:
    if isinstance(callee, Ref):
        head = callee.name.rpartition(".")[0]
        return Ref(head) if head else None
    return callee.operands[0] if isinstance(callee, Op) and callee.op == "." else None


def _use(module: Module, index: int) -> str:
    """What becomes of a capability: taken apart, compared, or only shown."""
    wanted = CallResult(index)
    names = {b.target for b in module.code.assignments if b.value == wanted}
    holders: list[Value] = [wanted, *(Ref(name) for name in names)]
    values = [b.value for b in module.code.assignments] + [b.test for b in module.blocks]
    values += [r.value for r in module.code.returns]
    values += [v for call in module.code.calls for v in (*call.args, *(w for _, w in call.keywords))]
    found = {use for value in values if (use := _part_use(value, holders, 0))}
    return "apart" if "apart" in found else "compared" if found else "shown"


def _part_use(value: Value, holders: list[Value], depth: int) -> str:
    if not isinstance(value, Op) or depth > _DEPTH:
        return ""
    if any(operand in holders for operand in value.operands):
        if value.op == "[]":
            return "apart"
        if value.op in ("<", "<=", ">", ">=", "+", "-", "*"):
            return "compared"
    return next((use for operand in value.operands if (use := _part_use(operand, holders, depth + 1))), "")
