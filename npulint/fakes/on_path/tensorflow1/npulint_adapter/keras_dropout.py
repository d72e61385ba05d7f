"""On import the dropout of Keras becomes that of the device."""

from tensorflow.python.framework import smart_cond
from tensorflow.python.keras import backend
from tensorflow.python.keras.layers.core import Dropout
from tensorflow.python.ops import array_ops, nn

from npulint_adapter import ops


def dropout_call(self, inputs, training=None):
    """What the layer does from now on."""
    training = backend.learning_phase() if training is None else training
    noise_shape = self._get_noise_shape(inputs)

    def dropped():
        if noise_shape is not None:
            return nn.dropout(inputs, noise_shape=noise_shape, seed=self.seed, rate=self.rate)
        return ops.dropout(inputs, 1.0 - self.rate, seed=self.seed)

    return smart_cond.smart_cond(training, dropped, lambda: array_ops.identity(inputs))


Dropout.call = dropout_call
