"""Devices that somebody chooses: defaults of parameters and options for CUDA that need not happen on an NPU server."""

from __future__ import annotations

from collections.abc import Iterator

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.code import CallResult
from npulint.model.running.code_places import operations
from npulint.model.values.context import Context, once, once_per_file
from npulint.model.values.cursors import CallSite, Expr, Scope, module_scopes
from npulint.model.values.script_role import is_test_file
from npulint.recognizers.torch.device_texts import is_device_name

_NPU = lazy_compile(r"^npu\b")
_COMPARING = ("==", "!=", "in", "not in")
_KIND = lazy_compile(r"[._](?:type|name|str)$")


@once
def npu_choices(context: Context) -> frozenset[str]:
    """The customary names of devices (see `choice_of`) that the project compares with the NPU: it is one of their
    values."""
    modules = (module for module in module_scopes(context) if module.module.code.npu and not is_test_file(module.path))
    return frozenset(choice_of(name) for module in modules for _, name in _compared_with_npu(module))


def choice_of(name: str) -> str:
    """The last segment of a name for a device without what says that it is only its kind: ``device`` of
    ``args.device``, ``device.type`` and ``device_type``."""
    return _KIND.sub("", name).rpartition(".")[2].lower()


@once_per_file
def _compared_with_npu(module: Scope) -> frozenset[tuple[int, str]]:
    """The customary names of devices that a file compares with the NPU, each with the block of the function around."""
    found = ((operation.scope, name) for operation in operations(module, *_COMPARING) for name in _subjects(operation))
    return frozenset((scope.routine.block, name) for scope, name in found if is_device_name(_KIND.sub("", name)))


def _subjects(comparison: Expr) -> Iterator[str]:
    """The names that a comparison compares with a text for the NPU."""
    left, right = comparison.operands()
    for subject, other in ((left, right), (right, left)):
        if subject.written and any(_NPU.search(expr.text) for expr in (*other.items, other)):
            yield subject.written


@once_per_file
def computed_defaults(module: Scope) -> dict[int, tuple[Scope, str]]:
    """The functions and parameters of a file whose defaults are the results of calls (``device=torch.device("cuda")``),
    by the number of the call."""
    return {
        value.value.call: (function, name)
        for function in module.blocks_of("function")
        for name, value in function.defaults
        if isinstance(value.value, CallResult)
    }


def leaving_out(function: Scope, parameter: str) -> list[CallSite] | None:
    """The project's calls that use the default of a parameter, apart from those of tests: none also if nothing calls a
    function of that name, or the function itself compares the parameter with the NPU. None if the calls are unknown."""
    compared = _compared_with_npu(function)
    if any(block == function.block and _KIND.sub("", name) == parameter for block, name in compared):
        return []
    passed = [(call, value) for call, value in function.passed(parameter) if not is_test_file(call.path)]
    if passed:
        return [call for call, value in passed if value is None and not call.starred]
    owner = function.owner
    name = owner.last_name if owner is not None and function.last_name == "__init__" else function.last_name
    modules = (module for module in module_scopes(function.context) if not is_test_file(module.path))
    return None if any(module.module.calls_of(name) for module in modules) else []
