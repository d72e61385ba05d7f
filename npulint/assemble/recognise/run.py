"""Every recogniser over every call and assignment of a project, in one sweep."""

from __future__ import annotations

from npulint.assemble.context import Context
from npulint.assemble.recognise import calls, devices, graph, inputs, training
from npulint.assemble.recognise.protos import Protos
from npulint.assemble.recognise.sessions import Sessions
from npulint.assemble.recognise.settings import settings
from npulint.facts.model import Fact


def recognise(context: Context) -> dict[str, list[Fact]]:
    """Domain facts per path of a project."""
    protos = Protos(context)
    sessions = Sessions(context, protos)
    facts: dict[str, list[Fact]] = {}
    for path, module in context.project.modules.items():
        found = facts.setdefault(path, [])
        for index in range(len(module.code.calls)):
            name = context.names.of_call(module, index)
            found += calls.of_call(context, module, index, name)
            found += sessions.of_call(module, index, name)
            found += training.of_call(context, module, index, name)
            found += inputs.of_call(context, module, index, name)
            found += graph.of_call(context, module, index, name)
            found += devices.of_call(context, module, index, name)
        found += calls.of_module(context, module)
        found += settings(context, protos, module)
        found += protos.facts(module)
    return facts
