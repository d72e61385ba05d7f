"""Runs every recognizer over the calls and modules of a project, in one pass."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Iterable
from functools import cache, lru_cache
from importlib import import_module
from types import ModuleType

from npulint.core.cancellation import checkpoint
from npulint.data.training_calls import training_packages
from npulint.facts.code import Ref
from npulint.facts.model import Fact
from npulint.model.code.module import Module
from npulint.model.values.context import Context
from npulint.model.values.cursors import CallSite, call_at, scope_at
from npulint.recognizers.registry import OF_CALLS, OF_MODULES, CallRecognizer, ModuleRecognizer

# From framework (and recognizer package) to the imports that enable its recognizers.
_ROOTS = {
    "tensorflow": frozenset(
        "tensorflow tensorflow_core tensorflow_estimator tensorlayer tflearn tensorpack tf_slim tf_keras keras horovod "
        "npu_bridge npu_device hccl precision_tool tfdbg_ascend".split()
    ),
    "torch": frozenset(
        "torch torch_npu torchvision apex lightning_fabric accelerate deepspeed detectron2 transformers trl".split()
    )
    | training_packages(),
    "triton": frozenset(("triton",)),
}
_MAP = "parameter_map"  # of a custom optimizer of TensorFlow
Frameworks = tuple[str, ...]
Maker = Callable[[CallSite], Iterable[Fact]]


def recognise(context: Context) -> dict[str, list[Fact]]:
    """The facts of a project by path. Only the recognizers of imported frameworks run, and which of them handle a
    callee is decided once per name."""
    frameworks = _frameworks(context)
    of_modules = _of_modules(frameworks)
    makers_of: dict[str, tuple[Maker, ...]] = {}
    facts: dict[str, list[Fact]] = {}
    for path, module in context.project.modules.items():
        checkpoint()
        module_facts = facts.setdefault(path, [])
        for index, name in enumerate(context.names.of_calls(module)):
            makers = makers_of.get(name)
            if makers is None:
                makers = makers_of[name] = _makers(name, frameworks)
            if makers:
                call = call_at(context, module, index)
                for make in makers:
                    module_facts += make(call)
        for of_module in of_modules:
            module_facts += of_module(scope_at(context, module, 0))
    return facts


def _frameworks(context: Context) -> Frameworks:
    """The recognizer packages to run: the one for all Python code and those of the frameworks that a project
    imports."""
    roots = {
        record.module.partition(".")[0]
        for module in context.project.modules.values()
        for record in module.code.imports
        if not record.level
    }
    used = {name for name, packages in _ROOTS.items() if not roots.isdisjoint(packages)}
    if any(module.derive(_configures_adapter) for module in context.project.modules.values()):
        used.add("tensorflow")
    return ("python", *(name for name in _ROOTS if name in used))


def _configures_adapter(module: Module) -> bool:
    """Whether a module uses the parameter map of a custom optimizer, for which it need not import anything."""
    if any(f".{_MAP}" in target for target in module.dotted):
        return True
    return any(
        isinstance(assignment.value, Ref) and assignment.value.name.endswith(f".{_MAP}")
        for assignment in module.code.assignments
    )


@cache
def _modules(framework: str) -> tuple[ModuleType, ...]:
    """The recognizer modules of a framework, imported on first use."""
    package = import_module(f"npulint.recognizers.{framework}")
    submodules = pkgutil.iter_modules(package.__path__, f"{package.__name__}.")
    return tuple([import_module(module.name) for module in submodules])


@cache
def _of_calls(frameworks: Frameworks) -> tuple[CallRecognizer, ...]:
    """The call recognizers of some packages, in the order of their modules."""
    modules = [module.__name__ for name in frameworks for module in _modules(name)]
    return tuple([call_recognizer for module in modules for call_recognizer in OF_CALLS.get(module, ())])


@cache
def _of_modules(frameworks: Frameworks) -> tuple[ModuleRecognizer, ...]:
    """The module recognizers of some packages, in the order of their modules."""
    modules = [module.__name__ for name in frameworks for module in _modules(name)]
    return tuple([recognizer for module in modules for recognizer in OF_MODULES.get(module, ())])


@cache
def _by_name(frameworks: Frameworks) -> dict[str, list[tuple[int, Maker]]]:
    """By canonical name the recognisers that name it, with their places in the order of all."""
    makers_of: dict[str, list[tuple[int, Maker]]] = {}
    for place, call_recognizer in enumerate(_of_calls(frameworks)):
        for name in call_recognizer.names:
            makers_of.setdefault(name, []).append((place, call_recognizer.facts))
    return makers_of


@cache
def _matching(frameworks: Frameworks) -> tuple[tuple[int, Callable[[str], bool], Maker], ...]:
    """The recognisers that accept names by a function, with their places in the order of all."""
    numbered = enumerate(_of_calls(frameworks))
    return tuple(
        [
            (place, call_recognizer.matching, call_recognizer.facts)
            for place, call_recognizer in numbered
            if call_recognizer.matching is not None
        ]
    )


@lru_cache(maxsize=20_000)
def _makers(name: str, frameworks: Frameworks) -> tuple[Maker, ...]:
    """The recognizers that handle the calls of a canonical name."""
    makers = [(place, make) for place, matches, make in _matching(frameworks) if matches(name)]
    makers += _by_name(frameworks).get(name, ())
    makers.sort(key=lambda placed: placed[0])
    return tuple([make for _, make in makers])
