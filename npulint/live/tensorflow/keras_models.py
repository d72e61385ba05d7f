"""Keras models: the forward pass, or one training step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

# Converts example inputs to specifications for tracing, or to placeholders.


def specified(value: Any) -> Any:
    """An example with arrays and tensors replaced by ``TensorSpec``s, nested structures included; a dataset stands for
    one of its elements."""
    import tensorflow as tf

    if isinstance(value, tf.TensorSpec):
        return value
    if is_dataset(value):
        return value.element_spec
    if hasattr(value, "dtype") and hasattr(value, "shape"):
        return tf.TensorSpec(value.shape, tf.as_dtype(value.dtype))
    return _nested(value, specified)


def placeholders(value: Any, name: str) -> Any:
    """An example with placeholders in the default graph; functions without arguments (``input_fn``) are called
    there."""
    import tensorflow as tf

    if is_dataset(value):
        return placeholders(value.element_spec, name)
    if callable(value):
        return next_of(value())
    if isinstance(value, tf.TensorSpec) or (hasattr(value, "dtype") and hasattr(value, "shape")):
        return tf.compat.v1.placeholder(tf.as_dtype(value.dtype), value.shape, name=name)
    return _nested(value, lambda part: placeholders(part, name))


def unpacked(inputs: Sequence[Any]) -> tuple[Any, ...]:
    """Example inputs with a single dataset replaced by the parts of its elements, as ``fit`` takes them."""
    if len(inputs) == 1 and is_dataset(inputs[0]):
        element = inputs[0].element_spec
        return element if type(element) is tuple else (element,)
    return tuple(inputs)


def is_dataset(value: Any) -> bool:
    """Whether a value is a ``tf.data.Dataset``, of the interface of TensorFlow 1 or 2."""
    import tensorflow as tf

    return isinstance(value, (tf.data.Dataset, tf.compat.v1.data.Dataset))


def next_of(value: Any) -> Any:
    """The result of an ``input_fn``: the next element of a dataset, or tensors as they are. Placeholders like the
    elements of a dataset that was not made in the current graph, where no iterator can read it."""
    import tensorflow as tf

    if not is_dataset(value):
        return value
    try:
        return tf.compat.v1.data.make_one_shot_iterator(value).get_next()
    except (ValueError, AttributeError):  # of another graph, or of none: it was made eagerly
        return placeholders(value.element_spec, "element")


def _nested(value: Any, work: Any) -> Any:
    if isinstance(value, dict):
        return type(value)((key, work(part)) for key, part in value.items())
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(work(part) for part in value))
    if isinstance(value, (list, tuple)):
        return type(value)(work(part) for part in value)
    return value


def concrete(model: Any, inputs: Sequence[Any], train: bool) -> Any:
    """The concrete function of a step of `model`. `inputs` are those of ``fit``: x, y, sample weights. With a compiled
    loss and y it is the model's ``train_step``; else the forward pass and, with `train`, the gradients of the sum of
    its outputs."""
    import tensorflow as tf

    specs = specified(tuple(inputs)) or (_declared(model),)
    if train and len(specs) > 1 and getattr(model, "optimizer", None) is not None:
        _build_optimizer(model)
        return tf.function(lambda *data: model.train_step(data)).get_concrete_function(*specs)
    step = _with_gradients if train else _forward
    return tf.function(lambda x: step(model, x)).get_concrete_function(specs[0])


def _forward(model: Any, x: Any) -> Any:
    return model(x, training=False)


def _with_gradients(model: Any, x: Any) -> Any:
    import tensorflow as tf

    with tf.GradientTape() as tape:
        flat = tf.nest.flatten(model(x, training=True))
        total = tf.add_n([tf.reduce_sum(tf.cast(output, tf.float32)) for output in flat if output.dtype.is_floating])
    return [gradient for gradient in tape.gradient(total, model.trainable_variables) if gradient is not None]


def _build_optimizer(model: Any) -> None:
    """Create the optimizer's variables before tracing, as `fit` does, because creating them retraces."""
    optimizer = model.optimizer
    if getattr(model, "built", False) and getattr(optimizer, "built", True) is False:
        optimizer.build(model.trainable_variables)


def _declared(model: Any) -> Any:
    """The inputs that a model was built for, from Keras' shapes."""
    import tensorflow as tf

    inputs = getattr(model, "inputs", None)
    if not inputs:
        raise ValueError("the input signature of the model is unknown: pass example inputs")
    specs = [tf.TensorSpec(tensor.shape, tf.as_dtype(tensor.dtype)) for tensor in tf.nest.flatten(inputs)]
    return specs[0] if len(specs) == 1 else specs
