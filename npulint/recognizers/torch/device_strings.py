"""Device strings: ``"cuda"``, ``f"cuda:{rank}"`` and the like as devices."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from typing import Literal

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.attributes import Flag, attribute
from npulint.facts.code import Assignment, CallResult, Const, Return
from npulint.facts.kinds import fact_kind
from npulint.facts.model import Fact, Span
from npulint.facts.values import PossibleValues
from npulint.model.code.module import Module
from npulint.model.running.code_facts import PlaceFact
from npulint.model.values.changed_dicts import is_changed
from npulint.model.values.context import once
from npulint.model.values.cursors import AssignmentSite, CallSite, Expr, Scope, assignment_at
from npulint.recognizers.registry import recognizes_in_modules
from npulint.recognizers.torch import device_names, scaling
from npulint.recognizers.torch.device_flow import (
    FOREIGN,
    KEYWORDS,
    MOVES,
    POSITIONS,
    gives_device,
    holds_device,
    takes_device,
)
from npulint.recognizers.torch.device_moves import DEFAULT_TYPE, Move, move_of_default_type
from npulint.recognizers.torch.device_texts import (
    DEVICE,
    asks_cuda,
    choice_of,
    computed_defaults,
    device_text,
    is_device_name,
    leaves,
    leaving_out,
    may_say_device,
    npu_choices,
)
from npulint.recognizers.torch.device_uses import CudaUse, end_of, is_guarded

_SAYS = lazy_compile(r"cuda|^npu")
_OTHER_DEVICE = lazy_compile(r"^(?:npu|cpu|mps|xpu)\b")
_TENSOR_METHOD = lazy_compile(r"\.(?:new_\w+|to|to_empty)$")
_TYPED = frozenset(("type", "set_default_tensor_type"))
_OPTIONS = {
    "add_argument": ("default", -1),
    "DEFINE_string": ("default", 1),
    "DEFINE_enum": ("default", 1),
    "option": ("default", -1),
}
# The arguments with the choices of an option.
_CHOOSING = {
    "add_argument": "default choices",
    "DEFINE_string": "default 1",
    "DEFINE_enum": "default 1 enum_values 2",
    "option": "default type",
}
_ACCELERATORS = ("torch.cuda.", "torch.npu.")
_INDEX = lazy_compile(r"^(?:\w+[._])?(?:rank|local_rank|gpu|gpu_id|device_id|dev_id)$", re.IGNORECASE)


@fact_kind("cuda")
class CudaText(CudaUse, kw_only=True):
    """A string that names a CUDA device is used as a device; the name is the device."""

    form: Literal["text"] = "text"
    """How CUDA is used."""
    covered: bool = True
    """Whether transfer_to_npu replaces it."""
    _expression: Expr
    position: str
    """Where it stands: a keyword, a callee, ``.to``, ``option``, ``default``, ``return``, the name that is assigned."""
    within: str
    """The argument, parameter or value that contains it, in the form of the verb retext."""
    breaks: Flag = "unknown"
    """Whether it raises where torch has no CUDA."""
    callee: str | None = None
    """The function that gets it."""
    beside_npu: bool = False
    """Whether the NPU is named next to it, or the project takes it for the same option."""
    _parameter: tuple[Scope, str] | None = None

    def __post_init__(self) -> None:
        others = _other_devices(self._expression)
        self.breaks = "no" if any(text.startswith(("cpu", "npu")) for text in others) else self.breaks
        self.beside_npu = self.beside_npu or any(text.startswith("npu") for text in others)

    @attribute
    def value(self) -> PossibleValues | None:
        """What is assigned; elsewhere the text."""
        return PossibleValues((self.name,), True) if self.assignment is None else self.assignment.value.known

    @attribute
    def counterpart(self) -> str:
        """The text that means the same device of the NPU."""
        return self.name.replace("cuda", "npu", 1)

    @attribute
    def fallback(self) -> bool:
        """Whether it is used if CUDA is available, and otherwise the CPU, not the NPU."""
        kinds = {text[:3] for text in _other_devices(self._expression)}
        chosen = self._expression.operator in ("if", "and", "or")
        return chosen and "cpu" in kinds and "npu" not in kinds and asks_cuda(self._expression)

    @attribute
    def matters(self) -> bool:
        """Whether a run on an NPU server may miss something because of it: not a default of a parameter that every call
        passes, or that is compared with the NPU; see also `CudaUse.matters`."""
        return self._left_out != [] and super().matters and not self._is_replaced

    @property
    def _is_replaced(self) -> bool:
        """Whether the program writes something else over it before anything reads it, as its executions tell; they are
        asked where another assignment or a call may do so."""
        bind, executions = self.assignment, self.scope.context.executions
        if bind is None or executions is None:
            return False
        module = self.scope.module
        if not bind.value.is_dict:
            return module.is_assigned_again(bind.record) and executions.is_unread(module, bind.value.value)
        entries = [(key, entry) for key, entry in bind.value.entries if device_text(entry)]
        return bool(entries) and all(
            key is not None
            and is_changed(self.scope.context, module, bind.scope.block, bind.target, key.literal)
            and executions.is_unread(module, entry.value)
            for key, entry in entries
        )

    @property
    def run_by(self) -> Scope:
        """See `CodeFact.run_by`: of a default, a call that uses it."""
        return self._left_out[0].scope if self._left_out else self.scope

    @cached_property
    def _left_out(self) -> list[CallSite] | None:
        return None if self._parameter is None else leaving_out(*self._parameter)

    @attribute
    def guarded(self) -> bool:
        """Whether it is in a try, in the CUDA branch of a conditional expression, or in a project's ``cuda`` method."""
        return is_guarded(self.scope, self.span)

    @attribute
    def ported(self) -> bool:
        """Whether its file names the NPU anywhere."""
        return device_names.ported(self.scope)

    @property
    def is_choice(self) -> bool:
        """See `CudaUse.is_choice`: not what a function of the device gets, ``torch.npu.set_device("cuda:0")``."""
        call = self.call
        if call is None:
            return True
        holders = (call, *map(self.scope.call, self.scope.module.derive(_takers).get(call.index, ())))
        return not any(holder.name.startswith(_ACCELERATORS) for holder in holders)

    @property
    def may_be_key(self) -> bool:
        """See `CudaUse.may_be_key`."""
        return not (self.callee or "").startswith(("torch.", ".to"))

    @property
    def own_move(self) -> Move:
        """See `CudaUse.own_move`."""
        return "text"


@fact_kind("cuda")
class CudaTypeText(CudaUse):
    """A string that names a tensor type of CUDA."""

    form: Literal["type"] = "type"
    """How CUDA is used."""
    breaks: bool = True
    """Whether it raises where torch has no CUDA."""
    within: str = "0"
    """The argument that contains it, in the form of the verb retext."""

    @attribute
    def covered(self) -> Flag:
        """Whether transfer_to_npu replaces it."""
        return "no" if "Double" in self.name else "unknown"

    @property
    def own_move(self) -> Move:
        """See `CudaUse.own_move`."""
        if self.call is not None and self.call.name == DEFAULT_TYPE:
            return move_of_default_type(self.name)
        return "none" if "Double" in self.name else "text"


@fact_kind("cuda")
class DeviceNumber(CudaUse):
    """Something is moved to a device by its number; the name is the number or its variable."""

    form: Literal["index"] = "index"
    """How CUDA is used."""
    position: Literal[".to"] = ".to"
    """Where it is."""
    breaks: Flag = "unknown"
    """Whether it raises where torch has no CUDA."""
    subject: Literal["number", "name"] = "name"
    """Whether it is a literal number or a variable."""


@fact_kind("npu")
class NpuText(PlaceFact):
    """A string that names an NPU is used as a device; the name is the device."""

    on: str
    """Where it is."""
    call: CallSite | None = None
    _expression: Expr | None = None

    @property
    def args(self) -> CallSite | None:
        """The arguments of the call."""
        return self.call

    @property
    def is_literal(self) -> bool:
        """Whether nothing else can stand there, as in ``torch.device("npu:0")``."""
        return self._expression is not None and self._expression.is_literal


@recognizes_in_modules
def device_texts(module: Scope) -> Iterator[Fact]:
    """The device strings, tensor types and device numbers in a module."""
    if not module.module.code.devices:
        for call in module.calls_named(*MOVES):
            yield from _moved(call) if call.args else ()
        return
    for fact in (*_in_calls(module), *_assigned(module), *_defaults(module), *_returned(module)):
        if fact.name.startswith("npu") and isinstance(fact, CudaText):
            yield NpuText(fact.scope, fact.span, fact.name, fact.position, fact.call, fact._expression)
        else:
            yield fact


def _other_devices(value: Expr) -> list[str]:
    """The possible texts of an expression that name other devices than CUDA."""
    return [text for text in leaves(value) if _OTHER_DEVICE.match(text)]


def _in_calls(module: Scope) -> Iterator[CudaUse | NpuText]:
    for call in module.all_calls:
        record = call.record
        for key, argument in record.keywords:
            if key.endswith(KEYWORDS) and (text := device_text(call.expr(argument))):
                yield from _keyword(call, key, call.expr(argument), text)
        if call.last in _OPTIONS and (record.args or call.last == "option"):
            yield from _option(call)
        elif not record.args:
            continue
        elif call.last in MOVES:
            yield from _moved(call)
        elif call.name in POSITIONS:
            yield from _placed(call)
        else:
            for place, value in enumerate(record.args):
                if isinstance(value, Const) and isinstance(value.value, str) and _SAYS.search(value.value):
                    yield from _passed(call, place, value.value)


def _keyword(call: CallSite, key: str, value: Expr, text: str) -> Iterator[CudaText]:
    name = call.name
    if name.startswith((*FOREIGN, "torch.cuda.")):
        return
    makes = name.startswith("torch.") and not name.startswith(("torch.autocast", "torch.amp"))
    breaks: Flag = "yes" if makes or _TENSOR_METHOD.search(name) else "unknown"
    """Whether it raises where torch has no CUDA."""
    span = call.span
    if span.end_line > span.line and call.record.keywords[-1][1] is value.value:
        span = end_of(span, f'{key}="{text}")')
    yield CudaText(
        call.scope, span, text, call, _expression=value, position=f"{key}=", within=key, breaks=breaks, callee=name
    )


def _argument(call: CallSite, text: str, place: int, position: str, breaks: Flag, callee: str) -> CudaText:
    """The fact for a positional argument."""
    return CudaText(
        call.scope,
        call.span,
        text,
        call,
        _expression=call.args[place],
        position=position,
        within=str(place),
        breaks=breaks,
        callee=callee,
    )


def _placed(call: CallSite) -> Iterator[CudaText]:
    """The device argument of a PyTorch function."""
    place = POSITIONS[call.name]
    text = device_text(call.args[place]) if place < len(call.args) else ""
    if text:
        breaks: Flag = "no" if _is_switched_off(call) else "yes"
        cuda_text = _argument(call, text, place, call.name, breaks, call.name)
        cuda_text._parameter = computed_defaults(call.scope).get(call.index)
        yield cuda_text


def _is_switched_off(call: CallSite) -> bool:
    """Whether a call is an autocast that is off anyway: it needs no CUDA."""
    return call.name == "torch.autocast" and scaling.enabled(call) == "no"


def _passed(call: CallSite, place: int, text: str) -> Iterator[CudaUse]:
    """A positional string argument: a tensor type, or the device parameter of a project function."""
    if device_names.TENSOR_TYPE.match(text) and call.last in _TYPED:
        yield CudaTypeText(call.scope, call.span, text, call, within=str(place))
    elif DEVICE.match(text) and _takes_device(call, place):
        yield _argument(call, text, place, "argument", "unknown", call.name)


def _takes_device(call: CallSite, place: int) -> bool:
    """Whether a project function has a device parameter at this position."""
    target = call.target
    function = target.definition("__init__") if target is not None and target.kind == "class" else target
    if function is None:
        return False
    names = function.parameters
    shift = 1 if names[:1] in (("self",), ("cls",)) else 0
    name = names[place + shift] if place + shift < len(names) else ""
    return bool(name) and (is_device_name(name) or takes_device(function, name))


def _moved(call: CallSite) -> Iterator[CudaUse | NpuText]:
    """``x.to("cuda")``; also ``x.to(0)`` and ``x.to(rank)``, whose number refers to the current backend."""
    value = call.args[0]
    number = value.literal
    if text := device_text(value):
        yield _argument(call, text, 0, ".to", "yes", ".to")
    elif len(call.args) > 1:
        return
    elif isinstance(number, int) and not isinstance(number, bool):
        yield DeviceNumber(call.scope, call.span, str(number), call, subject="number")
    elif _is_chosen_npu(value):
        yield NpuText(call.scope, call.span, "npu", ".to", call)
    elif _INDEX.match(value.written):
        yield DeviceNumber(call.scope, call.span, value.written, call)


def _is_chosen_npu(value: Expr) -> bool:
    """Whether a name is the number of the NPU that its function chooses; PyTorch takes a number for the NPU from 2.1
    on."""
    release = value.context.torch_release
    if not value.written or (release is not None and release < (2, 1)):
        return False
    return value.written in _chosen_npus(value.scope.routine)


@once
def _chosen_npus(routine: Scope) -> set[str]:
    """The numbers, as written, of the NPUs that a function chooses."""
    chosen = (call for call in routine.calls if call.name == "torch.npu.set_device")
    return {call.args[0].written for call in chosen if call.args}


def _takers(module: Module) -> dict[int, list[int]]:
    """From each call to the calls that take its very result as a positional argument."""
    takers: dict[int, list[int]] = {}
    for index, call in enumerate(module.code.calls):
        for value in call.args:
            if isinstance(value, CallResult):
                takers.setdefault(value.call, []).append(index)
    return takers


def _option(call: CallSite) -> Iterator[CudaText]:
    value = call.argument(*_OPTIONS[call.last])
    text = device_text(value) if value is not None else ""
    if value is None or not text:
        return
    flags = [expr.text for expr in (*call.args, *(value for key, value in call.keywords.items() if key == "dest"))]
    names = [flag.lstrip("-").replace("-", "_") for flag in flags if flag]
    if ":" in text or any(map(is_device_name, names)):
        yield CudaText(
            call.scope,
            call.span,
            text,
            call,
            _expression=value,
            position="option",
            within=_CHOOSING[call.last],
            breaks="yes",
            callee=call.last,
            beside_npu=_offers_npu(call, names),
        )


def _offers_npu(call: CallSite, names: list[str]) -> bool:
    """Whether an option has the NPU among its choices, a launcher passes it, or the project compares the option with
    it."""
    choices = call.argument("choices")
    if choices is not None and any(choice.text.startswith("npu") for choice in choices.items):
        return True
    if not npu_choices(call.context).isdisjoint(map(choice_of, names)):
        return True
    launched = [value for name in names for value in call.context.options.launched(name, call.module)]
    return any(value is None or value.startswith("npu") for value in launched)


def _assigned(module: Scope) -> Iterator[CudaText]:
    records = module.module.derive(_assignments_of_texts)
    for assignment in (assignment_at(module.context, module.module, record) for record in records):
        text = device_text(assignment.value)
        if text and _is_for_device(assignment, text):
            yield CudaText(
                assignment.scope,
                assignment.span,
                text,
                assignment=assignment,
                _expression=assignment.value,
                position=assignment.target,
                within="value",
                breaks="yes",
            )


def _assignments_of_texts(module: Module) -> list[Assignment]:
    """The assignments of a module whose values have a text that may be a device."""
    code = module.code
    return [assignment for assignment in code.assignments if may_say_device(assignment.value, code)]


def _is_for_device(assignment: AssignmentSite, text: str) -> bool:
    """Whether an assigned text is a device, according to its use, to the target's name or key, or to the number in the
    text."""
    value = assignment.value
    if value.is_dict:
        keyed = any(key is not None and is_device_name(key.text) and device_text(entry) for key, entry in value.entries)
        return keyed or (":" in text and is_device_name(assignment.target))
    if value.is_display:
        return False
    return ":" in text or is_device_name(assignment.target) or holds_device(assignment)


def _defaults(module: Scope) -> Iterator[CudaText]:
    for function in module.blocks_of("function", "lambda"):
        if not function.record.defaults:
            continue
        for name, value in function.defaults:
            text = device_text(value) if may_say_device(value.value, module.module.code) else ""
            if text and (":" in text or is_device_name(name) or takes_device(function, name)):
                yield CudaText(
                    value.scope,
                    _line(value),
                    text,
                    _expression=value,
                    position="default",
                    within=name,
                    _parameter=(function, name),
                )


def _returned(module: Scope) -> Iterator[CudaText]:
    for return_record in module.module.derive(_returned_texts):
        value = module.at(return_record.block).expr(return_record.value, return_record.line)
        text = "" if value.is_display or value.is_dict else device_text(value)
        named = "device" in value.scope.qualname.rpartition(".")[2].lower()
        if text and (":" in text or named or gives_device(value.scope.routine)):
            yield CudaText(value.scope, _line(value), text, _expression=value, position="return", within="value")


def _returned_texts(module: Module) -> list[Return]:
    """What functions of a module return that has a text that may be a device."""
    code = module.code
    return [return_record for return_record in code.returns if may_say_device(return_record.value, code)]


def _line(value: Expr) -> Span:
    return Span.at(value.line)
