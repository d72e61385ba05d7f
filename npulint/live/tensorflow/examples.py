"""Converts example inputs to specifications for tracing, or to placeholders."""

from __future__ import annotations

from typing import Any


def specified(value: Any) -> Any:
    """An example with arrays and tensors replaced by ``TensorSpec``s, nested structures included."""
    import tensorflow as tf

    if isinstance(value, tf.TensorSpec):
        return value
    if hasattr(value, "dtype") and hasattr(value, "shape"):
        return tf.TensorSpec(value.shape, tf.as_dtype(value.dtype))
    return _nested(value, specified)


def placeholders(value: Any, name: str) -> Any:
    """An example with placeholders in the default graph; functions without arguments (``input_fn``) are called
    there."""
    import tensorflow as tf

    if callable(value):
        return next_of(value())
    if isinstance(value, tf.TensorSpec) or (hasattr(value, "dtype") and hasattr(value, "shape")):
        return tf.compat.v1.placeholder(tf.as_dtype(value.dtype), value.shape, name=name)
    return _nested(value, lambda one: placeholders(one, name))


def next_of(value: Any) -> Any:
    """The result of an ``input_fn``: the next element of a dataset, or tensors as they are."""
    import tensorflow as tf

    if isinstance(value, (tf.data.Dataset, tf.compat.v1.data.Dataset)):
        return tf.compat.v1.data.make_one_shot_iterator(value).get_next()
    return value


def _nested(value: Any, work: Any) -> Any:
    if isinstance(value, dict):
        return type(value)((key, work(one)) for key, one in value.items())
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(work(one) for one in value))
    if isinstance(value, (list, tuple)):
        return type(value)(work(one) for one in value)
    return value
