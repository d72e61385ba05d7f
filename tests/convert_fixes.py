"""What the fixes of npulint make of the programs for the migration tool's rules, by rule and check (with a number where
there are several): the lines that go and those that come, or why the place is left to a person."""

from __future__ import annotations

MADE: dict[str, str] = {
    "1-session-without-npu-config": """\
+from npu_bridge.npu_init import npu_config_proto
-with tf.Session() as sess:
+with tf.Session(config=npu_config_proto()) as sess:
""",
    "1-session-without-npu-config-2": """\
+from npu_bridge.npu_init import npu_config_proto
-with tf.Session(config=config) as sess:
+with tf.Session(config=npu_config_proto(config_proto=config)) as sess:
""",
    "2-session-without-npu-config": """\
+from npu_bridge.npu_init import npu_config_proto
-sess = tf.InteractiveSession()
+sess = tf.InteractiveSession(config=npu_config_proto())
""",
    "3-session-without-npu-config": """\
+from npu_bridge.npu_init import npu_config_proto
-with tf.train.MonitoredTrainingSession() as sess:
+with tf.train.MonitoredTrainingSession(config=npu_config_proto()) as sess:
""",
    "4-session-without-npu-config": """\
+from npu_bridge.npu_init import npu_config_proto
-with supervisor.managed_session() as sess:
+with supervisor.managed_session(config=npu_config_proto()) as sess:
""",
    "5-session-without-npu-config": """\
+from npu_bridge.npu_init import npu_config_proto
-slim.learning.train(step, 'logs')
+slim.learning.train(step, 'logs', session_config=npu_config_proto())
""",
    "6-xla-left-on": """\
-options = tf.OptimizerOptions(global_jit_level=tf.OptimizerOptions.ON_1)
+options = tf.OptimizerOptions()
""",
    "7-xla-left-on": """\
-config.graph_options.optimizer_options.global_jit_level = (
-    tf.OptimizerOptions.ON_1
-)
""",
    "8-estimator-without-npu-config": """\
+from npu_bridge.npu_init import npu_run_config_init
-estimator = tf.estimator.Estimator(model_fn, config=run_config)
+estimator = tf.estimator.Estimator(model_fn, config=npu_run_config_init(run_config=run_config))
""",
    "8-estimator-without-npu-config-2": """\
+from npu_bridge.npu_init import npu_run_config_init
-estimator = tf.estimator.DNNClassifier([128], columns)
+estimator = tf.estimator.DNNClassifier([128], columns, config=npu_run_config_init())
""",
    "11-native-dropout": """\
+from npu_bridge.npu_init import npu_ops
-    hidden = tf.nn.dropout(hidden, 0.5)
+    hidden = npu_ops.dropout(hidden, 0.5)
""",
    "11-native-dropout-2": """\
+from npu_bridge.npu_init import npu_ops
-    hidden = tf.nn.dropout(hidden, rate=0.1)
+    hidden = npu_ops.dropout(hidden, keep_prob=1 - 0.1)
""",
    "12-layer-dropout": """\
+from npu_bridge.estimator.npu import npu_convert_dropout
""",
    "12-layer-dropout-2": """\
+from npu_bridge.estimator.npu import npu_convert_dropout
""",
    "14-batch-without-drop-remainder": """\
-    dataset = dataset.batch(32)
+    dataset = dataset.batch(32, drop_remainder=True)
""",
    "14-batch-without-drop-remainder-2": """\
-    dataset = dataset.apply(tf.contrib.data.map_and_batch(parse, 32))
+    dataset = dataset.apply(tf.contrib.data.map_and_batch(parse, 32, drop_remainder=True))
""",
    "15-horovod-not-migrated": """\
-import horovod.tensorflow as hvd
+from npu_bridge.npu_init import get_npu_rank_size, get_npu_rank_id
-    dataset = dataset.shard(hvd.size(), hvd.rank()).batch(32, drop_remainder=True)
+    dataset = dataset.shard(get_npu_rank_size(), get_npu_rank_id()).batch(32, drop_remainder=True)
""",
    "16-gpu-device-string": """\
-    with tf.device('/gpu:0'):
+    with tf.device('/cpu:0'):
""",
    "17-tf-strategy-not-migrated": """\
+from npu_bridge.npu_init import npu_run_config_init, npu_strategy
-strategy = tf.distribute.MirroredStrategy()
+strategy = npu_strategy.NPUStrategy()
-estimator = tf.estimator.Estimator(model_fn, config=run_config)
+estimator = tf.estimator.Estimator(model_fn, config=npu_run_config_init(run_config=run_config))
""",
    "21-soft-placement-off": """\
-tf.config.set_soft_device_placement(False)
+tf.config.set_soft_device_placement(True)
""",
    "22-gpu-options": """\
-
-tf.config.experimental.set_memory_growth(device, True)
""",
    "22-gpu-options-2": """\
-
-tf.config.experimental.set_virtual_device_configuration(device, [])
""",
    "23-xla-left-on": """\
-    with tf.xla.experimental.jit_scope():
+    with tf.xla.experimental.jit_scope(compile_ops=False):
""",
    "24-keras-session-cleared": """\
+from npu_bridge.npu_init import npu_clear_session
-tf.keras.backend.clear_session()
+npu_clear_session()
""",
    "28-horovod-not-migrated": """\
-import horovod.tensorflow as hvd
""",
    "29-horovod-not-migrated": """\
-from horovod import tensorflow as hvd
+from npu_bridge.npu_init import init_resource, get_npu_rank_size
-hvd.init()
-rate = 1e-3 * hvd.size()
+npu_sess, npu_shutdown = init_resource()
+rate = 1e-3 * get_npu_rank_size()
""",
    "30-horovod-not-migrated": """\
-import horovod.tensorflow as hvd
+from npu_bridge.npu_init import npu_distributed_optimizer_wrapper
-step = hvd.DistributedOptimizer(tf.train.AdamOptimizer(1e-3)).minimize(loss)
+step = npu_distributed_optimizer_wrapper(tf.train.AdamOptimizer(1e-3)).minimize(loss)
""",
    "31-horovod-not-migrated": """\
-import horovod.tensorflow as hvd
+from npu_bridge.npu_init import NPUBroadcastGlobalVariablesHook
+import os
-    hooks=[hvd.BroadcastGlobalVariablesHook(0)]
+    hooks=[NPUBroadcastGlobalVariablesHook(0, index=int(os.getenv("RANK_ID", "0")))]
""",
    "32-no-gradient-allreduce": """\
-optimizer = tf.train.AdamOptimizer(1e-3)
+optimizer = npu_distributed_optimizer_wrapper(tf.train.AdamOptimizer(1e-3))
""",
    "33-no-gradient-allreduce": """\
-model.compile(tf.keras.optimizers.Adam(1e-3), loss='mse')
+model.compile(npu_distributed_optimizer_wrapper(tf.keras.optimizers.Adam(1e-3)), loss='mse')
""",
    "35-keras-session-without-npu-config": """\
+from npu_bridge.npu_init import set_keras_session_npu_config
+
+npu_sess = set_keras_session_npu_config()
""",
    "35-npu-rank-without-init-resource": """\
+import os
-step = tf.train.AdamOptimizer(1e-3 * get_npu_rank_size()).minimize(loss)
+step = tf.train.AdamOptimizer(1e-3 * int(os.getenv("RANK_SIZE", "1"))).minimize(loss)
""",
    "V1-gpu-options": """\
-
-tf.config.experimental.set_memory_growth(device, True)
""",
    "V2-native-loss-scale": """\
+import npu_device
-optimizer = tf.keras.mixed_precision.LossScaleOptimizer(
+optimizer = npu_device.train.optimizer.NpuLossScaleOptimizer(
""",
    "V4-no-gradient-allreduce": """\
+import npu_device
-optimizer = tf.keras.optimizers.Adam(1e-3)
+optimizer = npu_device.distribute.npu_distributed_keras_optimizer_wrapper(tf.keras.optimizers.Adam(1e-3))
""",
    "V5-tf-strategy-not-migrated": """\
-strategy = tf.distribute.MirroredStrategy()
+strategy = tf.distribute.get_strategy()
""",
    "V7-tf2-device-not-opened": """\
+import npu_device
+
+npu_device.open().as_default()
""",
    "P3-v1-control-flow-with-dynamic-shape": """\
+from npu_bridge.npu_init import npu_config_proto
+
+tf.enable_control_flow_v2()
+tf.enable_resource_variables()
-with tf.Session() as sess:
+with tf.Session(config=npu_config_proto()) as sess:
""",
    "13-hand-written-gelu": """\
+from npu_bridge.npu_init import npu_unary_ops
-    return (
-        x * 0.5 * (1.0 + tf.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * tf.pow(x, 3))))
-    )
+    return npu_unary_ops.gelu(x)
""",
    "P4-half-precision-sum": """\
-    total = tf.reduce_sum(tf.cast(hidden, tf.float16))
+    total = tf.cast(tf.reduce_sum(tf.cast(tf.cast(hidden, tf.float16), tf.float32)), tf.float16)
""",
}
ALONG = {  # made once these have moved the program to the NPU
    "17-tf-strategy-not-migrated": "estimator-without-npu-config",
    "P3-v1-control-flow-with-dynamic-shape": "session-without-npu-config",
}
LEFT: dict[str, str] = {
    "P4-reduce-sum-under-mixed-precision": "a profile has to show that such a sum runs on one core",
    "8-tpu-estimator": "without use_tpu the model function builds operators that only a TPU has",
    "9-run-config-saves-summaries": "the interval is a choice, and 0 loses the curves",
    "10-tpu-estimator": "with use_tpu=True the model function builds operators that only a TPU has",
    "14-batch-with-variable-drop-remainder": "the variable is what keeps the samples of the evaluation",
    "15-missing-dataset-shard": "where to shard depends on what the data set is made of: files or samples",
    "17-tf-strategy-not-migrated-2": "the helper of another package may return None for one device",
    "18-optimizer-pass-switched-off": "an entry of a dictionary that may hold others",
    "19-gpu-availability-test": "what the program does with no GPU decides",
    "20-gpu-options": "the value is handed on",
    "25-native-loss-scale": "the manager and its optimizer change together",
    "26-native-loss-scale": "the manager and its optimizer change together",
    "27-native-loss-scale": "the number has to become a manager",
    "30-horovod-argument-without-counterpart": "the compression would be lost in silence",
    "34-gradients-bypass-allreduce": "exchanged by the optimizer or by npu_allreduce, never by both",
    "33-missing-initial-broadcast": "a bare session has no hooks",
    "R2-gpu-library": "the computation has to be written anew",
    "R2-gpu-library-2": "the computation has to be written anew",
    "R3-finite-check-on-saturating-soc": "a loss scale that looks at the overflow flag takes its place",
    "R4-horovod-without-counterpart": "what is gathered must have one shape on all ranks",
    "R5-syntax-error": "what cannot be parsed is not touched",
    "V3-native-loss-scale": "the old class takes a policy's loss scale, the new one does not",
    "P1-lookup-table-in-input-pipeline": "mixed computing has a price; numpy may do",
    "P2-variable-in-dataset-map": "a constant or an element of the data set takes its place",
    "P5-dynamic-top-k": "the number has to be known",
    "P6-extract-image-patches": "a convolution has to be written in its place",
    "P7-resize-bilinear-in-graph": "other operators give other figures",
    "P7-py-func-in-graph": "the computation has to be written in operators",
}
