"""What only PyTorch projects are asked: devices, optimizers, training steps, loaders …, one module per area.

A part has ``matches(name)``, ``facts_for_call(context, module, index, name)`` for the calls that it wants, and
``facts_for_module(context, module)`` for the facts of a module that are no calls.
"""

from npulint.assemble.recognizers.torch import (
    affinity,
    apex_amp,
    apis,
    backends,
    clipping,
    debugging,
    devices,
    distribution,
    exports,
    extensions,
    float64,
    host_sync,
    libraries,
    loaders,
    npu_members,
    npu_ops,
    npu_options,
    optimizers,
    precision,
    scaling,
    shapes,
    steps,
)

PARTS = (
    steps,
    devices,
    optimizers,
    precision,
    apex_amp,
    scaling,
    clipping,
    apis,
    float64,
    exports,
    libraries,
    extensions,
    npu_members,
    npu_ops,
    shapes,
    host_sync,
    npu_options,
    loaders,
    distribution,
    backends,
    debugging,
    affinity,
)
FACTS_FOR_MODULE = tuple(part.facts_for_module for part in PARTS)
