"""Programs for what the migration tool reports, rewrites for TensorFlow 2, or wrongly calls supported."""

from __future__ import annotations

from tests.convert_parts import EIGHT, MIXED, MIXED_COMPUTING
from tests.convert_samples import HOROVOD, KERAS2, SESSION, Shape

REPORTS = [
    Shape(
        "R2",
        "gpu-library",
        SESSION,
        {
            "imports": "import cupy as cp  # here",
            "settings": "scales = cp.ones(3)",
        },
        {
            "imports": """
            import numpy as np
            from npu_bridge.npu_init import *
            """,
            "settings": "scales = np.ones(3)",
        },
    ),
    Shape(
        "R2",
        "gpu-library",
        SESSION,
        {
            "imports": "from pynvml import nvmlInit  # here",
            "settings": "nvmlInit()",
        },
    ),
    Shape(
        "R3",
        "finite-check-on-saturating-soc",
        SESSION,
        {
            "optimizer": """
            fine = tf.is_finite(loss)  # here
            step = tf.train.AdamOptimizer(1e-3).minimize(tf.where(fine, loss, 0.0))
            """,
        },
        {
            "optimizer": """
            step = NPULossScaleOptimizer(
                tf.train.AdamOptimizer(1e-3), FixedLossScaleManager(1024)
            ).minimize(loss)
            """,
        },
    ),
    Shape(
        "R4",
        "horovod-without-counterpart",
        SESSION,
        {
            "imports": HOROVOD,
            "first": """
            sess.run(tf.global_variables_initializer())
            losses = sess.run(hvd.allgather(loss))  # here
            """,
        },
        {
            "first": """
            sess.run(tf.global_variables_initializer())
            losses = sess.run(hccl_ops.allgather(loss, get_npu_rank_size()))
            """,
        },
    ),
    Shape(
        "R5",
        "syntax-error",
        SESSION,
        {
            "first": "print 'starting'  # here",
        },
        {
            "first": "print('starting')",
        },
    ),
    Shape(
        "V1",
        "gpu-options",
        KERAS2,
        {
            "settings": "tf.config.experimental.set_memory_growth(device, True)  # here",
        },
    ),
    Shape(
        "V2",
        "native-loss-scale",
        KERAS2,
        {
            "optimizer": """
            optimizer = tf.keras.mixed_precision.LossScaleOptimizer(  # here
                tf.keras.optimizers.Adam(1e-3)
            )
            """,
        },
        {
            "optimizer": """
            optimizer = npu.train.optimizer.NpuLossScaleOptimizer(tf.keras.optimizers.Adam(1e-3))
            """,
        },
    ),
    Shape(
        "V3",
        "native-loss-scale",
        KERAS2,
        {
            "optimizer": """
            optimizer = tf.keras.mixed_precision.experimental.LossScaleOptimizer(  # here
                tf.keras.optimizers.Adam(1e-3), 'dynamic'
            )
            """,
        },
        {
            "imports": """
            import npu_device as npu
            from npu_device.train.optimizer.npu_loss_scale_optimizer import (
                NpuExperimentalLossScaleOptimizer,
            )

            npu.open().as_default()
            """,
            "optimizer": """
            optimizer = NpuExperimentalLossScaleOptimizer(tf.keras.optimizers.Adam(1e-3), 'dynamic')
            """,
        },
    ),
    Shape(
        "V4",
        "no-gradient-allreduce",
        KERAS2,
        {
            "imports": """
            import npu_device as npu
            npu.open().as_default()
            """,
            "optimizer": "optimizer = tf.keras.optimizers.Adam(1e-3)  # here",
        },
        {
            "optimizer": """
            optimizer = npu.distribute.npu_distributed_keras_optimizer_wrapper(
                tf.keras.optimizers.Adam(1e-3)
            )
            """,
        },
        launcher=EIGHT,
    ),
    Shape(
        "V5",
        "tf-strategy-not-migrated",
        KERAS2,
        {
            "settings": "strategy = tf.distribute.MirroredStrategy()  # here",
            "model": """
            with strategy.scope():
                model.build([32, 784])
            """,
        },
        {
            "model": "model.build([32, 784])",
        },
    ),
    Shape(
        "V7",
        "tf2-device-not-opened",
        KERAS2,
        {
            "run": "model.fit(pictures, numbers, epochs=10)  # here",
        },
    ),
    Shape(
        "P1",
        "lookup-table-in-input-pipeline",
        SESSION,
        {
            "data": """
            table = tf.contrib.lookup.index_table_from_file('words.txt')  # here
            dataset = dataset.map(lambda x: table.lookup(x)).batch(32, drop_remainder=True)
            """,
        },
        {
            "data": """
            table = tf.contrib.lookup.index_table_from_file('words.txt')
            dataset = dataset.map(lambda x: table.lookup(x)).batch(32, drop_remainder=True)
            """,
            "settings": MIXED_COMPUTING,
            "session": "with tf.Session(config=config) as sess:",
        },
    ),
    Shape(
        "P2",
        "variable-in-dataset-map",
        SESSION,
        {
            "data": """
            scale = tf.Variable(2.0)  # here
            dataset = dataset.map(lambda x: x * scale).batch(32, drop_remainder=True)
            """,
        },
        {
            "data": """
            scale = tf.constant(2.0)
            dataset = dataset.map(lambda x: x * scale).batch(32, drop_remainder=True)
            """,
        },
    ),
    Shape(
        "P3",
        "v1-control-flow-with-dynamic-shape",
        SESSION,
        {
            "model": """
            hidden = tf.cond(  # here
                tf.reduce_sum(hidden) > 0.0, lambda: hidden, lambda: 2.0 * hidden
            )
            picked = tf.boolean_mask(hidden, hidden > 0.0)
            """,
        },
        {
            "imports": """
            from npu_bridge.npu_init import *
            tf.enable_control_flow_v2()
            tf.enable_resource_variables()
            """,
            "model": """
            hidden = tf.cond(tf.reduce_sum(hidden) > 0.0, lambda: hidden, lambda: 2.0 * hidden)
            picked = tf.boolean_mask(hidden, hidden > 0.0)
            """,
        },
    ),
    Shape(
        "P4",
        "half-precision-sum",
        SESSION,
        {
            "model": "total = tf.reduce_sum(tf.cast(hidden, tf.float16))  # here",
        },
        {
            "model": "total = tf.reduce_sum(hidden)",
        },
    ),
    Shape(
        "P4",
        "reduce-sum-under-mixed-precision",
        SESSION,
        {
            "model": "total = tf.reduce_sum(tf.square(hidden))  # here",
            "imports": "from npu_bridge.npu_init import *",
            "settings": MIXED,
            "session": "with tf.Session(config=config) as sess:",
        },
        {
            "model": "total = tf.reduce_sum(tf.square(hidden))",
        },
    ),
    Shape(
        "P5",
        "dynamic-top-k",
        SESSION,
        {
            "model": """
            count = tf.reduce_sum(tf.to_int32(hidden > 0.0))
            best, _ = tf.nn.top_k(tf.reshape(hidden, [-1]), count)  # here
            """,
        },
        {
            "model": "best, _ = tf.nn.top_k(tf.reshape(hidden, [-1]), 16)",
        },
    ),
    Shape(
        "P6",
        "extract-image-patches",
        SESSION,
        {
            "model": """
            patches = tf.extract_image_patches(  # here
                tf.reshape(images, [32, 28, 28, 1]),
                [1, 3, 3, 1],
                [1, 1, 1, 1],
                [1, 1, 1, 1],
                'SAME',
            )
            """,
        },
        {
            "model": "patches = tf.space_to_depth(tf.reshape(images, [32, 28, 28, 1]), 2)",
        },
    ),
    Shape(
        "P7",
        "resize-bilinear-in-graph",
        SESSION,
        {
            "model": """
            larger = tf.image.resize_bilinear(tf.reshape(images, [32, 28, 28, 1]), [56, 56])  # here
            """,
        },
        {
            "model": """
            larger = tf.image.resize_nearest_neighbor(tf.reshape(images, [32, 28, 28, 1]), [56, 56])
            """,
        },
    ),
    Shape(
        "P7",
        "py-func-in-graph",
        SESSION,
        {
            "model": "hidden = tf.py_func(work, [hidden], tf.float32)  # here",
        },
        {
            "model": "hidden = tf.square(hidden)",
        },
    ),
]
