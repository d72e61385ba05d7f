"""What code decides by the version of CUDA."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from npulint.facts.model import Span
from npulint.model.running.code_places import returned_values
from npulint.model.values.context import once_per_file
from npulint.model.values.cursors import Expr, Scope

Decided = Literal["bfloat16", "other", "nothing"]

_VERSION = "torch.version.cuda"
_ASKED = "is_bf16_supported"
_ABOUT_GPUS = (
    _VERSION,
    "torch.cuda.is_bf16_supported",
    "torch.npu.is_bf16_supported",
    "torch.cuda.is_available",
    "torch.npu.is_available",
    "torch.cuda.get_device_capability",
    "torch.cuda.nccl.version",
    "torch.distributed.is_nccl_available",
    "torch.distributed.is_hccl_available",
)


def decided_by_version(scope: Scope, span: Span) -> Decided:
    """What an ``and`` decides of which ``torch.version.cuda`` at a place is an operand, with a question whether the
    device has bfloat16; `other` if it contains more than tests of CUDA and NCCL."""
    tests = [
        expr for expr in _tests(scope) if expr.scope.routine.block == scope.routine.block and expr.line <= span.line
    ]
    if not tests:
        return "nothing"
    test = max(tests, key=lambda expr: expr.line)
    return "bfloat16" if all(map(_is_about_gpus, test.operands("and"))) else "other"


@once_per_file
def _tests(module: Scope) -> list[Expr]:
    """The conjunctions of a file, assigned or returned, that test for a version of CUDA and for bfloat16."""
    values = [*(assignment.value for assignment in module.assignments), *returned_values(module)]
    return [value for value in values if value.operator == "and" and _is_test(value.operands("and"))]


def _is_test(operands: list[Expr]) -> bool:
    asked = any(operand.call is not None and operand.call.last == _ASKED for operand in operands)
    return asked and any(operand.name == _VERSION for operand in operands)


def _is_about_gpus(operand: Expr) -> bool:
    return any(_called(expr).startswith(_ABOUT_GPUS) for expr in _written_in(operand))


def _called(value: Expr) -> str:
    return value.call.name if value.call is not None else value.name


def _written_in(value: Expr) -> Iterator[Expr]:
    """An expression and all that it is put together from."""
    yield value
    for part in value.parts:
        yield from _written_in(part)
