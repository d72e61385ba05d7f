"""Recurrent layers of the device: one over time, and one unrolled."""

import npulint_record as record
import tensorflow.compat.v1 as tf
from tensorflow.python.layers import base as base_layer


def npu_dynamic_rnn(cell, inputs, initial_state=None, dtype=None, sequence_length=None, scope=None):
    """A network over inputs with the time first, unrolled."""
    record.count("operators", "npu_dynamic_rnn")
    outputs, state = tf.nn.static_rnn(
        cell,
        tf.unstack(inputs, axis=0),
        initial_state=initial_state,
        dtype=dtype,
        sequence_length=sequence_length,
        scope=scope,
    )
    return tf.stack(outputs, axis=0), state


class DynamicRNN(base_layer.Layer):
    """An LSTM over inputs with the time first, with the eight results of the operator of the device."""

    def __init__(self, hidden_size, dtype, forget_bias=0.0, direction="UNIDIRECTIONAL", time_major=True, **more):
        super().__init__()
        if direction != "UNIDIRECTIONAL" or not time_major:
            raise NotImplementedError("the fake adapter runs an LSTM in one direction, with the time first")
        self._size, self._type, self._bias = hidden_size, dtype, forget_bias
        record.count("operators", "DynamicRNN")

    def build(self, input_shape):
        width = int(input_shape[2])
        self.weight = self.add_variable("weight", [width + self._size, 4 * self._size], dtype=self._type)
        self.bias = self.add_variable("bias", [4 * self._size], dtype=self._type, initializer=tf.zeros_initializer())
        super().build(input_shape)

    def call(self, x, seq_length=None, init_h=None, init_c=None):
        steps = tf.unstack(x, axis=0)
        zero = tf.zeros([tf.shape(x)[1], self._size], self._type)
        h = zero if init_h is None else init_h[0]
        c = zero if init_c is None else init_c[0]
        results = []
        for step in steps:
            i, j, f, o = tf.split(tf.matmul(tf.concat([step, h], 1), self.weight) + self.bias, 4, axis=1)
            i, j, f, o = tf.sigmoid(i), tf.tanh(j), tf.sigmoid(f + self._bias), tf.sigmoid(o)
            c = f * c + i * j
            shown = tf.tanh(c)
            h = o * shown
            results.append((h, h, c, i, j, f, o, shown))
        return [tf.stack(states) for states in zip(*results)]
