"""Programs for the rewrites of TensorFlow 1 on one device, by their number in docs/convert-tf2npu.md."""

from __future__ import annotations

from tests.convert_parts import EIGHT, NPU_OPTIMIZER, SUMMARY
from tests.convert_samples import ESTIMATOR, KERAS1, SESSION, Shape

SINGLE_DEVICE = [
    Shape(
        "1",
        "session-without-npu-config",
        SESSION,
        {
            "session": "with tf.Session() as sess:  # here",
        },
    ),
    Shape(
        "1",
        "session-without-npu-config",
        SESSION,
        {
            "settings": "config = tf.ConfigProto()",
            "session": "with tf.Session(config=config) as sess:  # here",
        },
        {
            "settings": "config = tf.ConfigProto()",
            "session": "with tf.Session(config=npu_config_proto(config_proto=config)) as sess:",
        },
    ),
    Shape(
        "2",
        "session-without-npu-config",
        SESSION,
        {
            "session": """
            sess = tf.InteractiveSession()  # here
            if sess:
            """,
        },
        {
            "session": """
            sess = tf.InteractiveSession(config=npu_config_proto())
            if sess:
            """,
        },
    ),
    Shape(
        "3",
        "session-without-npu-config",
        SESSION,
        {
            "session": "with tf.train.MonitoredTrainingSession() as sess:  # here",
        },
        {
            "session": "with tf.train.MonitoredTrainingSession(config=npu_config_proto()) as sess:",
        },
    ),
    Shape(
        "4",
        "session-without-npu-config",
        SESSION,
        {
            "settings": "supervisor = tf.train.Supervisor(logdir='logs')",
            "session": "with supervisor.managed_session() as sess:  # here",
        },
        {
            "settings": "supervisor = tf.train.Supervisor(logdir='logs')",
            "session": "with supervisor.managed_session(config=npu_config_proto()) as sess:",
        },
    ),
    Shape(
        "5",
        "session-without-npu-config",
        SESSION,
        {
            "imports": "import tensorflow.contrib.slim as slim",
            "session": """
            slim.learning.train(step, 'logs')  # here
            with tf.Session(config=other) as sess:
            """,
        },
        {
            "session": """
            slim.learning.train(step, 'logs', session_config=npu_config_proto())
            with tf.Session(config=npu_config_proto()) as sess:
            """,
            "imports": """
            from npu_bridge.npu_init import *
            import tensorflow.contrib.slim as slim
            """,
        },
    ),
    Shape(
        "6",
        "xla-left-on",
        SESSION,
        {
            "settings": """
            options = tf.OptimizerOptions(global_jit_level=tf.OptimizerOptions.ON_1)  # here
            config = tf.ConfigProto(graph_options=tf.GraphOptions(optimizer_options=options))
            """,
        },
        {
            "settings": """
            options = npu_optimizer_options(
                optimizer_options=tf.OptimizerOptions(global_jit_level=tf.OptimizerOptions.ON_1)
            )
            config = tf.ConfigProto(
                graph_options=npu_graph_options(
                    graph_options=tf.GraphOptions(optimizer_options=options)
                )
            )
            """,
        },
    ),
    Shape(
        "7",
        "xla-left-on",
        SESSION,
        {
            "settings": """
            config = tf.ConfigProto()
            config.graph_options.optimizer_options.global_jit_level = (  # here
                tf.OptimizerOptions.ON_1
            )
            """,
            "session": "with tf.Session(config=config) as sess:",
        },
        {
            "settings": """
            config = tf.ConfigProto()
            config.graph_options.optimizer_options.global_jit_level = (
                config_pb2.OptimizerOptions.OFF
            )
            """,
            "session": "with tf.Session(config=npu_config_proto(config_proto=config)) as sess:",
        },
    ),
    Shape(
        "8",
        "estimator-without-npu-config",
        ESTIMATOR,
        {
            "estimator": "estimator = tf.estimator.Estimator(model_fn, config=run_config)  # here",
        },
    ),
    Shape(
        "8",
        "estimator-without-npu-config",
        ESTIMATOR,
        {
            "estimator": "estimator = tf.estimator.DNNClassifier([128], columns)  # here",
        },
        {
            "estimator": """
            estimator = tf.estimator.DNNClassifier(
                [128], columns, config=npu_run_config_init(run_config=run_config)
            )
            """,
        },
    ),
    Shape(
        "8",
        "tpu-estimator",
        ESTIMATOR,
        {
            "estimator": """
            estimator = tf.contrib.tpu.TPUEstimator(  # here
                model_fn, config=run_config, train_batch_size=32
            )
            """,
        },
        {
            "estimator": """
            estimator = tf.contrib.tpu.TPUEstimator(
                model_fn,
                config=npu_run_config_init(run_config=run_config),
                train_batch_size=32,
                use_tpu=False,
                eval_on_tpu=False,
                export_to_tpu=False,
            )
            """,
        },
    ),
    Shape(
        "9",
        "run-config-saves-summaries",
        ESTIMATOR,
        {
            "optimizer": SUMMARY,
            "settings": "run_config = tf.estimator.RunConfig('model')  # here",
        },
        {
            "optimizer": SUMMARY,
            "settings": "run_config = tf.estimator.RunConfig('model', save_summary_steps=0)",
        },
    ),
    Shape(
        "10",
        "tpu-estimator",
        ESTIMATOR,
        {
            "estimator": """
            estimator = tf.contrib.tpu.TPUEstimator(  # here
                model_fn, config=run_config, train_batch_size=32, use_tpu=True
            )
            """,
        },
        {
            "estimator": "estimator = NPUEstimator(model_fn, config=NPURunConfig())",
        },
    ),
    Shape(
        "11",
        "native-dropout",
        SESSION,
        {
            "model": "hidden = tf.nn.dropout(hidden, 0.5)  # here",
        },
        {
            "model": "hidden = npu_ops.dropout(hidden, 0.5)",
        },
    ),
    Shape(
        "11",
        "native-dropout",
        SESSION,
        {
            "model": "hidden = tf.nn.dropout(hidden, rate=0.1)  # here",
        },
        {
            "model": "hidden = npu_ops.dropout(hidden, keep_prob=1 - 0.1)",
        },
    ),
    Shape(
        "12",
        "layer-dropout",
        SESSION,
        {
            "model": "hidden = tf.layers.dropout(hidden, 0.5, training=True)  # here",
        },
        {
            "imports": """
            from npu_bridge.npu_init import *
            from npu_bridge.estimator.npu import npu_convert_dropout
            """,
            "model": "hidden = tf.layers.dropout(hidden, 0.5, training=True)",
        },
    ),
    Shape(
        "12",
        "layer-dropout",
        KERAS1,
        {
            "model": "model.add(tf.keras.layers.SpatialDropout2D(0.1))  # here",
        },
        {
            "imports": """
            from npu_bridge.npu_init import *
            from npu_bridge.estimator.npu import npu_convert_dropout
            """,
            "model": "model.add(tf.keras.layers.SpatialDropout2D(0.1))",
        },
    ),
    Shape(
        "13",
        "hand-written-gelu",
        SESSION,
        {
            "imports": """
            import numpy as np


            def gelu(x):
                return (
                    x * 0.5 * (1.0 + tf.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * tf.pow(x, 3))))  # here
                )
            """,
            "model": "hidden = gelu(hidden)",
        },
        {
            "imports": """
            from npu_bridge.npu_init import *


            def gelu(x):
                return npu_unary_ops.gelu(x)
            """,
            "model": "hidden = gelu(hidden)",
        },
    ),
    Shape(
        "14",
        "batch-without-drop-remainder",
        SESSION,
        {
            "data": "dataset = dataset.batch(32)  # here",
        },
    ),
    Shape(
        "14",
        "batch-without-drop-remainder",
        SESSION,
        {
            "data": "dataset = dataset.apply(tf.contrib.data.map_and_batch(parse, 32))  # here",
        },
        {
            "data": """
            dataset = dataset.apply(tf.contrib.data.map_and_batch(parse, 32, drop_remainder=True))
            """,
        },
    ),
    Shape(
        "14",
        "batch-with-variable-drop-remainder",
        SESSION,
        {
            "data": "dataset = dataset.batch(32, drop_remainder=FLAGS.static)  # here",
        },
    ),
    Shape(
        "15",
        "missing-dataset-shard",
        SESSION,
        {
            "optimizer": NPU_OPTIMIZER,
            "imports": "from npu_bridge.npu_init import *",
            "data": "dataset = dataset.batch(32, drop_remainder=True)  # here",
        },
        {
            "data": """
            dataset = dataset.shard(
                int(os.getenv("RANK_SIZE", "1")), int(os.getenv("RANK_ID", "0"))
            ).batch(32, drop_remainder=True)
            """,
            "optimizer": NPU_OPTIMIZER,
        },
        launcher=EIGHT,
    ),
    Shape(
        "15",
        "horovod-not-migrated",
        SESSION,
        {
            "imports": "import horovod.tensorflow as hvd  # here",
            "data": "dataset = dataset.shard(hvd.size(), hvd.rank()).batch(32, drop_remainder=True)",
        },
        {
            "data": """
            dataset = dataset.shard(
                int(os.getenv("RANK_SIZE", "1")), int(os.getenv("RANK_ID", "0"))
            ).batch(32, drop_remainder=True)
            """,
        },
    ),
    Shape(
        "16",
        "gpu-device-string",
        SESSION,
        {
            "model": """
            with tf.device('/gpu:0'):  # here
                hidden = tf.layers.dense(hidden, 64)
            """,
        },
        {
            "model": """
            with tf.device('/cpu:0'):
                hidden = tf.layers.dense(hidden, 64)
            """,
        },
    ),
]
