"""``npu_device.ops``."""

import npulint_record as record
import tensorflow as tf
from npulint_adapter.aicore_ops import GeneratedOps


def gelu(x):
    """The fast approximation of GELU: in a function, that by a sigmoid."""
    record.count("operators", "gelu")
    if tf.executing_eagerly():
        return tf.nn.gelu(x)
    return x * tf.sigmoid(1.702 * x)


class _GeneratedOps(GeneratedOps):
    """The operators that the adapter registers: programs bring their own dropout, which uses them."""

    @staticmethod
    def drop_out_gen_mask(shape, prob, seed=0, seed2=0, name=None):
        record.count("operators", "drop_out_gen_mask")
        return tf.cast(tf.random.uniform(shape, seed=seed or None) < tf.cast(prob, tf.float32), tf.uint8)

    @staticmethod
    def drop_out_do_mask(x, mask, prob, name=None):
        return x * tf.cast(mask, x.dtype) / tf.cast(prob, x.dtype)


gen_npu_ops = _GeneratedOps()
