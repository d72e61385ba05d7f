"""What ``from npu_bridge.npu_init import *`` brings, apart from what other modules have."""

import os

import npulint_record as record
import tensorflow.compat.v1 as tf
from hccl.manage.api import (  # noqa: F401  names of the module
    create_group,
    destroy_group,
    get_group_rank_from_world_rank,
    get_local_rank_id,
    get_local_rank_size,
    get_rank_id,
    get_rank_size,
    get_world_rank_from_group_rank,
)
from hccl.split.api import set_split_strategy_by_idx, set_split_strategy_by_size  # noqa: F401
from tensorflow.core.protobuf import config_pb2, rewriter_config_pb2  # noqa: F401
from tensorflow.core.protobuf.rewriter_config_pb2 import RewriterConfig
from tensorflow.python.client import session
from tensorflow.python.keras import backend
from tensorflow.python.training import session_run_hook

from npulint_adapter import aicore_ops, ops, optimizers, sessions, util
from npulint_adapter.hooks import NPUBroadcastGlobalVariablesHook

npu_unary_ops = aicore_ops.npu_unary_ops


def npu_config_proto(config_proto=None):
    """The configuration of a session on the NPU."""
    return sessions.migrated(config_proto)


experimental_options = {
    "disable_model_pruning": False,
    "function_optimization": RewriterConfig.ON,
    "constant_folding": RewriterConfig.ON,
    "shape_optimization": RewriterConfig.ON,
    "arithmetic_optimization": RewriterConfig.ON,
    "loop_optimization": RewriterConfig.ON,
    "dependency_optimization": RewriterConfig.ON,
    "layout_optimizer": RewriterConfig.ON,
}


def npu_hooks_append(hooks_list=()):
    """The list with the hook of the adapter at its end."""
    hooks = hooks_list if isinstance(hooks_list, list) else []
    hooks.append(NPUBroadcastGlobalVariablesHook(0, int(os.getenv("RANK_ID", "0"))))
    return hooks


def npu_callbacks_append(callbacks_list=()):
    """The list with the callback of the adapter at its end."""
    from npulint_adapter import keras  # needs Estimators, which TensorFlow 2.16 and newer do not have

    callbacks = callbacks_list if isinstance(callbacks_list, list) else []
    callbacks.append(keras.NPUBroadcastGlobalVariablesCallback(0))
    return callbacks


def npu_optimizer_options(optimizer_options=None):
    """Options without XLA."""
    is_options = isinstance(optimizer_options, config_pb2.OptimizerOptions)
    options = optimizer_options if is_options else config_pb2.OptimizerOptions()
    options.global_jit_level = config_pb2.OptimizerOptions.OFF
    return options


def npu_graph_options(graph_options=None):
    """Options without XLA."""
    options = graph_options if isinstance(graph_options, config_pb2.GraphOptions) else config_pb2.GraphOptions()
    npu_optimizer_options(options.optimizer_options)
    return options


def npu_run_config_init(run_config=None):
    """The configuration with a session on the NPU."""
    config = run_config if isinstance(run_config, tf.estimator.RunConfig) else tf.estimator.RunConfig()
    vars(config)["_session_config"] = npu_config_proto(config.session_config)
    return config


def set_keras_session_npu_config(config=None):
    """A session on the NPU, which Keras uses from now on."""
    made = session.Session(config=npu_config_proto(config))
    backend.set_session(made)
    return made


def npu_clear_session(config=None):
    """As ``clear_session``; the next session is one on the NPU again."""
    backend.clear_session()
    backend.set_session(session.Session(config=npu_config_proto(config)))


def init_resource(config=None):
    """Open the device: a session, and the operation that closes the device."""
    util.global_dict_init()
    opening, closing = ops.initialize_system(), ops.shutdown_system()
    made = session.Session(config=npu_config_proto(config))
    made.run(opening)
    util.set_value("npu_rank_id", get_rank_id())
    util.set_value("npu_local_rank_id", get_local_rank_id())
    util.set_value("npu_rank_size", get_rank_size())
    util.set_value("npu_local_rank_size", get_local_rank_size())
    record.add("resources", {"call": "init_resource"})
    return made, closing


def shutdown_resource(sess, npu_shutdown):
    record.add("resources", {"call": "shutdown_resource"})
    sess.run(npu_shutdown)


def close_session(sess):
    record.add("resources", {"call": "close_session"})
    sess.close()


def get_npu_rank_id():
    return util.get_value("npu_rank_id", 0)


def get_npu_local_rank_id():
    return util.get_value("npu_local_rank_id", 0)


def get_npu_rank_size():
    return util.get_value("npu_rank_size", 1)


def get_npu_local_rank_size():
    return util.get_value("npu_local_rank_size", 1)


class NpuEmptyHook(session_run_hook.SessionRunHook):
    """A hook that does nothing, in place of one for another device."""


def npu_keras_optimizer(opt):
    return optimizers.KerasDistributeOptimizer(opt)


def npu_tf_optimizer(opt):
    return optimizers.NPUDistributedOptimizer(opt)


session.Session.__init__ = sessions.decorator_tf_session(session.Session.__init__)
session.InteractiveSession.__init__ = sessions.decorator_tf_session(session.InteractiveSession.__init__)
