"""``npu_device.distribute``: there is one process, so that values are as they are."""

import npulint_record as record
import tensorflow as tf
from npulint_adapter import collectives
from npulint_adapter.ranks import size_in_environment as get_ranksize  # noqa: F401  a name of the module

from npulint_device.device import global_npu_ctx

_REDUCTIONS = ("mean", "sum", "prod", "max", "min")


def _alone():
    device = global_npu_ctx()
    return device is None or not device.is_cluster_worker()


def all_reduce(values, reduction="mean", fusion=1, fusion_id=-1, group="hccl_world_group"):
    """The values, which are the same on all ranks."""
    record.count("operators", "all_reduce")
    if _alone():
        return values
    if reduction not in _REDUCTIONS:
        raise ValueError(f"reduction should be one of {', '.join(_REDUCTIONS)}, not {reduction!r}")
    many = isinstance(values, (list, tuple))
    reduced = [None if tensor is None else tf.identity(tensor) for tensor in (values if many else [values])]
    return reduced if many else reduced[0]


def broadcast(values, root_rank=0, fusion=2, fusion_id=0, group="hccl_world_group"):
    """Does nothing: all ranks have the same values."""
    record.count("operators", "broadcast")
    if not _alone():
        collectives.broadcast(values if isinstance(values, list) else [values], root_rank)


def shard_and_rebatch_dataset(dataset, global_bs):
    """The part of a dataset for this rank, and its batch size."""
    if global_npu_ctx() is None or global_npu_ctx().workers_num <= 1:
        return dataset, global_bs
    workers = global_npu_ctx().workers_num
    if global_bs % workers:
        raise ValueError(f"Batch size must be divisible by num npus: {workers}")
    return dataset.shard(workers, global_npu_ctx().worker_id), int(global_bs / workers)


def npu_distributed_keras_optimizer_wrapper(
    optimizer, reduce_reduction="mean", fusion=1, fusion_id=-1, group="hccl_world_group"
):
    """The optimizer, whose gradients are averaged."""
    record.add("optimizers", {"class": "npu_distributed_keras_optimizer_wrapper"})
    return tf.keras.optimizers.get(optimizer)


def grouping_gradients_apply(apply_func, grads_and_vars, *args, **kwargs):
    """Apply the gradients."""
    return apply_func(grads_and_vars, *args, **kwargs)


def grouping_broadcast(variables):
    """Does nothing: all ranks have the same values."""


def broadcast_keras_model(model, root_rank=0):
    """The model, which all ranks have."""
    return model


class NPUBroadcastGlobalVariablesCallback(tf.keras.callbacks.Callback):
    """Has no effect, as that of the adapter."""

    def __init__(self, root_rank):
        super().__init__()
        self.root_rank = root_rank


def npu_callbacks_append(callbacks_list=()):
    """The list with the callback of the adapter at its end."""
    callbacks = callbacks_list if isinstance(callbacks_list, list) else []
    callbacks.append(NPUBroadcastGlobalVariablesCallback(0))
    return callbacks


def npu_broadcast_scope_wrapper(strategy):
    """The strategy."""
    return strategy
