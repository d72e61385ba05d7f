"""What only TensorFlow projects are asked: sessions, optimizers, settings, the input pipeline …, one module per area.

A part has ``wants(name)`` and ``of_call(context, module, index, name)`` for the calls that it wants;
`OF_MODULE` give the facts of a module that are no calls.
"""

from npulint.assemble.recognise.tensorflow import (
    cost,
    devices,
    graph,
    initialisers,
    inputs,
    optimizers,
    protos,
    runs,
    sessions,
    settings,
    steps,
)

PARTS = (sessions, optimizers, steps, runs, initialisers, inputs, graph, cost, devices)
OF_MODULE = (settings.of_module, protos.of_module)
