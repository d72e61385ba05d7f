"""Scopes that mark operations for the adapter."""

import contextlib

from npulint_adapter.scopes import keep_dtype_scope, npu_optimizer_scope  # noqa: F401  names of the module


def npu_recompute_scope():
    """What is computed again in the backward pass."""
    return contextlib.nullcontext()


def npu_gradients_scope():
    """The backward pass."""
    return contextlib.nullcontext()
