"""Sessions: what their configurations say to the adapter is checked and recorded, and taken out before TensorFlow,
which does not know the adapter, sees it."""

import functools
import os
from inspect import signature

import npulint_record as record
import tensorflow.compat.v1 as tf
from tensorflow.core.protobuf import config_pb2
from tensorflow.core.protobuf.rewriter_config_pb2 import RewriterConfig
from tensorflow.python.client import session

from npulint_adapter import options, ranks

NAME = "NpuOptimizer"
_LOOP = "IterationOp"
_SWITCHES = RewriterConfig.Toggle
_MOST = int(os.environ.get("NPULINT_FAKE_LOOP", "1000000000"))  # steps of a loop that are run
_loops = {}
_original_init = session.BaseSession.__init__
_original_run = session.BaseSession.run


def entries(config):
    """The entries of the adapter in a configuration."""
    optimizers = config.graph_options.rewrite_options.custom_optimizers if config is not None else ()
    return [optimizer for optimizer in optimizers if optimizer.name == NAME]


def migrated(config):
    """The configuration, a new one without any, as the functions of the adapter complete it."""
    config = config if isinstance(config, config_pb2.ConfigProto) else config_pb2.ConfigProto()
    rewrite = config.graph_options.rewrite_options
    if not entries(config):
        rewrite.custom_optimizers.add().name = NAME
        rewrite.memory_optimization = RewriterConfig.OFF
    config.allow_soft_placement = True
    config.log_device_placement = False
    rewrite.remapping = RewriterConfig.OFF
    config.graph_options.optimizer_options.global_jit_level = config_pb2.OptimizerOptions.OFF
    return config


def decorator_tf_session(func):
    """The constructor of a session class, completing the configuration."""

    @functools.wraps(func)
    def constructed(self, *args, **kwargs):
        bound = signature(func).bind(self, *args, **kwargs)
        given = bound.arguments.get("config")
        self._given = len(entries(given))
        bound.arguments["config"] = migrated(given)
        return func(*bound.args, **bound.kwargs)

    return constructed


def repeat(graph, times):
    """Have the device run the steps of a graph in loops."""
    _loops[graph] = times


def _described(config):
    rewrite = config.graph_options.rewrite_options
    own_entries = entries(config)
    parameters = {}
    for entry in own_entries:
        parameters.update(options.session_values(entry))
    return {
        "npu": bool(own_entries),
        "npu_optimizers": len(own_entries),
        "parameters": parameters,
        "remapping": _SWITCHES.Name(rewrite.remapping),
        "memory_optimization": RewriterConfig.MemOptType.Name(rewrite.memory_optimization),
        "soft_placement": config.allow_soft_placement,
        "jit_level": config.graph_options.optimizer_options.global_jit_level,
        "visible_gpus": config.gpu_options.visible_device_list,
    }


def _init(self, target="", graph=None, config=None):
    described = _described(config if config is not None else config_pb2.ConfigProto())
    described["given"] = getattr(self, "_given", described["npu_optimizers"])
    described["runs"] = 0
    self._recorded = record.add("sessions", described)
    stock = config
    if described["npu"]:
        stock = config_pb2.ConfigProto()
        stock.CopyFrom(config)
        kept = [
            optimizer for optimizer in stock.graph_options.rewrite_options.custom_optimizers if optimizer.name != NAME
        ]
        del stock.graph_options.rewrite_options.custom_optimizers[:]
        stock.graph_options.rewrite_options.custom_optimizers.extend(kept)
        del stock.graph_options.rewrite_options.optimizers[:]
    _original_init(self, target, graph, stock)
    if config is not None:
        self._config = config


def _run(self, fetches, feed_dict=None, options=None, run_metadata=None):
    self._recorded["runs"] += 1
    if self._recorded["npu"]:
        ranks.opened()
        step = _looped(self.graph, fetches)
        times = min(_loops.get(self.graph, 1), _MOST)
        for _ in range(times - 1 if step is not None else 0):
            _original_run(self, step, feed_dict)
    return _original_run(self, fetches, feed_dict, options, run_metadata)


def _looped(graph, fetches):
    """The step that the device would run in a loop, if it is among what is fetched."""
    if graph not in _loops:
        return None
    try:
        flat = tf.nest.flatten(fetches)
    except (TypeError, ValueError):
        return None
    for fetched in flat:
        operation = fetched if isinstance(fetched, tf.Operation) else getattr(fetched, "op", None)
        if operation is not None and operation.name.rpartition("/")[2].startswith(_LOOP):
            return operation
    return None


def install():
    """Patch the sessions of TensorFlow, once."""
    if session.BaseSession.__init__ is not _init:
        session.BaseSession.__init__ = _init
        session.BaseSession.run = _run


install()
