"""Collective communication. There is one process: what it sends to all it gets back as if it were alone."""

import npulint_record as record
import tensorflow.compat.v1 as tf

_GROUP = "hccl_world_group"


def _checked(reduction):
    if reduction not in ("sum", "prod", "max", "min"):
        raise ValueError(f"reduction should be one of sum, prod, max and min, not {reduction!r}")


def _same(kind, tensor):
    record.count("operators", kind)
    if isinstance(tensor, (list, tuple)):
        return [tf.identity(member) for member in tensor]
    return tf.identity(tensor)


def allreduce(tensor, reduction, fusion=1, fusion_id=-1, group=_GROUP):
    _checked(reduction)
    reduced = _same("allreduce", tensor)
    return reduced[0] if isinstance(reduced, list) else reduced


def allgather(tensor, rank_size, group=_GROUP, fusion=0, fusion_id=-1):
    return tf.concat([_same("allgather", tensor)] * int(rank_size), 0)


def broadcast(tensor, root_rank, fusion=2, fusion_id=0, group=_GROUP):
    if not isinstance(tensor, (list, tuple)):
        raise TypeError(f"broadcast takes a list of tensors, not {type(tensor)!r}")
    return _same("broadcast", tensor)


def reduce(tensor, reduction, root_rank, fusion=0, fusion_id=-1, group=_GROUP):
    _checked(reduction)
    return _same("reduce", tensor)


def reduce_scatter(tensor, reduction, rank_size, group=_GROUP, fusion=0, fusion_id=-1):
    _checked(reduction)
    return tf.split(_same("reduce_scatter", tensor), int(rank_size))[0]
