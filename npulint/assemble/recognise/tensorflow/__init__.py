"""What only TensorFlow projects are asked: sessions, optimizers, settings, the input pipeline …, one module per area.

A part has ``wants(name)`` and ``of_call(context, module, index, name)`` for the calls that it wants;
`OF_MODULE` give the facts of a module that are no calls.
"""

from npulint.assemble.recognise.tensorflow import (
    apis,
    checkpoints,
    compiling,
    cost,
    devices,
    graph,
    hand_scaling,
    hooks,
    host,
    initialisers,
    inputs,
    joint,
    opening,
    optimizers,
    protos,
    runs,
    scaling,
    sessions,
    settings,
    small_constants,
    step_counts,
    steps,
    tapes,
    towers,
)

PARTS = (
    sessions,
    optimizers,
    scaling,
    steps,
    step_counts,
    joint,
    hand_scaling,
    hooks,
    runs,
    checkpoints,
    initialisers,
    inputs,
    graph,
    cost,
    devices,
    host,
    apis,
    tapes,
    compiling,
    towers,
)
OF_MODULE = (settings.of_module, protos.of_module, opening.of_module, small_constants.of_module)
