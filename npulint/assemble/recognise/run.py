"""Every recogniser over every call and assignment of a project, in one sweep."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Protocol

from npulint.assemble.context import Context
from npulint.assemble.module import Module
from npulint.assemble.recognise import (
    calls,
    commands,
    cost,
    devices,
    graph,
    initialisers,
    inputs,
    optimizers,
    runs,
    sessions,
    steps,
)
from npulint.assemble.recognise.protos import Protos
from npulint.assemble.recognise.settings import settings
from npulint.facts.model import Fact


class _Part(Protocol):
    """A module of recognisers."""

    def wants(self, name: str) -> bool: ...
    def of_call(self, context: Context, module: Module, index: int, name: str) -> list[Fact]: ...
    def of_module(self, context: Context, module: Module) -> list[Fact]: ...


_Wants = Callable[[str], bool]
_Recogniser = Callable[[Module, int, str], list[Fact]]
_COMMON = (calls, commands)
_TENSORFLOW = (optimizers, steps, runs, initialisers, inputs, graph, cost, devices)
_TENSORFLOW_ROOTS = frozenset(
    "tensorflow tensorflow_core tensorflow_estimator tensorlayer tflearn tensorpack tf_slim tf_keras keras horovod "
    "npu_bridge npu_device hccl precision_tool tfdbg_ascend".split()
)
_TORCH_ROOTS = frozenset("torch torch_npu torchvision apex pytorch_lightning lightning accelerate".split())


def recognise(context: Context) -> dict[str, list[Fact]]:
    """Domain facts per path of a project. Only the recognisers of the frameworks that it imports are asked, and
    which of them want a callee once per name."""
    roots = _imported(context)
    tensorflow, torches = not roots.isdisjoint(_TENSORFLOW_ROOTS), not roots.isdisjoint(_TORCH_ROOTS)
    protos = Protos(context) if tensorflow else None
    able = _able(context, protos, torches)
    known: dict[str, tuple[_Recogniser, ...]] = {}
    facts: dict[str, list[Fact]] = {}
    for path, module in context.project.modules.items():
        found = facts.setdefault(path, [])
        for index, name in enumerate(context.names.of_calls(module)):
            takers = known.get(name)
            if takers is None:
                takers = known[name] = tuple([able[place] for place in _takers(name, tensorflow, torches)])
            for taker in takers:
                found += taker(module, index, name)
        found += calls.of_module(context, module)
        if protos is not None:
            found += settings(context, protos, module)
            found += protos.facts(module)
        for part in _torch(torches):
            found += part.of_module(context, module)
    return facts


def _torch(wanted: bool) -> tuple[_Part, ...]:
    """The parts for PyTorch; projects without it do not even load them."""
    if not wanted:
        return ()
    from npulint.assemble.recognise.torch import PARTS

    return PARTS


def _imported(context: Context) -> set[str]:
    """The roots of all absolute imports of a project."""
    return {
        record.module.partition(".")[0]
        for module in context.project.modules.values()
        for record in module.code.imports
        if not record.level
    }


def _able(context: Context, protos: Protos | None, torches: bool) -> list[_Recogniser]:
    """The recognisers in the order of `_wants`."""
    able: list[_Recogniser] = [partial(part.of_call, context) for part in _COMMON]
    if protos is not None:
        able.append(sessions.Sessions(context, protos).of_call)
        able += [partial(part.of_call, context) for part in _TENSORFLOW]
    return able + [partial(part.of_call, context) for part in _torch(torches)]


@lru_cache(maxsize=4)
def _wants(tensorflow: bool, torches: bool) -> tuple[_Wants, ...]:
    wants: list[_Wants] = [part.wants for part in _COMMON]
    if tensorflow:
        wants += [sessions.wants, *(part.wants for part in _TENSORFLOW)]
    return (*wants, *(part.wants for part in _torch(torches)))


@lru_cache(maxsize=20_000)
def _takers(name: str, tensorflow: bool, torches: bool) -> tuple[int, ...]:
    """Which recognisers want a callee, by their positions."""
    return tuple([position for position, wants in enumerate(_wants(tensorflow, torches)) if wants(name)])
