"""``npu_device.compat``: sessions under TensorFlow 2."""

import tensorflow as tf
from tensorflow.core.protobuf.rewriter_config_pb2 import RewriterConfig

from npulint_device.device import enable_v1  # noqa: F401  a name of the module


class SessionConfigBuilder:
    """Makes the configuration of a session on the NPU."""

    def __init__(self, config=None):
        is_config = isinstance(config, tf.compat.v1.ConfigProto)
        self._session_config = config if is_config else tf.compat.v1.ConfigProto(allow_soft_placement=True)
        rewrite = self._session_config.graph_options.rewrite_options
        rewrite.remapping = RewriterConfig.OFF
        self._npu_config = rewrite.custom_optimizers.add()
        self._npu_config.name = "NpuOptimizer"

    @property
    def parameter_map(self):
        return self._npu_config.parameter_map

    @property
    def session_config(self):
        return self._session_config
