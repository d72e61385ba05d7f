"""Uses of CUDA as ``cuda`` facts; see the modules device_strings, device_tests and device_order for strings, tests and
order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.attributes import Flag, attribute
from npulint.facts.kinds import fact_kind
from npulint.facts.model import Span
from npulint.model.running.code_places import NamePlace, expressions, names_used
from npulint.model.running.npu_server import npu_server
from npulint.model.running.uses import is_never_read
from npulint.model.values.cursors import CallSite, Expr, Scope, scope_named
from npulint.recognizers.registry import recognizes, recognizes_in_modules
from npulint.recognizers.torch import device_names as known
from npulint.recognizers.torch.device_effects import asks_npu_here
from npulint.recognizers.torch.device_moves import (
    Move,
    has_kernels,
    is_default_type,
    may_be_own_method,
    move_of_default_type,
    move_of_member,
)
from npulint.recognizers.torch.device_uses import CudaUse, end_of, is_guarded
from npulint.recognizers.torch.device_versions import Decided, decided_by_version
from npulint.recognizers.torch.given_devices import Given, where_given

_FOREIGN = ("numba.", "cupy.", "cupyx.", "pycuda.", "jax.", "tensorflow.", "mxnet.", "paddle.", "mindspore.", "taichi.")
_FLAGS = ("torch.backends.cudnn", "torch.backends.cuda")
_FLAG_NAMES = (
    "benchmark enabled deterministic allow_tf32 fastest benchmark_limit verbose allow_fp16_reduced_precision_reduction "
    "allow_bf16_reduced_precision_reduction max_size".split()
)
_VERSION = "torch.version.cuda"
_METHODS = frozenset(("torch.Tensor.cuda", "torch.nn.Module.cuda"))
_STORAGE = lazy_compile(r"[sS]torage\w*(?:\(\))?\.cuda$")
_PARSERS = frozenset(("float", "int", "LooseVersion", "StrictVersion", "Version", "parse", "parse_version"))
_PARTS = ("amp", "comm", "nccl", "nvtx", "random", "profiler", "streams")  # modules of torch.cuda


@fact_kind("cuda")
class CudaMethod(CudaUse):
    """``Tensor.cuda`` or ``Module.cuda`` is passed on or stored; the name is its canonical name."""

    form: Literal["method"] = "method"
    """How CUDA is used."""
    breaks: bool = True
    """Whether it raises where torch has no CUDA."""
    counterpart: str = "npu"
    """The NPU's name for it."""

    @attribute
    def covered(self) -> bool:
        """Whether transfer_to_npu replaces it."""
        return True

    @attribute
    def receiver(self) -> Literal["module", "tensor", "storage", "unknown"]:
        """What the method belongs to."""
        return "tensor"

    @attribute
    def guarded(self) -> bool:
        """Whether it is tried, stands in what a conditional expression gives on CUDA, or in an own ``cuda`` method."""
        return is_guarded(self.scope, self.span)

    @property
    def own_move(self) -> Move:
        """See `CudaUse.own_move`."""
        return "name"


@fact_kind("cuda")
class CudaMethodCall(CudaMethod):
    """``.cuda()`` is called; the name is ``cuda``."""

    @attribute
    def holder(self) -> str:
        """The canonical name of what it is called on."""
        return "" if self.call is None else self.call.name.removesuffix(".cuda")

    @attribute
    def covered(self) -> bool:
        """Whether transfer_to_npu replaces it."""
        return self.receiver != "storage"

    @attribute
    def receiver(self) -> Literal["module", "tensor", "storage", "unknown"]:
        """What it is called on."""
        if _STORAGE.search(f"{self.holder}.cuda"):
            return "storage"
        if self.holder.startswith("torch.nn.") or (":" in self.holder and not self.holder.startswith("?")):
            return "module"
        return "tensor" if self.holder.startswith("torch.") else "unknown"

    @attribute
    def guarded(self) -> bool:
        """Whether it is tried, stands in what a conditional expression gives on CUDA, or in an own ``cuda`` method."""
        return self.call is not None and is_guarded(self.scope, self.call.span)

    @attribute
    def ported(self) -> bool:
        """Whether its file names the NPU anywhere."""
        return known.ported(self.scope)

    @attribute
    def given(self) -> Given:
        """When it runs: ``only`` where the device that it gets is given (``if gpu is not None: x.cuda(gpu)``),
        ``otherwise`` where none is, or in ``any`` case."""
        return "any" if self.call is None else where_given(self.call)

    @property
    def own_move(self) -> Move:
        """See `CudaUse.own_move`."""
        return "none" if self.receiver == "unknown" and may_be_own_method(self.scope, self.holder) else "name"


@fact_kind("cuda")
class CudaMemberCall(CudaUse):
    """A member of torch.cuda is called; the name is its canonical name."""

    @attribute
    def form(self) -> Literal["available", "type", "api"]:
        """How CUDA is used: a question whether there is any, a type of tensors, or another member."""
        return "available" if self.name in known.AVAILABLE else "type" if known.TENSOR_TYPE.match(self.name) else "api"

    @attribute
    def counterpart(self) -> str:
        """The NPU's name for it, or ``none``."""
        return known.counterpart(self.name)

    @attribute
    def covered(self) -> Flag:
        """Whether transfer_to_npu replaces it."""
        if self.form == "type":
            return "no" if "Double" in self.name else "yes"
        return known.covered(self.name)

    @attribute
    def breaks(self) -> Flag:
        """Whether it raises where torch has no CUDA."""
        return known.breaks(self.name)

    @attribute
    def group(self) -> known.Group:
        """What it is for."""
        return known.group(self.name)

    @attribute
    def guarded(self) -> bool:
        """Whether it is tried, stands in what a conditional expression gives on CUDA, or in an own ``cuda`` method, or
        is called by a name that stands for one of several."""
        return (self.call is not None and _is_of_choice(self.call)) or is_guarded(self.scope, self.span)

    @attribute
    def ported(self) -> bool:
        """Whether its file names the NPU anywhere."""
        return known.ported(self.scope)

    @attribute
    def unread(self) -> bool:
        """Whether what it gives is kept under a name that nothing reads."""
        return self.call is not None and is_never_read(self.call)

    @attribute
    def matters(self) -> bool:
        """Whether a run on an NPU server may miss something because of it (see there); not next to the same call for
        the NPU in its function."""
        if self.form == "api" and self.breaks == "no" and self.counterpart in _called_beside(self.scope):
            return False
        return super().matters

    @property
    def question(self) -> Expr | None:
        """See `CudaUse.question`."""
        return self.call.result if self.form == "available" and self.call is not None else None

    @property
    def is_choice(self) -> bool:
        """See `CudaUse.is_choice`."""
        return self.form == "available"

    @property
    def may_be_key(self) -> bool:
        """See `CudaUse.may_be_key`."""
        return self.form == "available"

    @property
    def own_move(self) -> Move:
        """See `CudaUse.own_move`."""
        if self.form == "type" and is_default_type(self.scope, self.span):
            return move_of_default_type(self.name)
        if self.form == "available" and self._is_beside_kernels:
            return "none"
        return "none" if self.covered != "yes" else move_of_member(self.name)

    @property
    def _is_beside_kernels(self) -> bool:
        """Whether its line also tests ``is_cuda`` to choose a kernel for CUDA, which stays."""
        read = expressions(self.scope, "attribute") if has_kernels(self.scope) else ()
        return any(
            expression_place.span.line == self.span.line and expression_place.expression.dotted.endswith(".is_cuda")
            for expression_place in read
        )


@fact_kind("cuda")
class CudaMention(CudaMemberCall):
    """A member of torch.cuda is passed on or stored instead of called; the name is its canonical name."""

    @attribute
    def breaks(self) -> Flag:
        """Whether it raises where torch has no CUDA: not before it is called."""
        return "no"

    @attribute
    def mentioned(self) -> bool:
        """Whether it is passed on or kept instead of called."""
        return True

    @attribute
    def direct(self) -> bool:
        """Whether the file itself takes it from torch, not from a helper of the project, which may choose by device."""
        code = self.scope.module.code
        heads = {name_use.name.partition(".")[0] for name_use in code.name_uses if Span.of(name_use) == self.span}
        return any(
            import_record.alias in heads and import_record.module.partition(".")[0] == "torch"
            for import_record in code.imports
        )


@fact_kind("cuda")
class CudaFlag(CudaUse):
    """A flag of cuDNN is set or one of its functions called; the name is its canonical name."""

    form: Literal["flag"] = "flag"
    """How CUDA is used."""
    breaks: bool = False
    """Whether it raises where torch has no CUDA."""

    @attribute
    def matters(self) -> bool:
        """Whether an NPU server may come to it, and not in a function that makes runs repeatable there, too."""
        return not asks_npu_here(self.scope) and npu_server(self.scope.context).runs(self.scope, self.span.line) != "no"


@fact_kind("cuda")
class CudaVersion(CudaUse):
    """``torch.version.cuda`` is used."""

    form: Literal["version"] = "version"
    """How CUDA is used."""
    use: Literal["parsed", "read"] = "read"
    """How the version is used: parsed, or only read."""

    @attribute
    def breaks(self) -> bool:
        """Whether it raises where torch has no CUDA."""
        return self.use == "parsed"

    @attribute
    def decides(self) -> Decided:
        """What an ``and`` with it as an operand decides: `bfloat16`, `other` if that contains more than tests
        of CUDA and NCCL, or `nothing`."""
        return "nothing" if self.use == "parsed" else decided_by_version(self.scope, self.span)

    @attribute
    def guarded(self) -> bool:
        """Whether it is in a try, in the CUDA branch of a conditional expression, or in a project's ``cuda`` method."""
        return is_guarded(self.scope, self.span)


def _uses_cuda(name: str) -> bool:
    """Whether a canonical name is a member of torch.cuda, a cuDNN flag, or ``.cuda()`` of any object."""
    if name.endswith(".cuda"):
        return not name.startswith(_FOREIGN)
    return name.startswith((known.CUDA, *_FLAGS, _VERSION)) and name not in known.CAPABILITY


@recognizes(matching=_uses_cuda)
def cuda_calls(call: CallSite) -> list[CudaUse]:
    """A fact for each call that needs or tests for a CUDA device."""
    name = call.name
    if name.endswith(".cuda"):
        return [] if scope_named(call.context, name) else [_method(call)]
    if name.startswith(_VERSION):
        use: Literal["parsed", "read"] = "read" if _is_never_called(call) else "parsed"
        return [CudaVersion(call.scope, call.span, _VERSION, call, use=use)]
    if name.startswith(_FLAGS):
        return [CudaFlag(call.scope, call.span, name, call)]
    return [] if "(" in name else [CudaMemberCall(call.scope, call.span, name, call)]


@recognizes_in_modules
def cuda_mentions(module: Scope) -> Iterator[CudaUse]:
    """Members of torch.cuda and ``Tensor.cuda`` that are passed on or stored instead of called, and flags."""
    for use in names_used(module, "torch."):
        name = use.name
        if "(" in name or name in (known.CUDA[:-1], *_FLAGS):
            continue
        if name == _VERSION:
            yield CudaVersion(use.scope, use.span, name, use="parsed" if _is_parsed(module, use) else "read")
        elif name in _METHODS:
            yield CudaMethod(use.scope, use.span, name)
        elif name.startswith(known.CUDA) and name.removeprefix(known.CUDA) not in _PARTS:
            yield CudaMention(use.scope, use.span, name)
    for assignment in module.assignments_to(*_FLAG_NAMES):
        name = assignment.name
        if "." in assignment.target and name.startswith(_FLAGS):
            yield CudaFlag(assignment.scope, assignment.span, name, assignment=assignment)


def _called_beside(scope: Scope) -> set[str]:
    """The names of what the function around also calls."""
    return {call.name for call in scope.routine.calls}


def _method(call: CallSite) -> CudaMethodCall:
    """The fact for ``x.cuda()``; for a call of several lines at its end."""
    span = call.span
    if span.line != span.end_line and not call.args:
        span = end_of(span, ".cuda()")
    return CudaMethodCall(call.scope, span, "cuda", call)


def _is_never_called(call: CallSite) -> bool:
    """Whether code is in a function of a module that nothing in the project calls or names."""
    function = call.scope.function
    if function is None or call.scope.owner is not None or function.callers:
        return False
    modules = call.context.project.modules.values()
    return not any(
        use.name.rpartition(".")[2] == function.record.name for module in modules for use in module.code.name_uses
    )


def _is_of_choice(call: CallSite) -> bool:
    """Whether the called name stands for one of several functions: ``kind = torch.cuda.X if cuda else torch.X``."""
    name = call.written
    return (
        name != ""
        and "." not in name
        and any(assignment.value.operator in ("if", "or") for assignment in call.callee.assignments)
    )


def _is_parsed(module: Scope, use: NamePlace) -> bool:
    """Whether ``torch.version.cuda`` is passed to a function that parses versions."""
    calls = (call for call in module.calls_named(*_PARSERS) if call.line == use.line and call.scope is use.scope)
    return any(argument.written == use.record.name for call in calls for argument in call.args)
