"""``npu_device.train.optimizer``: loss scaling as Keras does it."""

import npulint_record as record
import tensorflow as tf

_Stock = tf.keras.mixed_precision.LossScaleOptimizer
_OF_KERAS_3 = not hasattr(_Stock, "get_unscaled_gradients")


class NpuLossScaleOptimizer(_Stock):
    """Scales the loss, and leaves out steps that overflow."""

    def __init__(self, inner_optimizer, dynamic=True, initial_scale=None, dynamic_growth_steps=None):
        record.add("loss_scales", {"class": "NpuLossScaleOptimizer", "dynamic": record.plain(dynamic)})
        if _OF_KERAS_3:
            given = {"initial_scale": initial_scale, "dynamic_growth_steps": dynamic_growth_steps}
            super().__init__(inner_optimizer, **{key: value for key, value in given.items() if value is not None})
        else:
            super().__init__(inner_optimizer, dynamic, initial_scale, dynamic_growth_steps)

    @property
    def last_step_finite(self):
        return tf.constant(True)
