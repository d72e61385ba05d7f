"""Every recogniser over every call and assignment of a project, in one sweep."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache, partial
from importlib import import_module
from typing import Protocol, cast

from npulint.assemble.context import Context
from npulint.assemble.module import Module
from npulint.assemble.recognizers import calls, commands, environ
from npulint.facts.model import Fact

# By framework the imports that call for its recognisers; the package of each is named after it.
_ROOTS = {
    "tensorflow": frozenset(
        "tensorflow tensorflow_core tensorflow_estimator tensorlayer tflearn tensorpack tf_slim tf_keras keras horovod "
        "npu_bridge npu_device hccl precision_tool tfdbg_ascend".split()
    ),
    "torch": frozenset(
        "torch torch_npu torchvision apex pytorch_lightning lightning accelerate mmcv mmengine detectron2 "
        "fastai".split()
    ),
}
Frameworks = tuple[str, ...]


class _Part(Protocol):
    """A module of recognisers."""

    def matches(self, name: str) -> bool: ...
    def facts_for_call(self, context: Context, module: Module, index: int, name: str) -> list[Fact]: ...


class _Package(Protocol):
    """The recognisers of one framework."""

    PARTS: tuple[_Part, ...]
    FACTS_FOR_MODULE: tuple[Callable[[Context, Module], list[Fact]], ...]


def recognise(context: Context) -> dict[str, list[Fact]]:
    """Domain facts per path of a project. Only the recognisers of the frameworks that it imports are asked, and
    which of them want a callee once per name."""
    frameworks = _frameworks(context)
    able = [partial(part.facts_for_call, context) for part in _parts(frameworks)]
    common = (calls.facts_for_module, environ.facts_for_module)
    of_module = [*common, *(part for name in frameworks for part in _package(name).FACTS_FOR_MODULE)]
    known: dict[str, tuple[Callable[[Module, int, str], list[Fact]], ...]] = {}
    facts: dict[str, list[Fact]] = {}
    for path, module in context.project.modules.items():
        found = facts.setdefault(path, [])
        for index, name in enumerate(context.names.of_calls(module)):
            takers = known.get(name)
            if takers is None:
                takers = known[name] = tuple([able[place] for place in _takers(name, frameworks)])
            for taker in takers:
                found += taker(module, index, name)
        for part in of_module:
            found += part(context, module)
    return facts


def _frameworks(context: Context) -> Frameworks:
    """The frameworks that a project imports."""
    roots = {
        record.module.partition(".")[0]
        for module in context.project.modules.values()
        for record in module.code.imports
        if not record.level
    }
    return tuple(name for name, wanted in _ROOTS.items() if not roots.isdisjoint(wanted))


@cache
def _package(framework: str) -> _Package:
    """Loaded when a project first asks for it."""
    return cast(_Package, import_module(f"npulint.assemble.recognizers.{framework}"))


@cache
def _parts(frameworks: Frameworks) -> tuple[_Part, ...]:
    common: tuple[_Part, ...] = (calls, commands)
    return (*common, *(part for name in frameworks for part in _package(name).PARTS))


@lru_cache(maxsize=20_000)
def _takers(name: str, frameworks: Frameworks) -> tuple[int, ...]:
    """Which recognisers want a callee, by their positions."""
    return tuple([position for position, part in enumerate(_parts(frameworks)) if part.matches(name)])
