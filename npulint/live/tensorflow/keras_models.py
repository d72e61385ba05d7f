"""Keras models: the forward pass, or one training step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from npulint.live.tensorflow.examples import specified


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
        total = tf.add_n([tf.reduce_sum(tf.cast(one, tf.float32)) for one in flat if one.dtype.is_floating])
    return [one for one in tape.gradient(total, model.trainable_variables) if one is not None]


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
    specs = [tf.TensorSpec(one.shape, tf.as_dtype(one.dtype)) for one in tf.nest.flatten(inputs)]
    return specs[0] if len(specs) == 1 else specs
