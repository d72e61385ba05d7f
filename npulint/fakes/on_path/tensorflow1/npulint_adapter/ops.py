"""Operators of the device, computed by others."""

import numbers

import npulint_record as record
import tensorflow.compat.v1 as tf
from tensorflow.python.eager import context


def initialize_system(name=None):
    """The operation that opens the device."""
    return tf.no_op(name=name or "NPUInit")


def shutdown_system(name=None):
    """The operation that closes it."""
    return tf.no_op(name=name or "NPUShutdown")


NPUInit = initialize_system
NPUShutdown = shutdown_system


def dropout(x, keep_prob, noise_shape=None, seed=None, name=None):
    """Dropout with the mask of the device."""
    if context.executing_eagerly():
        raise RuntimeError("npu_ops.dropout() is not compatible with eager execution.")
    x = tf.convert_to_tensor(x, name="x")
    if not x.dtype.is_floating:
        raise ValueError(f"x must be a floating point tensor. Got a {x.dtype} tensor instead.")
    if isinstance(keep_prob, numbers.Real) and not 0 < keep_prob <= 1.0:
        raise ValueError(f"keep_prob must be a float value or a scalar tensor in the range (0, 1], got {keep_prob:g}")
    record.count("operators", "dropout")
    if isinstance(keep_prob, float) and keep_prob == 1.0:
        return x
    return tf.nn.dropout(x, rate=1.0 - keep_prob, noise_shape=noise_shape, seed=seed, name=name)


def LARSV2(
    input_weight, input_grad, weight_decay, learning_rate, hyperpara=0.001, epsilon=0.00001, use_clip=False, name=None
):
    """The gradient that is scaled by the ratio of the norms of weight and gradient."""
    record.count("operators", "LARSV2")
    weight, grad = tf.norm(input_weight), tf.norm(input_grad)
    ratio = hyperpara * weight / (grad + weight_decay * weight + epsilon)
    ratio = tf.minimum(ratio / learning_rate, 1.0) if use_clip else ratio
    return ratio * (input_grad + weight_decay * input_weight)
