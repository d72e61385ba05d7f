"""Triton kernels, and what they use that triton-ascend does not support."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from npulint.core.lazy_regex import lazy_compile
from npulint.data.triton_limits import lacks
from npulint.facts.attributes import attribute
from npulint.facts.kinds import fact_kind
from npulint.facts.model import Span
from npulint.model.running.code_facts import PlaceFact
from npulint.model.values.cursors import CallSite, Expr, Scope
from npulint.model.values.walker import walker
from npulint.recognizers.registry import recognizes_in_modules
from npulint.recognizers.triton.code import has_version_for_npu, kernels, triton_name
from npulint.recognizers.triton.shapes import LANGUAGE, member

# Instructions of PTX have types and modifiers behind dots; comments and braces are those of its blocks.
_PTX = lazy_compile(r"(?:^|[\s;{])[a-z0-9]+(?:\.[a-z0-9]+)*\.(?:approx|[busf](?:8|16|32|64)|f16x2|bf16x2|pred)\b")
_TYPED = frozenset(("to", "cast"))
_KEEPING = frozenset(("+", "-", "*", "//", "%", "<<", ">>", "&", "|", "^"))


@fact_kind("triton_kernel")
class TritonKernel(PlaceFact):
    """A function is compiled by Triton; the name is the function's."""

    @attribute
    def names_npu(self) -> bool:
        """Whether its file names the NPU, so that the kernel was written or changed for it."""
        return self.scope.module.code.npu


@fact_kind("triton_assembly")
class TritonAssembly(PlaceFact):
    """A Triton kernel contains PTX, the assembly of NVIDIA GPUs; the name is the kernel's."""


@fact_kind("triton_type")
class TritonType(PlaceFact):
    """An operation of a Triton kernel has an element type that it lacks on A2 and A3; the name is the operation's."""

    kernel: str
    """The name of the kernel."""
    dtype: str
    """The element type."""


@recognizes_in_modules
def triton_kernels(module: Scope) -> Iterator[PlaceFact]:
    """The kernels of a module, with what they use unless the project has others for the NPU."""
    replaced = has_version_for_npu(module)
    for kernel in kernels(module):
        name = kernel.last_name
        yield TritonKernel(module.at(max(kernel.record.parent, 0)), Span.at(kernel.record.line), name)
        if not replaced:
            yield from (
                TritonAssembly(call.scope, call.span, name)
                for call in kernel.calls
                if _always(call.scope) and _is_ptx(call)
            )
            yield from _types(kernel)


def _always(scope: Scope) -> bool:
    """Whether a block of a kernel runs in all its variants: a compile-time parameter may switch branches off."""
    inner = itertools.takewhile(lambda ancestor: ancestor.kind != "function", scope.ancestors)
    return all(ancestor.kind not in ("if", "else") for ancestor in inner)


def _is_ptx(call: CallSite) -> bool:
    text = call.argument("asm", 0) if member(call) == "inline_asm_elementwise" else None
    assembly = None if text is None else text.single
    return isinstance(assembly, str) and _PTX.search(assembly) is not None


def _types(kernel: Scope) -> Iterator[TritonType]:
    """The operations of a kernel on types that they lack, one for each operation and type."""
    seen = set()
    places = [
        (local_assignment.value, Span.at(local_assignment.line))
        for local_assignment in kernel.local_assignments
        if _always(local_assignment.scope)
    ]
    places += [(call.result, call.span) for call in kernel.calls if _always(call.scope)]
    for value, span in sorted(places, key=lambda place: place[1].line):
        for part in value.nested:
            operation = _operation(part)
            kinds = _types_of(part) if lacks(operation) else frozenset()
            for kind in sorted(kinds.intersection(lacks(operation))):
                if (operation, kind) not in seen:
                    seen.add((operation, kind))
                    yield TritonType(value.scope, span, operation, kernel.last_name, kind)


def _operation(value: Expr) -> str:
    call = value.call
    if call is None:
        return value.operator
    return member(call) or (call.last if call.last in _TYPED else "")


def _types_of(value: Expr) -> frozenset[str]:
    """The element types that an operation takes or makes."""
    call = value.call
    if call is None:
        return frozenset(kind for operand in value.operands() if (kind := _type(operand)))
    if member(call).startswith("atomic"):
        given = call.argument("val", 1)
        return frozenset() if given is None else frozenset((_type(given),))
    return frozenset((_type(value),))


@walker(depth=24, otherwise=str)
def _type(value: Expr) -> str:
    """The element type of a tile, such as ``uint32``; empty if unknown."""
    call = value.call
    if call is not None:
        name = member(call)
        if name and name not in ("zeros", "full", "cast"):
            return ""
        place = {"full": 2, "zeros": 1, "cast": 1}.get(name, 0)
        made = call.argument("dtype", place) if name or call.last == "to" else None
        kind = "" if made is None else triton_name(made.name)
        return kind.removeprefix(LANGUAGE) if kind.startswith(LANGUAGE) else ""
    if value.written:
        types = {_type(assignment.value) for assignment in value.assignments} if value.passed_to is None else set()
        return types.pop() if len(types) == 1 else ""
    if value.operator in _KEEPING:
        kinds = {kind for operand in value.operands() if (kind := _type(operand))}
        return kinds.pop() if len(kinds) == 1 else ""
    return ""
