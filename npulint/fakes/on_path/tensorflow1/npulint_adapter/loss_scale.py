"""Loss scale: the managers and the optimizer of the adapter, on those of TensorFlow."""

import npulint_record as record
import tensorflow.compat.v1 as tf
from tensorflow.contrib.mixed_precision.python import loss_scale_manager as managers
from tensorflow.contrib.mixed_precision.python import loss_scale_optimizer as scaled
from tensorflow.python.ops import control_flow_ops

from npulint_adapter import plugin


class FixedLossScaleManager(managers.FixedLossScaleManager):
    """A loss scale that stays."""

    def __init__(self, loss_scale, enable_overflow_check=True):
        if loss_scale < 1:
            raise ValueError("loss scale must be at least 1.")
        self._enable_overflow_check = enable_overflow_check
        self._given = {"loss_scale": loss_scale, "enable_overflow_check": enable_overflow_check}
        super().__init__(loss_scale=loss_scale)

    def get_enable_overflow_check(self):
        return self._enable_overflow_check


class ExponentialUpdateLossScaleManager(managers.ExponentialUpdateLossScaleManager):
    """A loss scale that grows and shrinks."""

    def __init__(self, init_loss_scale, incr_every_n_steps, decr_every_n_nan_or_inf=2, incr_ratio=2, decr_ratio=0.8):
        self._given = {"init_loss_scale": init_loss_scale, "incr_every_n_steps": incr_every_n_steps}
        super().__init__(
            init_loss_scale=init_loss_scale,
            incr_every_n_steps=incr_every_n_steps,
            decr_every_n_nan_or_inf=decr_every_n_nan_or_inf,
            incr_ratio=incr_ratio,
            decr_ratio=decr_ratio,
        )


class NPULossScaleOptimizer(scaled.LossScaleOptimizer):
    """Scales the loss, and leaves out steps that overflow."""

    def __init__(self, opt, loss_scale_manager, is_distributed=False):
        self._opt = opt  # before anything is asked for: see `__getattr__`
        super().__init__(opt=opt, loss_scale_manager=loss_scale_manager)
        given = getattr(loss_scale_manager, "_given", {})
        self._recorded = record.add(
            "loss_scales",
            {
                "class": type(self).__name__,
                "manager": type(loss_scale_manager).__name__,
                "own_manager": bool(given),  # those of TensorFlow are accepted
                "optimizer": type(opt).__name__,
                "is_distributed": is_distributed,
                "applied": 0,
                **record.plain(given),
            },
        )

    def __getattr__(self, attr):
        return getattr(self.__dict__["_opt"], attr)

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        self._recorded["applied"] += 1
        manager = self._loss_scale_manager
        if isinstance(manager, FixedLossScaleManager) and not manager.get_enable_overflow_check():
            updated = self._opt.apply_gradients(grads_and_vars, global_step, name)
            return control_flow_ops.group(updated, manager.update_loss_scale(tf.constant(True)))
        if not plugin.is_inf_nan_enabled():  # the float status needs no gradient, so missing ones do no harm
            left = [] if iter(grads_and_vars) is grads_and_vars else grads_and_vars  # the check empties an iterator
            grads_and_vars = [(grad, variable) for grad, variable in left if grad is not None]
        return super().apply_gradients(grads_and_vars, global_step, name)
