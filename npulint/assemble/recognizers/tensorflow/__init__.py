"""What only TensorFlow projects are asked: sessions, optimizers, settings, the input pipeline …, one module per area.

A part has ``matches(name)`` and ``facts_for_call(context, module, index, name)`` for the calls that it wants;
`FACTS_FOR_MODULE` give the facts of a module that are no calls.
"""

from npulint.assemble.recognizers.tensorflow import (
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
FACTS_FOR_MODULE = (
    settings.facts_for_module,
    protos.facts_for_module,
    opening.facts_for_module,
    small_constants.facts_for_module,
)
