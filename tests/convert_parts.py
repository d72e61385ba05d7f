"""Parts that several programs for the migration tool's rules share."""

from __future__ import annotations

EIGHT = "export RANK_SIZE=8\nfor i in 0 1 2 3 4 5 6 7; do\n  RANK_ID=$i python3 train.py &\ndone\nwait\n"
NPU_OPTIMIZER = "step = npu_distributed_optimizer_wrapper(tf.train.AdamOptimizer(1e-3)).minimize(loss)"
ENTRY = """\
config = tf.ConfigProto()
npu = config.graph_options.rewrite_options.custom_optimizers.add()
npu.name = "NpuOptimizer"
config.graph_options.rewrite_options.remapping = RewriterConfig.OFF
config.graph_options.rewrite_options.memory_optimization = RewriterConfig.OFF
"""
MIXED_COMPUTING = ENTRY + 'npu.parameter_map["mix_compile_mode"].b = True'
MIXED = ENTRY + 'npu.parameter_map["precision_mode"].s = tf.compat.as_bytes("allow_mix_precision")'
SUMMARY = "tf.summary.scalar('rate', 1e-3)\noptimizer = tf.train.AdamOptimizer(1e-3)"
