"""Tests for CUDA: comparisons with device names, ``is_cuda``, compute capability and device properties."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from itertools import permutations
from typing import Literal

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.attributes import Flag, attribute
from npulint.facts.code import Ref, Value
from npulint.facts.kinds import fact_kind
from npulint.model.running.adaptors import patched
from npulint.model.running.code_places import (
    ExpressionPlace,
    expressions,
    imports_package,
    names_used,
    operations,
    written_values,
)
from npulint.model.values.context import once_per_file
from npulint.model.values.cursors import CallSite, Expr, Scope
from npulint.model.values.walker import walker
from npulint.recognizers.registry import recognizes, recognizes_in_modules
from npulint.recognizers.torch import device_names
from npulint.recognizers.torch.device_effects import only_stops, stops_without
from npulint.recognizers.torch.device_moves import Move, has_kernels, is_given_here
from npulint.recognizers.torch.device_names import CAPABILITY, TENSOR_TYPE
from npulint.recognizers.torch.device_uses import CudaUse, is_guarded
from npulint.recognizers.torch.scaling import makes_scaler

_FIELDS = frozenset(
    "major minor multi_processor_count max_threads_per_multi_processor warp_size gcnArchName "
    "regs_per_multiprocessor".split()
)
_FILLED = "multi_processor_count"
_PROPERTIES = lazy_compile(r"^torch\.(?:cuda|npu)\.get_device_properties\(\)\.")
_TEXT = lazy_compile(r"^(?:torch\.)?cuda(?:$|[:.])")
_NPU = lazy_compile(r"^(?:torch\.)?npu")
_CHOICE = lazy_compile(r"(?:^|[._])(?:args?|opts?|cfg|config|conf|hparams?|hps|params|flags|FLAGS|options|settings)\.")
_BACKEND = lazy_compile(r"backend", re.IGNORECASE)
_COMPARISONS = ("==", "!=", "in", "not in")
_CUDNN = "torch.backends.cudnn."
_WRAPPED = 2  # lines between the operands of one condition
_GPU_LIBRARIES = ("tensorrt", "pycuda", "cupy", "torch2trt", "torch_tensorrt")
Compared = Literal["tensor", "type", "device", "backend", "choice", "other"]


@fact_kind("cuda")
class CapabilityQuestion(CudaUse):
    """The compute capability or the properties of a device are queried; the name is the function that is called."""

    form: Literal["capability"] = "capability"
    """How CUDA is used."""

    @attribute
    def use(self) -> Literal["apart", "compared", "shown", "properties"]:
        """How a capability is used: taken ``apart``, ``compared``, or only ``shown``; ``properties``: the device
        properties are queried."""
        return "properties" if self._asks_properties or self.call is None else _use(self.call)

    @attribute
    def covered(self) -> bool:
        """Whether transfer_to_npu replaces it with a useful result."""
        return self._asks_properties

    @attribute
    def breaks(self) -> Flag:
        """Whether it raises where torch has no CUDA."""
        return "yes" if self.name.startswith("torch.cuda.") else "unknown"

    @attribute
    def counterpart(self) -> str:
        """The NPU's name for it."""
        return self.name.replace("torch.cuda", "torch.npu", 1)

    @attribute
    def guarded(self) -> bool:
        """Whether it is in a try, in the CUDA branch of a conditional expression, or in a project's ``cuda`` method."""
        return is_guarded(self.scope, self.span)

    @attribute
    def ported(self) -> bool:
        """Whether its file names the NPU anywhere."""
        return device_names.ported(self.scope)

    @property
    def own_move(self) -> Move:
        """See `CudaUse.own_move`."""
        return "name" if self.use in ("shown", "properties") else "none"

    @property
    def _asks_properties(self) -> bool:
        return not self.name.endswith("capability")


@fact_kind("cuda")
class DeviceProperty(CudaUse):
    """A field of the device properties with another or no meaning on the NPU is read; the name is its canonical
    name."""

    form: Literal["capability"] = "capability"
    """How CUDA is used."""
    use: Literal["field"] = "field"
    """The kind of query: a field of the device properties."""
    covered: bool = False
    """Whether transfer_to_npu replaces it."""
    breaks: bool = True
    """Whether it raises where torch has no CUDA."""

    @attribute
    def guarded(self) -> bool:
        """Whether it is in a try, in the CUDA branch of a conditional expression, or in a project's ``cuda`` method."""
        return is_guarded(self.scope, self.span)


@fact_kind("cuda")
class IsCuda(CudaUse, kw_only=True):
    """``is_cuda`` of a tensor is read."""

    form: Literal["is_cuda"] = "is_cuda"
    """How CUDA is used."""
    covered: bool = True
    """Whether transfer_to_npu replaces it."""
    breaks: bool = False
    """Whether it raises where torch has no CUDA."""
    counterpart: str = "is_npu"
    """The NPU's name for it."""
    _read: Expr

    @property
    def question(self) -> Expr | None:
        """See `CudaUse.question`."""
        return self._read

    @property
    def is_choice(self) -> bool:
        """See `CudaUse.is_choice`."""
        return True

    @property
    def own_move(self) -> Move:
        """See `CudaUse.own_move`."""
        return "none" if has_kernels(self.scope) else "name"


@fact_kind("cuda")
class CudaComparison(CudaUse, kw_only=True):
    """Something is compared with a CUDA device or backend; the name is the text that it is compared with."""

    form: Literal["compare"] = "compare"
    """How CUDA is used."""
    breaks: bool = False
    """Whether it raises where torch has no CUDA."""
    of: Compared
    """What is compared: the device of a tensor, a tensor type, a device, a backend, or a user's choice."""
    beside_npu: bool
    """Whether the NPU is named next to it."""
    subject: str
    """What is compared, as written."""
    within: str | None
    """The argument or value that contains the text, in the form of the verb retext."""
    _test: Expr

    @attribute
    def covered(self) -> Flag:
        """Whether transfer_to_npu makes it come true."""
        return "no" if self.of in ("tensor", "type", "backend") else "unknown"

    @attribute
    def matters(self) -> bool:
        """Whether a run on an NPU server may miss something because of it (see there); not in code for TensorRT or
        cuDNN."""
        for_gpus = imports_package(self.scope, *_GPU_LIBRARIES) or (self.of == "tensor" and _asks_cudnn(self.scope))
        return not for_gpus and super().matters

    @property
    def question(self) -> Expr | None:
        """See `CudaUse.question`."""
        return self._test

    @attribute
    def stops(self) -> bool:
        """Whether all that it decides is whether an error is raised."""
        return only_stops(self._test)

    @attribute
    def refuses(self) -> bool:
        """Whether all that it decides is whether the program stops, and any device but CUDA stops it; not where a
        function refuses a tensor that it is given, which says what that function takes."""
        taken = self.scope.module.params.get(self.scope.routine.block, frozenset())
        return not (self.of == "tensor" and self.subject.partition(".")[0] in taken) and stops_without(self._test)

    @attribute
    def decides(self) -> Literal["loss_scale", "other"]:
        """What it decides: whether the loss is scaled at all, or something else."""
        branches = _branches_of(self._test)
        made = [call for call in self.scope.routine.calls if makes_scaler(call)] if branches else []
        inside = bool(made) and all(any(call.scope.is_inside(branch) for branch in branches) for call in made)
        return "loss_scale" if inside else "other"

    @property
    def is_choice(self) -> bool:
        """See `CudaUse.is_choice`."""
        return True

    @property
    def may_be_key(self) -> bool:
        """See `CudaUse.may_be_key`."""
        return self.of == "choice"

    @property
    def own_move(self) -> Move:
        """See `CudaUse.own_move`: a text is compared with what is certainly a device, or with a name that this project
        gives a device's text; not where the answer selects kernels for CUDA, or cuDNN."""
        if self.within is None or (self.of == "tensor" and (has_kernels(self.scope) or _asks_cudnn(self.scope))):
            return "none"
        if self.of in ("tensor", "type", "device"):
            return "text"
        if self.of != "choice":
            return "none"
        is_device = self.subject.endswith(".type") or is_given_here(self.scope, self.subject, self.span.line)
        return "text" if is_device else "none"


@recognizes(*CAPABILITY)
def capability_questions(call: CallSite) -> list[CudaUse]:
    """Calls that query the compute capability or the properties of a device."""
    return [CapabilityQuestion(call.scope, call.span, call.name, call)]


@recognizes_in_modules
def device_tests(module: Scope) -> Iterator[CudaUse]:
    """``is_cuda``, fields of device properties, and comparisons with CUDA."""
    for place in expressions(module, "attribute"):
        yield from _of_attribute(place)
    for place in expressions(module, "compare"):
        yield from _of_comparison(place)
    for call in module.calls_named("startswith"):
        text = call.args[0].text if call.args else ""
        if call.receiver is not None and _TEXT.match(text):
            of = _compared(call.receiver)
            written = call.receiver.dotted
            yield CudaComparison(
                call.scope,
                call.span,
                text,
                call,
                of=of,
                beside_npu=_has_npu([text]),
                subject=written,
                within="0",
                _test=call.result,
            )


def _of_attribute(place: ExpressionPlace) -> Iterator[CudaUse]:
    written = place.expression.dotted
    last = written.rpartition(".")[2]
    if last == "is_cuda" and not any(
        assignment.target == written for assignment in place.scope.assignments_to("is_cuda")
    ):
        yield IsCuda(place.scope, place.span, "is_cuda", _read=place.expression)
    elif last in _FIELDS and not (last == _FILLED and _may_be_filled(place.scope)):
        name = place.expression.name
        if _PROPERTIES.match(name):
            yield DeviceProperty(place.scope, place.span, name)


def _may_be_filled(scope: Scope) -> bool:
    """Whether torch_npu may fill the number of multiprocessors: from 26.0 on, which is for PyTorch 2.6 and later."""
    release = scope.context.torch_release
    return release is None or release >= (2, 6)


def _of_comparison(place: ExpressionPlace) -> Iterator[CudaUse]:
    comparison = place.expression
    left, right = comparison.operands()
    for text_side, subject in ((right, left), (left, right)):
        texts = _texts(text_side)
        cuda = next((text for text in texts if _TEXT.match(text) or text.lower() == "nccl"), "")
        if cuda and _answers_cuda(subject):
            return
        if cuda:
            yield CudaComparison(
                place.scope,
                place.span,
                cuda,
                of="backend" if cuda.lower() == "nccl" else _compared(subject),
                beside_npu=_has_npu(texts) or _is_compared_with_npu(place.scope, subject.dotted, comparison.line),
                subject=subject.dotted,
                within=None if text_side.written else "value",
                _test=comparison,
            )
            return


def _asks_cudnn(scope: Scope) -> bool:
    """Whether a function also tests whether cuDNN is there, whose functions it is about."""
    return any(name_place.scope.routine.block == scope.routine.block for name_place in names_used(scope.at(0), _CUDNN))


def _answers_cuda(subject: Expr) -> bool:
    """Whether an adaptor of the project makes what is compared name CUDA on the NPU."""
    return _compared(subject) == "type" and patched(subject.context, "torch.Tensor.type") is not None


def _has_npu(texts: list[str]) -> bool:
    return any(_NPU.match(text) or text.lower() == "hccl" for text in texts)


def _is_compared_with_npu(scope: Scope, subject: str, line: int) -> bool:
    """Whether the same condition compares something with the NPU, too: ``kind == "cuda" or kind == "npu"``."""
    return bool(subject) and any(
        line - _WRAPPED <= npu_line <= line + _WRAPPED for npu_line in _npu_lines(scope).get(subject, ())
    )


@once_per_file
def _npu_lines(module: Scope) -> dict[str, list[int]]:
    """The lines that compare something with the NPU, by what they compare."""
    lines: dict[str, list[int]] = defaultdict(list)
    if not module.module.code.npu:
        return lines
    asserted = (part for place in expressions(module, "assert") for part in place.expression.nested)
    for expr in (*operations(module, *_COMPARISONS), *(part for part in asserted if part.operator in _COMPARISONS)):
        for text, subject in permutations(expr.operands(), 2):
            if subject.dotted and _has_npu(_texts(text)):
                lines[subject.dotted].append(expr.line)
    return lines


def _branches_of(test: Expr) -> list[Scope]:
    """The branches whose condition is, or contains, a comparison."""
    tests = (block for block in test.scope.blocks_of("if") if block.record.line == test.line)
    return [block for block in tests if _contains(block.test, test.value)]


@walker(depth=9, otherwise=bool)
def _contains(value: Expr, part: Value) -> bool:
    return value.value == part or any(_contains(operand, part) for operand in value.operands())


def _texts(value: Expr) -> list[str]:
    """The texts in an operand: its own, those of a display, a tensor type."""
    if value.is_display:
        return [text for item in value.items for text in _texts(item)]
    if isinstance(value.literal, str):
        return [value.literal]
    return [value.written] if TENSOR_TYPE.match(value.written) else []


def _compared(value: Expr) -> Compared:
    """What is compared: the device of a tensor, a device, the type of a tensor, a backend, or a user's choice."""
    call = value.call
    if call is not None:
        if call.written == "str" and call.args:
            return _compared(call.args[0])
        if call.last in ("type", "typename") and call.written != "type":
            return "type"
        return "backend" if _BACKEND.search(call.last) else "other"
    written = value.dotted
    if not written:
        return "other"
    if written.endswith((".device.type", ".device")) and not _holds_choices(written):
        return "tensor"
    if _BACKEND.search(written):
        return "backend"
    return "device" if written.endswith("device.type") else "choice"


def _holds_choices(written: str) -> bool:
    """Whether a name with ``.device`` refers to a choice or to the device of an object that only stores one."""
    holder = written.rpartition(".device")[0]
    return holder in ("self", "cls", "") or _CHOICE.search(f"{holder}.") is not None


def _use(call: CallSite) -> Literal["apart", "compared", "shown"]:
    """How a capability is used: apart, compared, or only shown."""
    result = call.result.value
    names = {assignment.target for assignment in call.scope.assignments if assignment.record.value == result}
    holders: list[Value] = [result, *(Ref(name) for name in names)]
    uses = {_part_use(value, holders) for value in written_values(call.scope)}
    return "apart" if "apart" in uses else "compared" if "compared" in uses else "shown"


@walker(depth=9, otherwise=str)
def _part_use(value: Expr, holders: list[Value]) -> str:
    operands = value.operands()
    if any(operand.value in holders for operand in operands):
        if value.operator == "[]":
            return "apart"
        if value.operator in ("<", "<=", ">", ">=", "+", "-", "*"):
            return "compared"
    return next((use for operand in operands if (use := _part_use(operand, holders))), "")
