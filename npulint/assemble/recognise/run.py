"""Every recogniser over every call and assignment of a project, in one sweep."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial

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
    torch,
)
from npulint.assemble.recognise.protos import Protos
from npulint.assemble.recognise.settings import settings
from npulint.facts.model import Fact

_Recogniser = Callable[[Module, int, str], list[Fact]]
_PARTS = (calls, commands, optimizers, steps, runs, initialisers, inputs, graph, cost, devices)
_TORCH_PARTS = torch.PARTS
_TORCH_ROOTS = ("torch", "torch_npu", "torchvision", "apex", "pytorch_lightning", "lightning", "accelerate")
_WANTS: tuple[Callable[[str], bool], ...] = (sessions.wants, *(part.wants for part in _PARTS))
_TORCH_WANTS: tuple[Callable[[str], bool], ...] = tuple(part.wants for part in _TORCH_PARTS)
_OF_CALL: tuple[Callable[[Context, Module, int, str], list[Fact]], ...] = tuple(part.of_call for part in _PARTS)


def recognise(context: Context) -> dict[str, list[Fact]]:
    """Domain facts per path of a project. Which recognisers want a callee is asked once per name."""
    protos = Protos(context)
    able = _recognisers(context, protos)
    with_torch = _uses_torch(context)
    torch_able = [partial(part.of_call, context) for part in _TORCH_PARTS] if with_torch else []
    facts: dict[str, list[Fact]] = {}
    for path, module in context.project.modules.items():
        found = facts.setdefault(path, [])
        for index, name in enumerate(context.names.of_calls(module)):
            for taker in _takers(name):
                found += able[taker](module, index, name)
            if with_torch:
                for taker in _torch_takers(name):
                    found += torch_able[taker](module, index, name)
        found += calls.of_module(context, module)
        found += settings(context, protos, module)
        found += protos.facts(module)
        if with_torch:
            for part in _TORCH_PARTS:
                found += part.of_module(context, module)
    return facts


def _uses_torch(context: Context) -> bool:
    return any(
        record.module.partition(".")[0] in _TORCH_ROOTS and not record.level
        for module in context.project.modules.values()
        for record in module.code.imports
    )


@lru_cache(maxsize=20_000)
def _torch_takers(name: str) -> tuple[int, ...]:
    """The same of the parts that only PyTorch projects are asked."""
    return tuple(position for position, wants in enumerate(_TORCH_WANTS) if wants(name))


@lru_cache(maxsize=20_000)
def _takers(name: str) -> tuple[int, ...]:
    """Which recognisers want a callee, by their positions."""
    return tuple(position for position, wants in enumerate(_WANTS) if wants(name))


def _recognisers(context: Context, protos: Protos) -> list[_Recogniser]:
    able: list[_Recogniser] = [sessions.Sessions(context, protos).of_call]
    return able + [partial(of_call, context) for of_call in _OF_CALL]
