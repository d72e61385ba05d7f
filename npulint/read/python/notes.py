"""Recognizes expressions that are only recorded in sources with PyTorch (`npulint.facts.code.TorchExpression`)."""

from __future__ import annotations

import ast
import re

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.code import Call, CallResult, Const, Op, Ref, SequenceDisplay, Value

_DEPTH = 4  # nesting of conditions
_SHORT = 60  # characters of a text that may name a device
_CUDA = lazy_compile(r"cuda|nccl|gpu", re.IGNORECASE)
NOTED = frozenset(
    "is_cuda major minor multi_processor_count max_threads_per_multi_processor warp_size gcnArchName "
    "regs_per_multiprocessor".split()
)
_MASKS = frozenset("bool byte gt ge lt le eq ne isnan isinf isfinite logical_and logical_or logical_not".split())
_SAME = frozenset("view reshape squeeze unsqueeze expand expand_as flatten t detach clone cuda npu to".split())
_BOOLEAN = (Ref("torch.bool"), Ref("torch.uint8"))
MASK_WORDS = ("mask", "keep", "kept", "valid", "positive", "negative")
_MASKING = frozenset(("==", "!=", "<", "<=", ">", ">=", "&", "|", "~"))
COMPUTED = frozenset((ast.Compare, ast.UnaryOp, ast.BinOp, ast.Name, ast.Call, ast.Attribute, ast.Tuple))


def says_cuda(value: Value) -> bool:
    """Whether a text, a name or an element of a display mentions CUDA, GPUs or NCCL."""
    if isinstance(value, Const):
        return isinstance(value.value, str) and len(value.value) < _SHORT and _CUDA.search(value.value) is not None
    if isinstance(value, Ref):
        return ".cuda" in value.name
    return isinstance(value, SequenceDisplay) and any(says_cuda(item) for item in value.items)


def asks_cuda(test: Value, calls: list[Call], depth: int = 0) -> bool:
    """Whether a condition depends on CUDA or GPUs: ``x.is_cuda``, ``device.type == "cuda"``, ``use_gpu``."""
    if isinstance(test, Ref):
        return _CUDA.search(test.name) is not None
    if isinstance(test, Const):
        return says_cuda(test)
    if isinstance(test, Op):
        return depth < _DEPTH and any(asks_cuda(part, calls, depth + 1) for part in test.operands)
    return isinstance(test, CallResult) and depth < _DEPTH and asks_cuda(calls[test.call].callee, calls, depth + 1)


def indices_of(subscript: Value) -> tuple[Value, ...]:
    """The indices of a recorded subscript, one for each dimension."""
    index = subscript.operands[1] if isinstance(subscript, Op) else subscript
    return index.items if isinstance(index, SequenceDisplay) else (index,)


def is_mask(value: Value, calls: list[Call]) -> bool:
    """Whether a value is written as a boolean mask: a comparison, ``~m``, ``m & n``, ``m.bool()``."""
    if isinstance(value, Op):
        if value.op in ("[]", "."):  # ``left, right = (x > 0).T``
            return is_mask(value.operands[0], calls)
        return value.op in _MASKING
    if isinstance(value, CallResult):
        call = calls[value.call]
        callee = call.callee
        last = callee.name.rpartition(".")[2] if isinstance(callee, Ref) else ""
        if isinstance(callee, Op) and isinstance(callee.operands[-1], Const):
            last = str(callee.operands[-1].value)
            if last in _SAME:  # ``(x > 0).view(-1)``
                return is_mask(callee.operands[0], calls)
        return last in _MASKS or any(v in _BOOLEAN for k, v in call.keywords if k == "dtype")
    return False
