"""How sessions reach the NPU."""
import os

import tensorflow as tf
from npu_bridge.npu_init import RewriterConfig, npu_config_proto

HERE = os.path.dirname(os.path.abspath(__file__))


def session_config():
    config = tf.ConfigProto(allow_soft_placement=True)
    rewrite = config.graph_options.rewrite_options
    npu = rewrite.custom_optimizers.add()
    npu.name = 'NpuOptimizer'
    npu.parameter_map['use_off_line'].b = True
    npu.parameter_map['precision_mode'].s = tf.compat.as_bytes('allow_mix_precision')
    npu.parameter_map['modify_mixlist'].s = tf.compat.as_bytes(os.path.join(HERE, 'ops_info.json'))
    # The camera table is read by the input pipeline, so it has to be initialised on the host too.
    npu.parameter_map['mix_compile_mode'].b = True
    rewrite.remapping = RewriterConfig.OFF
    rewrite.memory_optimization = RewriterConfig.OFF
    return npu_config_proto(config_proto=config)
