"""Operators of the AI Core, computed by others."""

import math

import npulint_record as record
import tensorflow.compat.v1 as tf

from npulint_adapter import ops


def _gelu(x, name=None):
    record.count("operators", "gelu")
    return 0.5 * x * (1.0 + tf.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * tf.pow(x, 3))))


def _fast_gelu(x, name=None):
    record.count("operators", "fast_gelu")
    return x * tf.sigmoid(1.702 * x)


fast_gelu_v2 = _fast_gelu


class GeneratedOps:
    """The operators that the adapter registers; the fake computes those of activations."""

    gelu = staticmethod(_gelu)
    fast_gelu = staticmethod(_fast_gelu)
    fast_gelu_v2 = staticmethod(_fast_gelu)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        raise NotImplementedError(f"the fake adapter does not simulate the operator {name}")


npu_unary_ops = npu_aicore_ops = gen_npu_ops = GeneratedOps()


def dropout_v3(x, keep_prob, noise_shape=None, seed=None, name=None):
    return ops.dropout(x, keep_prob, noise_shape, seed, name)


def prelu(x, weight):
    return tf.maximum(x, 0.0) + weight * tf.minimum(x, 0.0)


def centralization(x, axes, name=None):
    return x - tf.reduce_mean(x, axes, keepdims=True)


def layer_norm(x, gamma, beta, begin_norm_axis=0, begin_params_axis=0, epsilon=0.0000001, name=None):
    mean, variance = tf.nn.moments(x, list(range(begin_norm_axis, len(x.shape))), keepdims=True)
    return tf.nn.batch_normalization(x, mean, variance, beta, gamma, epsilon), mean, variance
