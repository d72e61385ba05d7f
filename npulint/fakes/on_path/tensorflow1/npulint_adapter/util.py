"""Helpers that programs call as ``npu_bridge.estimator.npu.util``."""

import os

import npulint_record as record
import six
import tensorflow.compat.v1 as tf
from tensorflow.core.framework import attr_value_pb2
from tensorflow.python.framework import dtypes, ops
from tensorflow.python.ops import init_ops, variable_scope
from tensorflow.python.training import training_util
from tensorflow.python.util import compat

from npulint_adapter import sessions
from npulint_adapter.ranks import size_in_environment as get_ranksize  # noqa: F401  a name of the module

_VARIABLES = ("iterations_per_loop", "loop_cond", "zero", "one")
_SCOPE = "npu_runconfig"
_values = {}


def check_not_none(value, name):
    if value is None:
        raise ValueError(f"{name} must not be None")


def check_positive_integer(value, name):
    check_nonnegative_integer(value, name)
    if value <= 0:
        raise ValueError(f"{name} must be positive, got {value}")


def check_nonnegative_integer(value, name):
    if not isinstance(value, six.integer_types):
        raise TypeError(f"{name} must be int, got {type(value)}")
    if value < 0:
        raise ValueError(f"{name} must be nonnegative, got {value}")


def check_bool_type(value, name):
    if not isinstance(value, bool):
        raise TypeError(f"{name} must be True or False, got {value}")


def convert_bool_to_int(value):
    return int(value) if isinstance(value, bool) else -1


def format_string(value, name):
    if value is not None and not isinstance(value, six.string_types):
        raise TypeError(f"{name} must be string, got {type(value)}")
    return value or ""


def check_path(path):
    if not os.path.isdir(path):
        raise ValueError(f"path:{path} is not a directory.")
    return os.path.realpath(path)


def check_aoe_mode(aoe_mode):
    if aoe_mode not in ("1", "2", "4"):
        raise ValueError(f"aoe_mode:{aoe_mode} is invalid, should be in ['1', '2', '4']")


def create_or_get_var(var_name):
    """The variable of the loop on the device."""
    name = f"{_SCOPE}_{var_name}"
    existing = ops.get_default_graph().get_collection(name)
    if existing:
        return existing[0]
    step = training_util.get_global_step()
    beside = ops.colocate_with(step, ignore_existing=step is None)
    with beside, variable_scope.variable_scope(_SCOPE, reuse=variable_scope.AUTO_REUSE):
        return variable_scope.get_variable(
            var_name,
            initializer=init_ops.zeros_initializer(),
            shape=[],
            dtype=dtypes.int64,
            trainable=False,
            collections=[name, ops.GraphKeys.LOCAL_VARIABLES],
            use_resource=True,
        )


def _operation(train_op):
    if not isinstance(train_op, ops.Operation):
        raise ValueError(f"The incoming 'train_op' is no 'Operation': {train_op}")


def load_loop(session, iterations):
    """Tell the device how many steps it runs at a time."""
    for name, value in zip(_VARIABLES, (iterations - 1, 0, 0, 1)):
        create_or_get_var(name).load(value, session=session)
    sessions.repeat(session.graph, iterations)
    record.add("loops", {"iterations": iterations})


def set_iteration_per_loop(sess, train_op, iterations_per_loop=1):
    """The step that runs `iterations_per_loop` times on the device when it is fetched."""
    _operation(train_op)
    check_positive_integer(iterations_per_loop, "iterations_per_loop")
    if iterations_per_loop == 1:
        return train_op
    load_loop(sess, iterations_per_loop)
    return tf.group(train_op, name="IterationOp")


class IterationPerLoop:
    """The same in two calls: the first may come before the session."""

    def create_iteration_per_loop_var(self, train_op):
        _operation(train_op)
        for name in _VARIABLES:
            create_or_get_var(name)
        return tf.group(train_op, name="IterationOp")

    def load_iteration_per_loop_var(self, sess, iterations_per_loop=1):
        check_positive_integer(iterations_per_loop, "iterations_per_loop")
        load_loop(sess, iterations_per_loop)


def variable_initializer_in_host(var_list):
    return tf.initializers.variables(var_list, name="var_in_host")


def npu_compile(sess, *fetches):
    sess.run(fetches)


def global_dict_init():
    _values.clear()


def set_value(key, value):
    _values[key] = value


def get_value(key, def_value=None):
    return _values.get(key, def_value)


def set_graph_exec_config(
    fetch,
    dynamic_input=False,
    dynamic_graph_execute_mode="dynamic_execute",
    dynamic_inputs_shape_range=None,
    is_train_graph=False,
    experimental_config=None,
):
    """Mark the operations of a graph with how it is to be executed."""
    if dynamic_graph_execute_mode not in ("lazy_recompile", "dynamic_execute"):
        raise ValueError("dynamic_graph_execute_mode should be lazy_recompile or dynamic_execute")
    record.count("scopes", "set_graph_exec_config")
    attributes = {
        "_graph_dynamic_input": attr_value_pb2.AttrValue(b=dynamic_input),
        "_graph_dynamic_graph_execute_mode": attr_value_pb2.AttrValue(s=compat.as_bytes(dynamic_graph_execute_mode)),
        "_is_train_graph": attr_value_pb2.AttrValue(b=is_train_graph),
    }
    for fetched in fetch if isinstance(fetch, (list, tuple)) else [fetch]:
        _mark(fetched, attributes)
    return fetch


def keep_tensors_dtypes(graph, input_tensors):
    if not isinstance(graph, ops.Graph):
        raise ValueError("graph param must be ops.Graph class.")
    if not isinstance(input_tensors, (tuple, list)):
        raise ValueError("input_tensors must be list or tuple.")
    for name in input_tensors:
        _mark(graph.get_tensor_by_name(name), {"_keep_dtype": attr_value_pb2.AttrValue(i=1)})


def _mark(fetched, attributes):
    fetched = ops.get_default_graph().get_tensor_by_name(fetched) if isinstance(fetched, str) else fetched
    if not isinstance(fetched, (ops.Operation, ops.Tensor)):
        raise ValueError("fetch is invalid, should be op, tensor, list, tuple or tensor name.")
    operation = fetched if isinstance(fetched, ops.Operation) else fetched.op
    for name, value in attributes.items():
        operation._set_attr(name, value)
