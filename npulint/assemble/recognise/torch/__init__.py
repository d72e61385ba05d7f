"""What only PyTorch projects are asked: devices, optimizers, training steps, loaders …, one module per area.

A part has ``wants(name)``, ``of_call(context, module, index, name)`` for the calls that it wants, and
``of_module(context, module)`` for the facts of a module that are no calls.
"""

from npulint.assemble.recognise.torch import (
    affinity,
    apex_amp,
    apis,
    backends,
    clipping,
    debugging,
    devices,
    distribution,
    doubles,
    exports,
    extensions,
    host_sync,
    libraries,
    loaders,
    modes,
    npu_members,
    npu_ops,
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
    doubles,
    exports,
    libraries,
    extensions,
    npu_members,
    npu_ops,
    shapes,
    host_sync,
    modes,
    loaders,
    distribution,
    backends,
    debugging,
    affinity,
)
OF_MODULE = tuple(part.of_module for part in PARTS)
