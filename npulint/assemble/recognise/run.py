"""Every recogniser over every call and assignment of a project, in one sweep."""

from __future__ import annotations

from collections.abc import Callable

from npulint.assemble.context import Context
from npulint.assemble.module import Module
from npulint.assemble.recognise import calls, cost, devices, graph, initialisers, inputs, sessions, training
from npulint.assemble.recognise.protos import Protos
from npulint.assemble.recognise.settings import settings
from npulint.facts.model import Fact

_Recogniser = Callable[[Module, int, str], list[Fact]]


def recognise(context: Context) -> dict[str, list[Fact]]:
    """Domain facts per path of a project. Which recognisers want a callee is asked once per name."""
    protos = Protos(context)
    able = _recognisers(context, protos)
    wanted: dict[str, list[_Recogniser]] = {}
    facts: dict[str, list[Fact]] = {}
    for path, module in context.project.modules.items():
        found = facts.setdefault(path, [])
        for index in range(len(module.code.calls)):
            name = context.names.of_call(module, index)
            takers = wanted.get(name)
            if takers is None:
                takers = wanted[name] = [take for wants, take in able if wants(name)]
            for take in takers:
                found += take(module, index, name)
        found += calls.of_module(context, module)
        found += settings(context, protos, module)
        found += protos.facts(module)
    return facts


def _recognisers(context: Context, protos: Protos) -> list[tuple[Callable[[str], bool], _Recogniser]]:
    able: list[tuple[Callable[[str], bool], _Recogniser]] = [(sessions.wants, sessions.Sessions(context, protos).of_call)]
    for part in (calls, training, initialisers, inputs, graph, cost, devices):
        able.append((part.wants, _bound(part.of_call, context)))
    return able


def _bound(function: Callable[[Context, Module, int, str], list[Fact]], context: Context) -> _Recogniser:
    return lambda module, index, name: function(context, module, index, name)
