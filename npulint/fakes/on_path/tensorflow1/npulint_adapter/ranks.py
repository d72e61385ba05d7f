"""Ranks of a distributed training, as the environment gives them."""

import os

_open = []


def opened():
    """Say that the device is open: a session ran on it."""
    _open.append(True)


def size_in_environment():
    """The number of ranks as the adapter reads it, a text."""
    if os.getenv("CM_WORKER_SIZE") is not None and os.getenv("RANK_SIZE") is not None:
        raise ValueError("RANK_SIZE and CM_WORKER_SIZE cannot be configured at the same time")
    size = os.getenv("RANK_SIZE")
    return size if size is not None else os.getenv("CM_WORKER_SIZE", "1")


def _asked(what):
    if not _open:
        raise ValueError(f"get {what} error: no session has opened the NPU")


def get_rank_size(group="hccl_world_group"):
    _asked("rank size")
    return int(size_in_environment())


def get_local_rank_size(group="hccl_world_group"):
    _asked("local rank size")
    return min(int(size_in_environment()), 8)


def get_rank_id(group="hccl_world_group"):
    _asked("rank id")
    return int(os.getenv("RANK_ID", "0"))


def get_local_rank_id(group="hccl_world_group"):
    _asked("local rank id")
    return int(os.getenv("RANK_ID", "0")) % 8


def get_world_rank_from_group_rank(group, group_rank_id):
    return group_rank_id


def get_group_rank_from_world_rank(world_rank_id, group):
    return world_rank_id


def create_group(group, rank_num, rank_ids):
    if rank_num != len(rank_ids):
        raise ValueError(f"create group {group}: {rank_num} ranks, but {len(rank_ids)} ids")


def destroy_group(group):
    """Does nothing: groups hold nothing."""


def set_split_strategy_by_idx(idxList, group="hccl_world_group"):
    if list(idxList) != sorted(idxList):
        raise ValueError("the indices of a split strategy ascend")


def set_split_strategy_by_size(dataSizeList, group="hccl_world_group"):
    if sum(dataSizeList) != 100:
        raise ValueError("the sizes of a split strategy add up to 100")
