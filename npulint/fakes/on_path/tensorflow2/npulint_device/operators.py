"""``npu_device.ops``."""

import npulint_record as record
import tensorflow as tf


def gelu(x):
    """The fast approximation of GELU: in a function, that by a sigmoid."""
    record.count("operators", "gelu")
    if tf.executing_eagerly():
        return tf.nn.gelu(x)
    return x * tf.sigmoid(1.702 * x)
