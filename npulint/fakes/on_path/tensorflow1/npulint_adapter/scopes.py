"""Scopes that mark the operations built in them."""

import contextlib
from enum import Enum

import npulint_record as record
from tensorflow.core.framework import attr_value_pb2
from tensorflow.python.framework import ops
from tensorflow.python.util import compat

from npulint_adapter import util


class NpuExecutePlacement(Enum):
    ALL = "all"
    CUBE = "cube"
    VECTOR = "vector"
    TAISHAN = "taishan"
    DVPP = "dvpp"
    HOST = "host"


def _value(value):
    if isinstance(value, bool):
        return attr_value_pb2.AttrValue(b=value)
    if isinstance(value, int):
        return attr_value_pb2.AttrValue(i=value)
    return attr_value_pb2.AttrValue(s=compat.as_bytes(value))


@contextlib.contextmanager
def _marked(scope, **attributes):
    record.count("scopes", scope)
    with ops.get_default_graph()._attr_scope({name: _value(value) for name, value in attributes.items()}):
        yield


def without_npu_compile_scope():
    return _marked("without_npu_compile_scope", _without_npu_compile=True)


def keep_dtype_scope():
    return _marked("keep_dtype_scope", _keep_dtype=1)


def npu_variable_scope(placement=NpuExecutePlacement.ALL):
    if not isinstance(placement, NpuExecutePlacement):
        raise ValueError("placement value must be in NpuExecutePlacement's values")
    return _marked("npu_variable_scope", _variable_placement=placement.value)


def npu_stage_scope(stage):
    return _marked("npu_stage_scope", _stage_level=stage)


def npu_mem_type_scope():
    return _marked("npu_mem_type_scope", _output_memory_type=1)


def npu_weight_prefetch_scope(buffer_pool_id=0, buffer_pool_size=536870912):
    return _marked("npu_weight_prefetch_scope", _buffer_pool_id=buffer_pool_id, _buffer_pool_size=buffer_pool_size)


def op_specified_engine_scope(engine_name, kernel_lib_name):
    return _marked(
        "op_specified_engine_scope", _specified_engine_name=engine_name, _specified_kernel_lib_name=kernel_lib_name
    )


def npu_qos_label_scope(label):
    return _marked("npu_qos_label_scope", _qos_service_label=label)


def subgraph_multi_dims_scope(index):
    return _marked("subgraph_multi_dims_scope", _subgraph_multi_dims_index=index)


def npu_optimizer_scope():
    return _marked("npu_optimizer_scope", _optimizer=True)


def disable_autofuse():
    return _marked("disable_autofuse", _disable_autofuse_scope=True)


def npu_recompute_scope():
    return ops.name_scope_v2("NpuRecompute")


def npu_graph_slice_scope(slice_num=None):
    if slice_num is not None:
        util.check_positive_integer(slice_num, "slice_num")
    return ops.name_scope_v2(f"SliceNum-{slice_num}-NpuGraphSlicing{slice_num}")
