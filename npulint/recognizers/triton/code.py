"""Triton code: the kernels of a project, their autotuning configurations, and where they are launched."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping

import msgspec

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.code import CallResult, Op, Ref
from npulint.facts.values import PossibleValues
from npulint.model.code.module import Module
from npulint.model.values.arithmetic import apply
from npulint.model.values.context import Context, once
from npulint.model.values.cursors import CallSite, Expr, Scope, call_at, module_scopes, scope_named
from npulint.model.values.walker import walker

KERNEL_MAKERS = ("triton.jit", "triton.autotune", "triton.heuristics")
_HOMES = (("triton_utils.tl.", "triton.language."), ("triton_utils.tldevice.", "triton.language.extra.libdevice."))
_FOR_NPU = lazy_compile(r"(?i)(?:^|[/_-])(?:npu|ascend)")
_CEILING = frozenset(("triton.cdiv", "triton.language.cdiv"))
_POWER = frozenset(("triton.next_power_of_2", "triton.language.next_power_of_2"))
_SAME = frozenset(("triton.language.constexpr", "int"))
_LARGEST = 1 << 48  # of a size that makes sense

Sizes = Mapping[str, int]
"""The known compile-time parameters of a kernel, such as the sizes of its blocks."""


class TritonLaunch(msgspec.Struct, frozen=True, eq=False):
    """A launch ``kernel[grid](…)``: the call, its grid, and the function that is launched."""

    call: CallSite
    grid: Expr
    kernel: Scope

    @property
    def sizes(self) -> Sizes:
        """The integers that it passes, by parameter."""
        names = self.kernel.parameters
        given = dict(zip(names, self.call.args, strict=False)) | self.call.keywords | dict(self.call.spread)
        numbers = {name: number(value, {}) for name, value in self.kernel.defaults if name not in given}
        numbers |= {name: number(value, {}) for name, value in given.items()}
        return {name: size for name, size in numbers.items() if size is not None}


class TritonConfig(msgspec.Struct, frozen=True, eq=False):
    """One ``triton.Config`` of a kernel with the sizes that it chooses."""

    call: CallSite
    sizes: Sizes


def triton_name(name: str) -> str:
    """The canonical name of a member of Triton, also where vLLM passes it on.

    >>> triton_name("vllm.triton_utils.tl.load")
    'triton.language.load'
    """
    for home, real in _HOMES:
        _, separator, rest = name.partition(home)
        if separator:
            return real + rest
    _, separator, rest = name.partition("triton_utils.triton.")
    return f"triton.{rest}" if separator else name


def is_kernel(function: Scope) -> bool:
    """Whether Triton compiles a function."""
    return any(triton_name(decorator.name).removesuffix("()") in KERNEL_MAKERS for decorator in function.decorators)


def kernels(module: Scope) -> Iterator[Scope]:
    """The functions of a module that Triton compiles."""
    if any("triton" in f"{import_record.module}.{import_record.name}" for import_record in module.module.code.imports):
        yield from (scope for scope in module.blocks_of("function") if scope.record.decorators and is_kernel(scope))


def has_version_for_npu(module: Scope) -> bool:
    """Whether the project has another file of the same name in a folder for the NPU, as ``backends/ascend``: it is that
    one's kernels which an NPU server launches."""
    home, name = posixpath.split(module.path)
    return not _FOR_NPU.search(home) and name in _files_for_npu(module.context)


@once
def _files_for_npu(context: Context) -> frozenset[str]:
    """The names of the files in folders for the NPU."""
    split = (posixpath.split(module.path) for module in module_scopes(context))
    return frozenset(name for home, name in split if name != "__init__.py" and _FOR_NPU.search(home))


def configurations(kernel: Scope) -> list[TritonConfig] | None:
    """The configurations among which a kernel is tuned; empty without tuning, None if they are not all known."""
    tuners = [
        decorator.call
        for decorator in kernel.decorators
        if triton_name(decorator.name).removesuffix("()") == "triton.autotune"
    ]
    triton_configs: list[TritonConfig] = []
    for tuner in tuners:
        given = None if tuner is None else tuner.argument("configs", 0)
        lists = [] if given is None else given.displays
        if len(lists) != 1 or not lists[0].is_display or not lists[0].items:
            return None
        for item in lists[0].items:
            triton_config = _configuration(item)
            if triton_config is None:
                return None
            triton_configs.append(triton_config)
    return triton_configs


def _configuration(item: Expr) -> TritonConfig | None:
    call = item.call
    if call is None or triton_name(call.name) != "triton.Config":
        return None
    chosen = call.argument("kwargs", 0)
    if chosen is None or not chosen.is_dict:
        return None
    pairs = [(key.text, number(value, {})) for key, value in chosen.entries if key is not None]
    return TritonConfig(call, {key: size for key, size in pairs if key and size is not None})


@once
def launches(context: Context) -> list[TritonLaunch]:
    """The launches of the project's own kernels."""
    return [triton_launch for module in module_scopes(context) for triton_launch in _launches_in(module)]


def _launches_in(module: Scope) -> Iterator[TritonLaunch]:
    for index in module.module.derive(_subscripted):
        call = call_at(module.context, module.module, index)
        launched, grid = call.callee.operands()
        kernel = scope_named(module.context, launched.name)
        if kernel is not None and kernel.kind == "function" and is_kernel(kernel):
            yield TritonLaunch(call, grid, kernel)


def _subscripted(module: Module) -> tuple[int, ...]:
    """The calls of the form ``name[…](…)``."""
    return tuple([index for index, call in enumerate(module.code.calls) if _is_subscripted(call.callee)])


def _is_subscripted(callee: object) -> bool:
    return isinstance(callee, Op) and callee.op == "[]" and isinstance(callee.operands[0], Ref)


@walker(depth=24, otherwise=lambda: None)
def number(value: Expr, sizes: Sizes) -> int | None:
    """The integer that an expression surely is, given the known sizes; None if unknown. In the function that computes
    a grid, the size ``[BLOCK]`` stands for ``meta["BLOCK"]``."""
    if value.written in sizes:
        return sizes[value.written]
    if isinstance(value.value, CallResult):
        return _of_call(value, sizes)
    element = value.subscript
    if element is not None and f"[{element[1].text}]" in sizes:
        return sizes[f"[{element[1].text}]"]
    operands = value.operands()
    if operands and value.operator not in ("[]", ".", "if", "and", "or"):
        parts = [number(operand, sizes) for operand in operands]
        valueses = [PossibleValues((part,), True) for part in parts if part is not None]
        return _whole(apply(value.operator, valueses).single) if len(valueses) == len(parts) else None
    sources = value.assignments
    if len(sources) == 1 and value.passed_to is None and sources[0].value.value is not value.value:
        return number(sources[0].value, sizes)
    return _whole(value.single)


def _of_call(value: Expr, sizes: Sizes) -> int | None:
    call = value.call
    if call is None:
        return None
    name, given = triton_name(call.name), [number(argument, sizes) for argument in call.args]
    numbers = [argument for argument in given if argument is not None]
    if len(numbers) != len(given) or not numbers or call.keywords:
        return None
    if name in _CEILING and len(numbers) == 2 and numbers[1] > 0:
        return -(-numbers[0] // numbers[1])
    if name in _POWER and numbers[0] > 0:
        return 1 << (numbers[0] - 1).bit_length()
    if call.written in ("min", "max"):
        return (min if call.written == "min" else max)(numbers)
    return numbers[0] if name in _SAME or call.written == "int" else None


def in_grid(sizes: Sizes) -> Sizes:
    """The sizes as the function that computes a grid gets them."""
    return {f"[{name}]": size for name, size in sizes.items()}


def _whole(value: object) -> int | None:
    return value if type(value) is int and abs(value) < _LARGEST else None
