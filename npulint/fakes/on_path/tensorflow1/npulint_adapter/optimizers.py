"""Optimizers that average gradients over ranks."""

import npulint_record as record
import tensorflow.compat.v1 as tf
from tensorflow.python.keras import optimizers as keras_optimizers
from tensorflow.python.keras.optimizer_v2 import optimizer_v2

from npulint_adapter import collectives, ranks


def _ranks():
    return int(ranks.size_in_environment() or 1)


def allreduce(tensor, average=True):
    """The sum or average of a tensor over all ranks, which all have the same one."""
    if isinstance(tensor, tf.IndexedSlices):
        values = collectives.allgather(tensor.values, _ranks())
        indices = collectives.allgather(tensor.indices, _ranks())
        values = values / tf.cast(_ranks(), values.dtype) if average else values
        return tf.IndexedSlices(values, indices, dense_shape=tensor.dense_shape)
    return collectives.allreduce(tensor, "sum")


def npu_allreduce(values, reduction="mean", fusion=1, fusion_id=-1, group="hccl_world_group"):
    """Tensors averaged over all ranks."""
    if isinstance(values, (list, tuple)):
        return [npu_allreduce(tensor, reduction) for tensor in values]
    return allreduce(values, reduction == "mean")


def _averaged(gradients):
    """Pairs of gradients and variables with the gradients averaged."""
    if _ranks() <= 1:
        return gradients
    return [(allreduce(gradient) if gradient is not None else None, variable) for gradient, variable in gradients]


def _noted(made, opt, **more):
    entry = {"class": type(made).__name__, "optimizer": type(opt).__name__, "computed": 0, "applied": 0}
    return record.add("optimizers", dict(entry, **more))


class _Wrapping(tf.train.Optimizer):
    """An optimizer around another one."""

    def get_slot(self, *args, **kwargs):
        return self._opt.get_slot(*args, **kwargs)

    def get_slot_names(self, *args, **kwargs):
        return self._opt.get_slot_names(*args, **kwargs)

    def variables(self, *args, **kwargs):
        return self._opt.variables(*args, **kwargs)


class NPUDistributedOptimizer(_Wrapping):
    """Averages the gradients of another optimizer."""

    def __init__(self, optimizer, is_weight_update_sharding=False, name=None):
        self._opt = self._optimizer = optimizer
        self._recorded = _noted(self, optimizer)
        super().__init__(name=name or f"Distributed{type(optimizer).__name__}", use_locking=False)

    def compute_gradients(self, *args, **kwargs):
        self._recorded["computed"] += 1
        return _averaged(self._opt.compute_gradients(*args, **kwargs))

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        self._recorded["applied"] += 1
        return self._opt.apply_gradients(grads_and_vars, global_step, name)


class NPUOptimizer(_Wrapping):
    """Averages gradients and scales the loss, as asked."""

    def __init__(
        self,
        opt,
        loss_scale_manager=None,
        is_distributed=False,
        is_loss_scale=False,
        is_tailing_optimization=False,
        name=None,
    ):
        if is_loss_scale and loss_scale_manager is None:
            raise ValueError("is_loss_scale is True, loss_scale_manager can not be None")
        self._recorded = _noted(
            self, opt, is_distributed=is_distributed, is_loss_scale=is_loss_scale,
            is_tailing_optimization=is_tailing_optimization,
        )  # fmt: skip
        inner = NPUDistributedOptimizer(opt) if is_distributed else opt
        if is_loss_scale:
            from npulint_adapter import loss_scale  # needs tf.contrib

            inner = loss_scale.NPULossScaleOptimizer(inner, loss_scale_manager, is_distributed)
        self._opt = inner
        super().__init__(name=name or f"NPUOptimizer{type(opt).__name__}", use_locking=False)

    def compute_gradients(self, *args, **kwargs):
        self._recorded["computed"] += 1
        return self._opt.compute_gradients(*args, **kwargs)

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        self._recorded["applied"] += 1
        return self._opt.apply_gradients(grads_and_vars, global_step, name)


class KerasDistributeOptimizer(optimizer_v2.OptimizerV2):
    """Averages the gradients of an optimizer of Keras."""

    def __init__(self, optimizer, name="NpuKerasOptimizer", **kwargs):
        super().__init__(name, **kwargs)
        self._opt = npu_distributed_optimizer_wrapper(optimizer)

    def get_updates(self, loss, params):
        return self._opt.get_updates(loss, params)

    def apply_gradients(self, grads_and_vars, name=None):
        return self._opt.apply_gradients(grads_and_vars, name)

    def _compute_gradients(self, loss, var_list, grad_loss=None):
        return self._opt._compute_gradients(loss, var_list, grad_loss)

    def get_config(self):
        return self._opt.get_config()


def npu_distributed_optimizer_wrapper(optimizer):
    """The optimizer itself, whose gradients are averaged from now on."""
    optimizer = keras_optimizers.get(optimizer) if isinstance(optimizer, str) else optimizer
    recorded = record.add(
        "optimizers",
        {"class": "npu_distributed_optimizer_wrapper", "optimizer": type(optimizer).__name__, "computed": 0},
    )

    def averaging(name, pairs):
        original = getattr(optimizer, name, None)

        def replaced(*args, **kwargs):
            recorded["computed"] += 1
            gradients = original(*args, **kwargs)
            return (
                _averaged(gradients)
                if pairs
                else [gradient for gradient, _ in _averaged([(gradient, None) for gradient in gradients])]
            )

        if original is not None:
            setattr(optimizer, name, replaced)

    averaging("compute_gradients", True)
    averaging("get_gradients", False)
    averaging("_compute_gradients", True)
    return optimizer
